// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include <semaphore.h>

#include <sessionq/time.hpp>

namespace sessionq::dispatch {

/// A lock for critical sections of a few instructions. Unlocking is a plain store. A waiting thread
/// spins first and then yields, so that a preempted holder can run. Meets BasicLockable.
class SmallLock {
public:
    void lock() noexcept {
        if (locked_.exchange(true, std::memory_order_acquire)) {
            wait_and_lock();
        }
    }

    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

private:
    void wait_and_lock() noexcept;

    std::atomic<bool> locked_{false};
};

/// A counting semaphore that starts at zero. `release` takes no lock.
class Semaphore {
public:
    Semaphore() noexcept { sem_init(&semaphore_, 0, 0); }
    ~Semaphore() { sem_destroy(&semaphore_); }
    Semaphore(const Semaphore&) = delete;
    Semaphore& operator=(const Semaphore&) = delete;

    void release() noexcept { sem_post(&semaphore_); }
    void acquire() noexcept {
        while (sem_wait(&semaphore_) != 0) { // interrupted by a signal handler
        }
    }
    /// False: nobody released it for so long. A step of the wall clock makes that shorter or
    /// longer.
    [[nodiscard]] bool acquire_within(Duration longest) noexcept;

private:
    sem_t semaphore_{};
};

/// The synchronisation primitives of lanes, the ready queue and sleeping workers. A template
/// parameter, so that a checker can step through every interleaving.
struct ThreadSync {
    template <typename T>
    using Atomic = std::atomic<T>;
    using Lock = SmallLock;
    using Semaphore = dispatch::Semaphore;
};

} // namespace sessionq::dispatch

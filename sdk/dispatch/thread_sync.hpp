#pragma once

#include <atomic>
#include <cstdint>

#include <semaphore.h>

namespace sessionq::dispatch {

/// A lock for critical sections of a few instructions: spins briefly, then sleeps. Four bytes. Meets BasicLockable.
class SmallLock {
public:
    void lock() noexcept {
        std::uint32_t expected = free;
        if (!state_.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed)) {
            lock_contended();
        }
    }

    void unlock() noexcept {
        if (state_.exchange(free, std::memory_order_release) == waited_for) {
            state_.notify_one();
        }
    }

private:
    enum : std::uint32_t { free, locked, waited_for };

    void lock_contended() noexcept;

    std::atomic<std::uint32_t> state_{free};
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
        while (sem_wait(&semaphore_) != 0) { // a signal handler ran
        }
    }

private:
    sem_t semaphore_{};
};

/// What lanes, the ready queue and sleeping workers synchronise with. A parameter of theirs so that a checker can step through every interleaving.
struct ThreadSync {
    template <typename T>
    using Atomic = std::atomic<T>;
    using Lock = SmallLock;
    using Semaphore = dispatch::Semaphore;
};

} // namespace sessionq::dispatch

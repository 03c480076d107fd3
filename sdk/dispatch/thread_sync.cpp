// SPDX-License-Identifier: MIT
#include "dispatch/thread_sync.hpp"

#include <cerrno>
#include <ctime>
#include <thread>

#include "core/clock.hpp"

namespace sessionq::dispatch {
namespace {

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

} // namespace

void SmallLock::wait_and_lock() noexcept {
    // About as long as a critical section takes. A longer wait means that the holder was preempted.
    constexpr int spins = 100;
    for (int attempt = 0; locked_.load(std::memory_order_relaxed) ||
                          locked_.exchange(true, std::memory_order_acquire);
         ++attempt) {
        if (attempt < spins) {
            relax();
        } else {
            std::this_thread::yield();
        }
    }
}

bool Semaphore::acquire_within(Duration longest) noexcept {
    const WallTime end = core::system_clock().wall_now() + longest;
    const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(end);
    const timespec until{
        .tv_sec = seconds.time_since_epoch().count(),
        .tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(end - seconds).count()};
    while (sem_timedwait(&semaphore_, &until) != 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

} // namespace sessionq::dispatch

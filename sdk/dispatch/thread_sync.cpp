// SPDX-License-Identifier: MIT
#include "dispatch/thread_sync.hpp"

#include <thread>

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

} // namespace sessionq::dispatch

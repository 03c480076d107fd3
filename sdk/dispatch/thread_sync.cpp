#include "dispatch/thread_sync.hpp"

namespace sessionq::dispatch {
namespace {

constexpr int spins = 100; // about as long as a critical section here takes; longer only when its thread lost the processor

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

} // namespace

void SmallLock::lock_contended() noexcept {
    for (int i = 0; i < spins; ++i) {
        relax();
        std::uint32_t expected = free;
        if (state_.load(std::memory_order_relaxed) == free &&
            state_.compare_exchange_weak(expected, locked, std::memory_order_acquire, std::memory_order_relaxed)) {
            return;
        }
    }
    while (state_.exchange(waited_for, std::memory_order_acquire) != free) {
        state_.wait(waited_for, std::memory_order_relaxed);
    }
}

} // namespace sessionq::dispatch

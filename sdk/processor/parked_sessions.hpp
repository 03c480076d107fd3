#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::processor {

/// How many sessions of a processor are parked, within `max_parked_sessions`. Thread-safe.
class ParkedSessions {
public:
    /// Before the first is taken.
    void limit(std::uint32_t most) noexcept { free_.store(most, std::memory_order_relaxed); }

    /// Whether there was room for one more.
    [[nodiscard]] bool try_take() noexcept {
        std::uint32_t free = free_.load(std::memory_order_relaxed);
        while (free != 0) {
            if (free_.compare_exchange_weak(free, free - 1, std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }
    void release() noexcept { free_.fetch_add(1, std::memory_order_relaxed); }

private:
    std::atomic<std::uint32_t> free_{0};
};

} // namespace sessionq::processor

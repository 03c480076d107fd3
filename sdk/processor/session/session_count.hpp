// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::processor {

/// How many sessions of a processor are held without a slot for one reason, and how many may be.
/// Thread-safe.
class SessionCount {
public:
    /// Sessions that are counted already stay counted when it is lowered.
    void limit(std::uint32_t most) noexcept { most_.store(most, std::memory_order_relaxed); }

    /// Whether there was room for one more.
    [[nodiscard]] bool try_take() noexcept {
        std::uint32_t taken = taken_.load(std::memory_order_relaxed);
        while (taken < most_.load(std::memory_order_relaxed)) {
            if (taken_.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }
    void release() noexcept { taken_.fetch_sub(1, std::memory_order_relaxed); }

private:
    std::atomic<std::uint32_t> most_{0};
    std::atomic<std::uint32_t> taken_{0};
};

} // namespace sessionq::processor

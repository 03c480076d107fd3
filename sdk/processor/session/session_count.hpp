// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace sessionq::detail::processor {

/// Limits how many sessions of a processor are held without a slot. One object counts the parked
/// sessions. Another object counts the sessions that wait only for answers to their settlements.
/// `SessionMachine` takes a place before it frees the session's slot. All shards share both
/// objects. Thread-safe.
class SessionCount {
public:
    /// Sets the limit. Sessions beyond a lowered limit keep their places.
    void limit(std::uint32_t most) noexcept { most_.store(most, std::memory_order_relaxed); }

    /// Takes a place. Returns false if there is no room for one more.
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

} // namespace sessionq::detail::processor

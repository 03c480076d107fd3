// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace sessionq::processor {

/// Which of the named sessions one of the receive threads asks for, holds, or has not quite let go
/// of: a named session is asked for once at a time, whichever thread has a place for it.
/// Thread-safe.
class TargetClaims {
public:
    /// `released` runs on the thread that releases, after each release: a place on another thread
    /// may wait for it.
    TargetClaims(std::size_t count, std::function<void()> released)
        : claimed_(count), released_{std::move(released)} {}

    [[nodiscard]] bool try_claim(std::size_t index) noexcept {
        return !claimed_[index].exchange(true, std::memory_order_acq_rel);
    }
    void release(std::size_t index) {
        claimed_[index].store(false, std::memory_order_release);
        released_();
    }

private:
    std::vector<std::atomic<bool>> claimed_;
    std::function<void()> released_;
};

} // namespace sessionq::processor

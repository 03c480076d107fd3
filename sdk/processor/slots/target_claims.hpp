// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace sessionq::processor {

/// Ensures that a named session is asked for once at a time, whichever receive thread has a free
/// slot for it. A claim lasts while a receive thread asks for the session, holds it or gives it
/// back. The `TargetBook` of each receive thread claims here. Thread-safe.
class TargetClaims {
public:
    /// `released` runs after each release, on the thread that releases. A free slot on another
    /// thread may wait for it.
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

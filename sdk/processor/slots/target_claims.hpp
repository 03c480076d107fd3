// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace sessionq::detail::processor {

/// Ensures that only one receive thread at a time asks for a named session. A claim lasts while a
/// receive thread asks for the session, holds it or gives it back. The `TargetBook` of each receive
/// thread makes its claims here. Thread-safe.
class TargetClaims {
public:
    /// `released` runs after each release, on the thread that releases. It tells the other threads,
    /// because a free slot there may wait for the named session.
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

} // namespace sessionq::detail::processor

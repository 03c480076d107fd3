// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include <sessionq/time.hpp>

namespace sessionq::client {

/// Counts the messages that the application holds and has not settled. Decides whether it is too
/// slow for its lock to be renewed (R13).
class SettlingProgress {
public:
    /// `limit` zero: never too slow.
    explicit SettlingProgress(Duration limit) noexcept : limit_{limit} {}

    void received(std::size_t count, TimePoint now) noexcept {
        if (count != 0 && unsettled_ == 0) {
            since_ = now;
        }
        unsettled_ += count;
    }

    void settled(TimePoint now) noexcept {
        unsettled_ -= std::min<std::size_t>(unsettled_, 1);
        since_ = now;
    }

    [[nodiscard]] bool is_slow(TimePoint now) const noexcept {
        return limit_ > Duration::zero() && unsettled_ != 0 && now - since_ >= limit_;
    }

private:
    const Duration limit_;
    std::size_t unsettled_{0};
    TimePoint since_{};
};

} // namespace sessionq::client

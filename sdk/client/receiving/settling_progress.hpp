// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include <sessionq/time.hpp>

namespace sessionq::detail::client {

/// Decides whether the application settles too slowly (R13). The lock of its session is then not
/// renewed. Counts the messages that the application has received and not settled. Each
/// `SessionReceiverCore` has one and asks it before each renewal.
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

} // namespace sessionq::detail::client

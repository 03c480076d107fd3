// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace sessionq::inline v1 {

/// An instant on the monotonic clock. Every deadline, lock and timer of sessionq uses it, so steps
/// of the wall clock have no effect.
using TimePoint = std::chrono::steady_clock::time_point;

/// A length of monotonic time.
using Duration = std::chrono::steady_clock::duration;

/// Calendar time, for timestamps of messages. It never decides when something happens in this
/// process. It holds the years 1678 to 2261. A received time beyond them is `WallTime::max()` or
/// `WallTime::min()`; the encoded message keeps it.
using WallTime = std::chrono::system_clock::time_point;

/// Whether a time stands for one that `WallTime` cannot hold.
///
/// Example:
///
///     if (auto message = receiver.receive_one(std::chrono::seconds{1})) {
///         const std::optional<WallTime> end = message->message().facts().expires_at;
///         std::cout << (end && is_beyond(*end) ? "expires in the far future\n" : "");
///     }
[[nodiscard]] constexpr bool is_beyond(WallTime time) noexcept {
    return time == WallTime::max() || time == WallTime::min();
}

} // namespace sessionq::inline v1

// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>

namespace sessionq::detail {

/// The length as nanoseconds, or the bound that is nearest.
template <typename Rep, typename Period>
[[nodiscard]] constexpr std::chrono::steady_clock::duration saturated(
    std::chrono::duration<Rep, Period> length) noexcept {
    using Duration = std::chrono::steady_clock::duration;
    if constexpr (std::same_as<std::chrono::duration<Rep, Period>, Duration>) {
        return length;
    } else {
        using Wide = std::chrono::duration<long double, Duration::period>;
        const Wide wide{length};
        if (wide >= Wide{Duration::max()}) {
            return Duration::max();
        }
        if (wide <= Wide{Duration::min()}) {
            return Duration::min();
        }
        return std::chrono::duration_cast<Duration>(length);
    }
}

} // namespace sessionq::detail

namespace sessionq::inline v1 {

/// An instant on the monotonic clock. Every deadline, lock and timer of sessionq uses it, so steps
/// of the wall clock have no effect.
using TimePoint = std::chrono::steady_clock::time_point;

/// A length of monotonic time. `Duration::max()` means "without end" wherever a member or an
/// argument allows that.
///
/// It holds 292 years, in nanoseconds. A longer `std::chrono` duration overflows when it becomes a
/// `Duration`, before this library can see it: `std::chrono::hours::max()` becomes a negative
/// length. So write `Duration::max()`. `Timeout` has no such trap.
using Duration = std::chrono::steady_clock::duration;

/// A `Duration` that a function waits at most. It is made from any duration. A duration that
/// `Duration` cannot hold becomes `Duration::max()`, which means "without end". So
/// `std::chrono::hours::max()` is without end, too.
///
/// Example:
///
///     while (auto message = receiver.receive_one(std::chrono::hours::max())) {
///         message->complete({.timeout = std::chrono::seconds{2}});
///     }
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class Timeout : public Duration {
public:
    /// Zero.
    constexpr Timeout() noexcept : Duration{Duration::zero()} {}

    template <typename Rep, typename Period>
    requires std::convertible_to<std::chrono::duration<Rep, Period>, Duration>
    // NOLINTNEXTLINE(google-explicit-constructor): a duration is a timeout
    constexpr Timeout(std::chrono::duration<Rep, Period> length) noexcept
        : Duration{detail::saturated(length)} {}

    /// A number tells no length.
    // NOLINTNEXTLINE(google-explicit-constructor): so that it is found
    Timeout(std::integral auto) = delete; // it needs a unit: std::chrono::seconds{5}
};

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

// SPDX-License-Identifier: MIT
#pragma once

#include <compare>

#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// The instant by which a request must end, on the monotonic clock. It is absolute, so it passes
/// through calls, threads and messages without arithmetic. A parameter `now` is
/// `std::chrono::steady_clock::now()`.
///
/// Example:
///
///     const Deadline deadline = Deadline::in(std::chrono::seconds{2});
///     const OperationContext::Scope request{OperationContext{deadline}};
///     // not handled later than in two seconds
///     sender.send(Message::of("placed").in_session("ada"));
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class Deadline {
public:
    /// Never passes. The default.
    constexpr Deadline() noexcept = default;

    /// A deadline that never passes.
    [[nodiscard]] static constexpr Deadline never() noexcept { return {}; }
    /// A deadline at this instant of the monotonic clock.
    [[nodiscard]] static constexpr Deadline at(TimePoint when) noexcept { return Deadline{when}; }

    /// `length` after `now`, or never() if the sum cannot be represented. With a negative length
    /// the deadline has already passed.
    [[nodiscard]] static constexpr Deadline after(Timeout length, TimePoint now) noexcept {
        if (length > Duration::zero() && now > TimePoint::max() - length) {
            return never();
        }
        return Deadline{now + length};
    }

    /// `length` after the current time, or never() if the sum cannot be represented. Zero or less:
    /// the deadline has already passed.
    [[nodiscard]] static Deadline in(Timeout length) noexcept;

    [[nodiscard]] constexpr bool is_never() const noexcept { return when_ == TimePoint::max(); }
    /// TimePoint::max() if it never passes.
    [[nodiscard]] constexpr TimePoint time() const noexcept { return when_; }
    /// Whether it has passed at `now`.
    [[nodiscard]] constexpr bool passed(TimePoint now) const noexcept {
        return !is_never() && now >= when_;
    }

    /// The time left at `now`. Zero once it has passed. Duration::max() if it never passes.
    [[nodiscard]] constexpr Duration remaining(TimePoint now) const noexcept {
        if (is_never()) {
            return Duration::max();
        }
        return now >= when_ ? Duration::zero() : when_ - now;
    }

    /// Returns the earlier of the two deadlines. So a nested operation can shorten the deadline of
    /// the operation around it, and never extend it.
    [[nodiscard]] constexpr Deadline sooner(Deadline other) const noexcept {
        return when_ <= other.when_ ? *this : other;
    }

    friend constexpr auto operator<=>(const Deadline&, const Deadline&) noexcept = default;

private:
    explicit constexpr Deadline(TimePoint when) noexcept : when_{when} {}

    TimePoint when_{TimePoint::max()};
};

} // namespace sessionq::inline v1

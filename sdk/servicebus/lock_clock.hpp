// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::detail::servicebus {

/// Turns the end of a lock by the broker's wall clock into a length on our clocks (R12). Pure.
///
/// The two clocks differ. An answer gives the sum of that difference and the lock's length, never
/// one of them. If the broker's clock is behind, locks look shorter, which costs renewals only. If
/// it is ahead, locks look longer than they are. A time by the broker's clock that must have passed
/// shows how far that clock is ahead at least: the time on a message that arrived, or the end of a
/// lock that expired. Such evidence only shortens locks. It is kept against the monotonic clock, so
/// steps of our wall clock do not change it. It is dropped after some time, because the broker's
/// clock may be corrected, and a lock may have ended for another reason.
///
/// The bound: without evidence a lock looks longer by as much as the broker's clock is ahead. A
/// lock is renewed ten seconds, or half of its length, before its end, whichever is less. So none
/// is lost while the clock is ahead by less than ten seconds and by less than the lock's length. If
/// it is further ahead, the first session that gets no message and outlasts its lock may be lost.
class LockClock {
public:
    /// No entity locks for longer (documented).
    static constexpr Duration longest_lock = std::chrono::minutes{5};
    /// The assumed length of a lock that looks expired or longer than any lock. Only a difference
    /// of the clocks explains that, so it has the shortest length that the service grants, or less
    /// if the evidence says so.
    static constexpr Duration unknown_lock = std::chrono::seconds{5};
    static constexpr Duration tolerance = std::chrono::seconds{30};
    /// The lower bound of a length, and so of the time between renewals.
    static constexpr Duration shortest_lock = std::chrono::seconds{1};
    /// Evidence counts for this long, and at most for twice as long.
    static constexpr Duration memory = std::chrono::hours{1};

    /// `time` has passed on the broker's clock.
    void has_passed(WallTime time, const amqp::ClockReading& at) noexcept;

    /// The broker ended a lock that was requested at `granted` and should have ended at `until`. A
    /// lock that ended sooner than any lock of the service expires did not expire.
    void has_ended(WallTime until, TimePoint granted, const amqp::ClockReading& at) noexcept;

    /// The length of a lock that ends at `until`, counted from the request at `asked`; the answer
    /// came at `answered`. The end does not depend on how long the answer took. An unknown length
    /// counts from the request. Never less than `shortest_lock`.
    [[nodiscard]] Duration length(WallTime until, TimePoint asked,
                                  const amqp::ClockReading& answered) noexcept;

    /// A time that has passed on the broker's clock at `now`, by the evidence. Without evidence the
    /// epoch.
    [[nodiscard]] WallTime passed_by(TimePoint now) const noexcept;

    /// How far the broker's clock is ahead of our wall clock, at least, as the last lock showed.
    /// Negative: behind. Zero: it showed no difference.
    [[nodiscard]] Duration broker_ahead() const noexcept { return broker_ahead_; }

    /// Incremented when new evidence shortens locks. Locks granted earlier must be renewed.
    [[nodiscard]] std::uint32_t lessons() const noexcept { return lessons_; }

private:
    void forget(TimePoint now) noexcept;
    /// By a lock that the broker granted between `asked` and `answered`.
    [[nodiscard]] Duration ahead_by(WallTime until, TimePoint asked,
                                    const amqp::ClockReading& answered) const noexcept;

    // How far the broker's wall clock is ahead of our monotonic one, at least.
    std::optional<Duration> newer_{};
    std::optional<Duration> older_{};
    std::optional<Duration> taught_{}; // by the last lesson
    TimePoint newer_ends_{};
    Duration broker_ahead_{};
    std::uint32_t lessons_{0};
};

} // namespace sessionq::detail::servicebus

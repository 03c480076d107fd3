#pragma once

#include <cstdint>
#include <optional>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::servicebus {

/// Turns a lock's end, which the broker names by its own wall clock, into a length on this side's
/// clocks (R12). Pure.
///
/// The two clocks differ, and an answer names the sum of the difference and the lock's length,
/// never one of them. A broker's clock that is behind makes locks look shorter, which costs
/// renewals and nothing else. One that is ahead makes them look longer than they are, by as much as
/// it is ahead. What shows how far it is ahead at least, is a time of its own that is known to have
/// passed: the one it stamped on a message that has come, or the end it had named of a lock that
/// has run out. Such evidence only ever shortens a lock. It is kept against the monotonic clock, so
/// that steps of this side's wall clock do not touch it, and is dropped after some time, because a
/// broker's clock may be put right, and a lock may have ended for another reason.
///
/// The bound: without evidence a lock is taken for longer by as much as the broker's clock is
/// ahead. As leases are renewed ten seconds or half of their length before their end, whichever is
/// less, none is lost while it is ahead by less than ten seconds, or than the lock's length if that
/// is less. Where it is ahead by more, a session may be lost that is held for longer than its lock
/// and gets no message, if no fresh one has come and none was lost so for as long as evidence
/// counts.
class LockClock {
public:
    /// No entity locks for longer (documented).
    static constexpr Duration longest_lock = std::chrono::minutes{5};
    /// What a lock looks longer than that, or over already, only a difference of the clocks
    /// explains. It says nothing of the lock but that it is held now: it is taken for the shortest
    /// the service has, whose renewals come often enough.
    static constexpr Duration unknown_lock = std::chrono::seconds{5};
    static constexpr Duration tolerance = std::chrono::seconds{30};
    /// Nothing is renewed more often than such a lock.
    static constexpr Duration shortest_lock = std::chrono::seconds{1};
    /// How long evidence counts; at most twice as long.
    static constexpr Duration memory = std::chrono::hours{1};

    /// `time` has passed on the broker's clock.
    void has_passed(WallTime time, const amqp::ClockReading& at) noexcept;

    /// The broker ended a lock that was granted at `granted`, to a request made then, and was to
    /// end at `until`. One that was held for less than any lock of the service lasts has not run
    /// out.
    void has_ended(WallTime until, TimePoint granted, const amqp::ClockReading& at) noexcept;

    /// The length, counted from `asked`, of a lock that ends at `until`, by an answer that came at
    /// `answered`. However long the answer took, the end is where the broker has it; for an unknown
    /// lock it is counted from the asking. Never less than `shortest_lock`.
    [[nodiscard]] Duration length(WallTime until, TimePoint asked,
                                  const amqp::ClockReading& answered) noexcept;

    /// Rises whenever evidence shortens locks by more than leases have to spare: those taken for
    /// longer before are in doubt.
    [[nodiscard]] std::uint32_t lessons() const noexcept { return lessons_; }

private:
    void forget(TimePoint now) noexcept;

    // How far the broker's wall clock is ahead of our monotonic one, at least.
    std::optional<Duration> newer_{};
    std::optional<Duration> older_{};
    std::optional<Duration> taught_{}; // by the last lesson
    TimePoint newer_ends_{};
    std::uint32_t lessons_{0};
};

} // namespace sessionq::servicebus

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include "ports/session_link.hpp"
#include "servicebus/lock_clock.hpp"

namespace sessionq::detail::servicebus {

/// The lock of one session as the broker granted it, and the reading of the broker's clock in it.
struct HeldLock {
    /// The broker's answer to a request made at `asked`. The lock ends at `end`, by its clock.
    ports::LockGrant granted(LockClock& clock, WallTime end, TimePoint asked,
                             const amqp::ClockReading& answered) noexcept {
        until = end;
        since = asked;
        lessons = clock.lessons();
        return {.length = clock.length(end, asked, answered)};
    }

    /// The broker ended the lock, which shows where its clock is at least.
    void has_ended(LockClock& clock, const amqp::ClockReading& at) const noexcept {
        if (until) {
            clock.has_ended(*until, since, at);
        }
    }

    /// The time of a message has passed on the broker's clock. True: the lock may end sooner than
    /// it was granted for.
    [[nodiscard]] bool has_passed(LockClock& clock, WallTime time,
                                  const amqp::ClockReading& at) noexcept {
        clock.has_passed(time, at);
        return std::exchange(lessons, clock.lessons()) != clock.lessons();
    }

    /// The answer to the accept. An unknown lock is renewed at once.
    ports::LockGrant initial{.length = LockClock::shortest_lock};
    std::optional<WallTime> until{}; ///< By the broker's clock, if it said so.
    TimePoint since{};
    std::uint32_t lessons{0}; ///< Of the clock that the length accounts for.
};

} // namespace sessionq::detail::servicebus

// SPDX-License-Identifier: MIT
#include "servicebus/lock_clock.hpp"

#include <algorithm>

namespace sessionq::detail::servicebus {
namespace {

/// Clocks that are further apart give no evidence.
constexpr auto farthest = std::chrono::hours{24};

/// A smaller difference of the clocks does not endanger a lock that is renewed in time.
constexpr Duration to_spare = std::chrono::seconds{1};

bool are_near(WallTime one, WallTime other) noexcept {
    return one > other - farthest && one < other + farthest;
}

} // namespace

void LockClock::has_passed(WallTime time, const amqp::ClockReading& at) noexcept {
    if (!are_near(time, at.wall)) {
        return;
    }
    forget(at.now);
    const auto ahead =
        std::chrono::duration_cast<Duration>(time.time_since_epoch()) - at.now.time_since_epoch();
    const auto taken_for = std::chrono::duration_cast<Duration>(at.wall.time_since_epoch()) -
                           at.now.time_since_epoch();
    if (ahead > std::max(taken_for, taught_.value_or(taken_for)) + to_spare) {
        taught_ = ahead;
        ++lessons_;
    }
    newer_ = std::max(ahead, newer_.value_or(ahead));
}

void LockClock::has_ended(WallTime until, TimePoint granted,
                          const amqp::ClockReading& at) noexcept {
    if (at.now - granted >= unknown_lock) {
        has_passed(until, at);
    }
}

Duration LockClock::length(WallTime until, TimePoint asked,
                           const amqp::ClockReading& answered) noexcept {
    forget(answered.now);
    broker_ahead_ = ahead_by(until, asked, answered);
    if (!are_near(until, answered.wall)) {
        return unknown_lock;
    }
    Duration shown = Duration::max(); // by the evidence, at most
    for (const auto& ahead : {newer_, older_}) {
        if (ahead) {
            shown = std::min(shown, std::chrono::duration_cast<Duration>(until.time_since_epoch()) -
                                        *ahead - answered.now.time_since_epoch());
        }
    }
    const auto left = std::min(std::chrono::duration_cast<Duration>(until - answered.wall), shown);
    if (left <= Duration::zero() || left > longest_lock + tolerance) {
        return shown > Duration::zero() ? std::clamp(shown, shortest_lock, unknown_lock)
                                        : unknown_lock;
    }
    return std::max(std::min(left, longest_lock) + (answered.now - asked), shortest_lock);
}

Duration LockClock::ahead_by(WallTime until, TimePoint asked,
                             const amqp::ClockReading& answered) const noexcept {
    if (!are_near(until, answered.wall)) {
        return until > answered.wall ? Duration{farthest} : -Duration{farthest};
    }
    const auto left = std::chrono::duration_cast<Duration>(until - answered.wall);
    if (left > longest_lock) { // it was granted before now
        return left - longest_lock;
    }
    if (const Duration at_first = left + (answered.now - asked); at_first < Duration::zero()) {
        return at_first; // it ended before it was asked for
    }
    const auto& evidence = std::max(newer_, older_);
    const auto taken_for = std::chrono::duration_cast<Duration>(answered.wall.time_since_epoch()) -
                           answered.now.time_since_epoch();
    return evidence ? std::max(*evidence - taken_for, Duration::zero()) : Duration::zero();
}

WallTime LockClock::passed_by(TimePoint now) const noexcept {
    const auto& ahead = std::max(newer_, older_); // without a value is less than any
    return ahead ? WallTime{std::chrono::duration_cast<WallTime::duration>(now.time_since_epoch() +
                                                                           *ahead)}
                 : WallTime{};
}

void LockClock::forget(TimePoint now) noexcept {
    if (now < newer_ends_) {
        return;
    }
    older_ = now < newer_ends_ + memory ? newer_ : std::nullopt;
    newer_.reset();
    if (taught_) {
        taught_ = older_ ? std::optional{std::min(*taught_, *older_)} : std::nullopt;
    }
    newer_ends_ = now + memory;
}

} // namespace sessionq::detail::servicebus

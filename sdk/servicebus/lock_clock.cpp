#include "servicebus/lock_clock.hpp"

#include <algorithm>

namespace sessionq::servicebus {
namespace {

/// Clocks that are further apart are not worth computing with.
constexpr auto farthest = std::chrono::hours{24};

bool are_near(WallTime one, WallTime other) noexcept { return one > other - farthest && one < other + farthest; }

} // namespace

void LockClock::has_passed(WallTime time, const amqp::ClockReading& at) noexcept {
    if (!are_near(time, at.wall)) {
        return;
    }
    forget(at.now);
    const auto ahead = std::chrono::duration_cast<Duration>(time.time_since_epoch()) - at.now.time_since_epoch();
    newer_ = std::max(ahead, newer_.value_or(ahead));
}

void LockClock::has_ended(WallTime until, TimePoint granted, const amqp::ClockReading& at) noexcept {
    if (at.now - granted >= unknown_lock) {
        has_passed(until, at);
    }
}

Duration LockClock::length(WallTime until, TimePoint asked, const amqp::ClockReading& answered) noexcept {
    if (!are_near(until, answered.wall)) {
        return unknown_lock;
    }
    forget(answered.now);
    auto left = std::chrono::duration_cast<Duration>(until - answered.wall);
    for (const auto& ahead : {newer_, older_}) {
        if (ahead) {
            left = std::min(left, std::chrono::duration_cast<Duration>(until.time_since_epoch()) - *ahead - answered.now.time_since_epoch());
        }
    }
    if (left <= Duration::zero() || left > longest_lock + tolerance) {
        return unknown_lock;
    }
    return std::max(std::min(left, longest_lock) + (answered.now - asked), shortest_lock);
}

void LockClock::forget(TimePoint now) noexcept {
    if (now < newer_ends_) {
        return;
    }
    older_ = now < newer_ends_ + memory ? newer_ : std::nullopt;
    newer_.reset();
    newer_ends_ = now + memory;
}

} // namespace sessionq::servicebus

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "timing/session_idle_timer.hpp"

namespace sessionq::processor {

/// The idle clock of one session: its `SessionIdleTimer` and the instant at which that is due. The
/// timer is the one count of what is in flight, and alone says whether the session is idle (R1,
/// R2).
class IdleClock {
public:
    explicit IdleClock(Duration timeout) noexcept
        : timeout_{timeout}, rolls_at_once_{timeout == Duration::zero()}, timer_{timeout} {}

    /// Where something is in flight already, its end starts the clock.
    void start(TimePoint now) noexcept {
        const auto arming = timer_.start(now);
        if (timer_.in_flight() == 0) {
            arming_ = arming;
        }
        idle_since_ = now;
    }

    /// Something is in flight.
    void begin() noexcept {
        static_cast<void>(timer_.begin()); // refused only once the session is left
        arming_.reset();
    }
    void end(TimePoint now) noexcept {
        if (const auto arming = timer_.end(now)) {
            arming_ = arming;
            idle_since_ = now;
        }
    }

    /// Counts from when the session became idle.
    void set_timeout(Duration timeout) noexcept {
        timeout_ = timeout;
        rolls_at_once_ = timeout == Duration::zero();
        const auto epoch = arming_ ? arming_->epoch : due_epoch_;
        const auto arming = timer_.set_timeout(timeout, idle_since_, epoch);
        if (arming_) {
            arming_ = arming;
        }
    }
    [[nodiscard]] Duration timeout() const noexcept { return timeout_; }

    /// From now on it is due as soon as nothing is in flight.
    void roll_at_once() noexcept { rolls_at_once_ = true; }

    /// When `due` is to be called. Where there is nothing to wait for that is long past, because
    /// `now` would be rounded up (R4).
    [[nodiscard]] TimePoint at() const noexcept {
        if (!arming_) {
            return TimePoint::max();
        }
        return rolls_at_once_ ? TimePoint{} : arming_->due;
    }
    void due() noexcept {
        due_epoch_ = arming_->epoch;
        arming_.reset();
    }

    /// Commits to leaving: false when a message came since it was due, though it may have gone.
    [[nodiscard]] bool fire() noexcept { return timer_.fire(due_epoch_); }
    void dispose() noexcept { timer_.dispose(); }

    [[nodiscard]] bool runs() const noexcept { return arming_.has_value(); }
    [[nodiscard]] std::uint32_t in_flight() const noexcept { return timer_.in_flight(); }

private:
    Duration timeout_;
    bool rolls_at_once_;
    TimePoint idle_since_{};
    timing::SessionIdleTimer timer_;
    std::optional<timing::SessionIdleTimer::Arming> arming_{}; ///< while nothing is in flight
    std::uint32_t due_epoch_{0};
};

} // namespace sessionq::processor

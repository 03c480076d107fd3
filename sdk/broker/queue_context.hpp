#pragma once

#include "broker/effects.hpp"
#include "broker/instant.hpp"
#include "timing/timer_wheel.hpp"

namespace sessionq::broker {

/// What a queue and its dead-letter sub-queue share: the time of the operation under way, what it wants said, and the timers.
class QueueContext {
public:
    explicit QueueContext(Instant start) : at_{start}, wheel_{start.now} {}

    /// An operation begins: what was due before it happens before it. True: something was.
    bool begin(Instant at) {
        at_ = at;
        return run_due_timers();
    }

    [[nodiscard]] TimePoint now() const noexcept { return at_.now; }
    [[nodiscard]] WallTime wall_now() const noexcept { return at_.wall; }
    [[nodiscard]] Effects& effects() noexcept { return effects_; }

    void arm(timing::Timer& timer, TimePoint due) {
        wheel_.insert(timer, due);
        next_due_ = due < next_due_ ? due : next_due_;
    }

    void cancel(timing::Timer& timer) noexcept {
        wheel_.cancel(timer);
        timer.unlink(); // it may have expired and wait for its turn
    }

    /// Nothing is due before this; max: nothing at all. A bound, because asking the wheel after each operation would cost more than a needless look.
    [[nodiscard]] TimePoint next_due() const noexcept { return next_due_; }

private:
    bool run_due_timers() {
        if (at_.now < next_due_) {
            return false;
        }
        timing::TimerWheel::List expired;
        for (wheel_.advance(at_.now, expired); !expired.empty(); wheel_.advance(at_.now, expired)) {
            while (timing::Timer* timer = expired.pop_front()) {
                timer->run();
            }
        }
        next_due_ = wheel_.next_wakeup().value_or(TimePoint::max());
        return true;
    }

    Instant at_;
    Effects effects_;
    timing::TimerWheel wheel_;
    TimePoint next_due_{TimePoint::max()};
};

} // namespace sessionq::broker

#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <sessionq/time.hpp>

#include "core/executor.hpp"
#include "timing/timer.hpp"
#include "timing/timer_wheel.hpp"

namespace sessionq::timing {

/// The timers of one loop, and the hand-over of what has expired. Whoever owns the operating
/// system's timer drives it: wakes at `next_wakeup()` and calls `advance`. Arming moves
/// `next_wakeup()`, so it is asked again before each sleep.
///
/// Callbacks run in a task of the executor, never inside a call of this class. A timer never runs
/// before its due time; resolution is one millisecond, rounded up. Bound to the loop's thread,
/// takes no lock; the executor must run its tasks there. Destroying the service disarms its timers,
/// also from a callback and while a task of it is still queued.
class TimerService {
public:
    TimerService(core::Executor& executor, TimePoint start);
    ~TimerService();
    TimerService(const TimerService&) = delete;
    TimerService& operator=(const TimerService&) = delete;

    /// Arms `timer`, or moves it if it is armed, also when it has expired and waits for its run.
    /// Due in the past: runs after the next `advance`. `TimePoint::max()`: armed, never runs.
    void arm(Timer& timer, TimePoint due) { wheel_.insert(timer, due); }

    /// After it, the timer does not run, also when it has expired already. No effect on a timer
    /// that is not armed.
    void cancel(Timer& timer) noexcept;

    /// Takes what has expired and hands it to the executor in one task; none if a task still waits
    /// to run, which then takes this along.
    void advance(TimePoint now);

    /// When `advance` must be called next; none: not before something is armed.
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const noexcept {
        return wheel_.next_wakeup();
    }

    /// Armed timers, those that wait for their run included. Walks the latter.
    [[nodiscard]] std::size_t size() const noexcept;

private:
    using Self =
        std::shared_ptr<TimerService*>; // null once the service is gone; a queued task outlives it

    static void run_expired(const Self& self);

    core::Executor& executor_;
    TimerWheel wheel_;
    TimerWheel::List expired_;
    bool handed_over_{false};
    Self self_;
};

} // namespace sessionq::timing

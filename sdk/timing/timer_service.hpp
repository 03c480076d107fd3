// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <sessionq/time.hpp>

#include "core/executor.hpp"
#include "timing/timer.hpp"
#include "timing/timer_wheel.hpp"

namespace sessionq::timing {

/// The timers of one loop. The owner of the operating system's timer drives it: it calls `advance`
/// at `next_wakeup()`. Arming may change `next_wakeup()`, so the driver reads it before each sleep.
///
/// Callbacks run in a task of the executor, never inside a call of this class. A timer never runs
/// early; the resolution is one millisecond, rounded up. Bound to the loop's thread, takes no lock;
/// the executor must run its tasks there. Destroying the service disarms its timers. A callback may
/// destroy it, also while one of its tasks is queued.
class TimerService {
public:
    TimerService(core::Executor& executor, TimePoint start);
    ~TimerService();
    TimerService(const TimerService&) = delete;
    TimerService& operator=(const TimerService&) = delete;

    /// Arms `timer`, or moves it if it is armed or has expired and not run yet. If `due` is in the
    /// past, it runs after the next `advance`. With `TimePoint::max()` it is armed but never runs.
    void arm(Timer& timer, TimePoint due) { wheel_.insert(timer, due); }

    /// Arms `timer` for `due`, unless it is armed for that instant already. `TimePoint::max()`
    /// cancels it. For owners that ask a machine for its next instant after every input: arming
    /// again for an instant that has come would put the timer off to the next tick each time.
    void set_due(Timer& timer, TimePoint due) {
        if (due == TimePoint::max()) {
            cancel(timer);
        } else if (!timer.is_armed() || timer.due() != due) {
            arm(timer, due);
        }
    }

    /// Makes sure that `timer` does not run, even if it has expired already. No effect if it is not
    /// armed.
    void cancel(Timer& timer) noexcept;

    /// Collects the expired timers and posts one task that runs them. If an earlier task is still
    /// queued, that task runs them too.
    void advance(TimePoint now);

    /// When to call `advance` next; empty until a timer is armed.
    [[nodiscard]] std::optional<TimePoint> next_wakeup() const noexcept {
        return wheel_.next_wakeup();
    }

    /// The number of armed timers, including expired ones that have not run. Walks the latter.
    [[nodiscard]] std::size_t size() const noexcept;

private:
    // Null once the service is destroyed. A queued task may outlive the service.
    using Self = std::shared_ptr<TimerService*>;

    static void run_expired(const Self& self);

    core::Executor& executor_;
    TimerWheel wheel_;
    TimerWheel::List expired_;
    bool is_posted_{false};
    Self self_;
};

} // namespace sessionq::timing

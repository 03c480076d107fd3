// SPDX-License-Identifier: MIT
#pragma once

#include "core/event_loop.hpp"
#include "core/intrusive_list.hpp"
#include "processor/session/session_machine.hpp"
#include "timing/timer.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::processor {

/// The timer of one session.
struct SessionTimer : core::ListHook<SessionTimer> {
    SessionTimer(const SessionMachine& asked, void* owner, timing::Timer::Callback due) noexcept
        : machine{asked}, timer{owner, due} {}

    const SessionMachine& machine;
    timing::Timer timer;
};

/// The timers of sessions on one loop. A machine is asked for its next instant once a turn, because
/// a turn brings many inputs.
class SessionTimers {
public:
    explicit SessionTimers(core::EventLoop& loop) noexcept : loop_{loop} {}

    /// The machine had an input. The turn ends with `set`.
    void changed(SessionTimer& timer) noexcept {
        if (timer.is_linked()) {
            return;
        }
        if (changed_.empty()) {
            loop_.wake();
        }
        changed_.push_back(timer);
    }

    /// An instant that has come needs no timer, as with an idle timeout of zero.
    void set() {
        while (SessionTimer* const changed = changed_.pop_front()) {
            if (changed->machine.next() <= loop_.now()) {
                loop_.timers().cancel(changed->timer);
                changed->timer.run();
                changed->unlink(); // that was an input: what comes now waits for its timer
            }
            loop_.timers().set_due(changed->timer, changed->machine.next());
        }
    }

private:
    core::EventLoop& loop_;
    core::IntrusiveList<SessionTimer, SessionTimer> changed_{}; ///< in this turn
};

} // namespace sessionq::processor

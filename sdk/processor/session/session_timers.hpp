// SPDX-License-Identifier: MIT
#pragma once

#include "core/event_loop.hpp"
#include "core/intrusive_list.hpp"
#include "processor/session/session_machine.hpp"
#include "timing/timer.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::detail::processor {

/// The timer of one session, and the machine that names its instant.
struct SessionTimer : core::ListHook<SessionTimer> {
    SessionTimer(const SessionMachine& asked, void* owner, timing::Timer::Callback due) noexcept
        : machine{asked}, timer{owner, due} {}

    const SessionMachine& machine;
    timing::Timer timer;
};

/// Sets the timers of all sessions on one loop. `SessionDriver` reports each input of its machine,
/// and the shard calls `set` at the end of a turn. So a machine is asked for its next instant once
/// a turn, however many inputs the turn brings.
class SessionTimers {
public:
    explicit SessionTimers(core::EventLoop& loop) noexcept : loop_{loop} {}

    /// The timer's machine had an input, so its next instant may differ now. `set` follows at the
    /// end of the turn.
    void changed(SessionTimer& timer) noexcept {
        if (timer.is_linked()) {
            return;
        }
        if (changed_.empty()) {
            loop_.wake();
        }
        changed_.push_back(timer);
    }

    /// Asks each changed machine for its next instant and sets its timer. An instant that has
    /// passed needs no timer: the callback runs at once, for example with an idle timeout of zero.
    void set() {
        while (SessionTimer* const changed = changed_.pop_front()) {
            TimePoint next = changed->machine.next();
            if (next <= loop_.now()) {
                loop_.timers().cancel(changed->timer);
                changed->timer.run();
                changed->unlink(); // the callback reported an input: `set_due` covers it
                next = changed->machine.next();
            }
            loop_.timers().set_due(changed->timer, next);
        }
    }

private:
    core::EventLoop& loop_;
    core::IntrusiveList<SessionTimer, SessionTimer>
        changed_{}; ///< timers of machines that had an input in this turn
};

} // namespace sessionq::detail::processor

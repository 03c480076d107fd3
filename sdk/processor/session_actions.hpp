// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sessionq/processor_report.hpp>
#include <sessionq/time.hpp>

#include "processor/message_machine.hpp"

namespace sessionq::processor {

/// What the driver of a session tells that an action asked for.
enum class Awaited : std::uint8_t {
    delay_kept,    ///< by the broker, or it refused; the same with
    attempts_kept, ///< the noted attempts
    turn,
};

/// One thing that the driver of a session does next.
struct SessionAction {
    enum class Kind : std::uint8_t {
        count_opened,   ///< the session has begun
        lock_over,      ///< nothing starts any more; the handlers' stop token fires; `count`: 1 if
                        ///< the lock was lost, 0 if it was given up
        pause_lane,     ///< nothing more starts
        resume_lane,    ///< ends the pause
        release_lane,   ///< `count` calls that hold the lane are dealt with
        limit_lane,     ///< `count` calls may run at once
        take_back,      ///< take what has not started from the lane: `taken_back`, `all_taken_back`
        enqueue,        ///< `message` goes to the end of the lane
        put_back,       ///< `message` was in the lane and returns to its place there
        settle,         ///< send the settlement of `message`: as decided, else by `verdict`;
                        ///< `count`: 1 if it is released unstarted
        dispose,        ///< `message` is finished; `count`: 1 if the broker has it back
        add_credit,     ///< `count` more messages may come
        drain,          ///< ask for the credit back
        run_open,       ///< call on_session_open
        run_close,      ///< call on_session_close
        report_silent,  ///< the broker does not answer settlements
        count_parked,   ///< the session keeps its lock without a slot from now on
        drop_link,      ///< end the link, and with it what it has not answered
        close_link,     ///< give the session back
        free_slot,      ///< the slot may accept the next session (R4)
        let_go,         ///< the session is no longer ours; `count`: 1 if it was opened
        finish,         ///< nothing is left: the driver may go
        show_lock,      ///< handlers see the lock's end as it is now; `count` renewals succeeded
        renew_lock,     ///< ask the broker: `renewed`
        report_expired, ///< the lock was not renewed in time
        warn,           ///< the lock is about to end: the handlers' stop token fires
        report_slow,    ///< it is not renewed, because of `max_lock_renewal`
        read_record,    ///< ask the broker for the session's record: `examined`
        write_record,   ///< the session is not to be handled for `delay`; zero: remove the record;
                        ///< answered with `came`
        write_attempts, ///< keep the noted attempts with the session: `came`
        take_turn,      ///< of the processor's suspects; `count`: 1 if it is to be the only one:
                        ///< `came`
        end_turn,       ///< it has ended, or is not waited for any more
        report_failed,  ///< the handler of `message` failed: its `fate`
    };
    Kind kind{Kind::finish};
    Verdict verdict{Verdict::complete};
    MessageFate fate{MessageFate::none};
    std::uint32_t count{0};
    MessageMachine* message{nullptr};
    Duration delay{};
};

/// What the driver of one session does next, in order. Its memory stays for the next actions.
class SessionActions {
public:
    SessionActions() { actions_.reserve(usual); }

    void add(const SessionAction& action) { actions_.push_back(action); }

    /// Performs all, also what is added meanwhile. From within `perform` it does nothing and
    /// returns false: the outer call performs what was added.
    template <typename Perform>
    bool run(Perform perform) {
        if (next_ != 0) {
            return false;
        }
        while (next_ < actions_.size()) {
            perform(SessionAction{actions_[next_++]});
        }
        actions_.clear();
        next_ = 0;
        return true;
    }

private:
    static constexpr std::size_t usual = 8; ///< More at once come only when messages go back.

    std::vector<SessionAction> actions_{};
    std::size_t next_{0};
};

} // namespace sessionq::processor

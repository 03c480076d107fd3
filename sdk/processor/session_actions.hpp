#pragma once

#include <cstdint>
#include <vector>

#include "processor/message_machine.hpp"

namespace sessionq::processor {

/// One thing that the driver of a session does next.
struct SessionAction {
    enum class Kind : std::uint8_t {
        count_opened,  ///< the session has begun
        lock_over,     ///< nothing starts any more; the handlers' stop token fires
        pause_lane,    ///< nothing more starts
        resume_lane,   ///< ends the pause
        release_lane,  ///< `count` calls that hold the lane are dealt with
        limit_lane,    ///< `count` calls may run at once
        take_back,     ///< take what has not started from the lane: `taken_back`, `all_taken_back`
        enqueue,       ///< `message` goes to the end of the lane
        put_first,     ///< `message` goes before all others in the lane
        settle,        ///< send the settlement of `message`: as decided, else by `verdict`
        dispose,       ///< `message` is finished
        add_credit,    ///< `count` more messages may come
        drain,         ///< ask for the credit back
        run_open,      ///< call on_session_open
        run_close,     ///< call on_session_close
        count_lost,    ///< the lock is lost
        report_silent, ///< the broker does not answer settlements
        drop_link,     ///< end the link, and with it what it has not answered
        close_link,    ///< give the session back
        leave_slot,    ///< the slot may accept the next session (R4)
        finish,        ///< nothing is left: the driver may go
    };
    Kind kind{Kind::finish};
    Verdict verdict{Verdict::complete};
    std::uint32_t count{0};
    MessageMachine* message{nullptr};
};

/// In the order in which they are performed.
using SessionActions = std::vector<SessionAction>;

} // namespace sessionq::processor

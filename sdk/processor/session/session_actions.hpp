// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include <sessionq/processor_report.hpp>
#include <sessionq/session_context.hpp>
#include <sessionq/time.hpp>

#include "processor/message/message_machine.hpp"
#include "processor/session/session_record.hpp"

namespace sessionq::processor {

/// The steps of a held session. `SessionMachine` names them, and `SessionDriver` takes them. If a
/// step has an answer, its comment names the input that brings the answer.
namespace action {

// The session's life
struct CountOpened {}; ///< the session has begun
struct RunOpen {};     ///< call on_session_open: `open_ended`
struct RunClose {      ///< call on_session_close: `close_ended`
    CloseReason reason;
};
struct CountParked {}; ///< the session keeps its lock without a slot from now on
struct FreeSlot {      ///< the slot may accept the next session (R4)
    CloseReason reason;
};
struct LetGo { ///< the session is no longer ours
    CloseReason reason;
    bool opened;
};
struct Finish {}; ///< nothing is left: the driver may go

// The lane
struct PauseLane {};  ///< nothing more starts
struct ResumeLane {}; ///< ends the pause
struct ReleaseLane {  ///< so many calls that hold the lane are dealt with
    std::uint32_t calls;
};
struct LimitLane { ///< so many calls may run at once
    std::uint32_t calls;
};
struct TakeBack {}; ///< take unstarted calls from the lane: `taken_back`, `all_taken_back`

// Messages
struct Enqueue { ///< at the end of the lane
    MessageMachine* message;
};
struct PutBack { ///< the message was in the lane and returns to its place there
    MessageMachine* message;
};
struct Settle { ///< as the handler decided, else by the resolution: `answered`
    MessageMachine* message;
    Resolution resolution;
};
struct Dispose { ///< the message is finished; `lost`: the broker has it back
    MessageMachine* message;
    bool lost;
};
struct ReportFailed { ///< its handler has failed
    MessageMachine* message;
    MessageFate fate;
};

// The link
struct AddCredit { ///< so many more messages may come
    std::uint32_t messages;
};
struct Drain {};     ///< ask for the credit back: `drained`
struct CloseLink {}; ///< give the session back: `link_closed`
struct DropLink {};  ///< end the link, and with it all that it has not answered

// The lock
struct ShowLock { ///< handlers see the lock's end as it is now
    bool renewed;
};
struct RenewLock {}; ///< ask the broker: `renewed`
struct WarnOfEnd {}; ///< the lock is about to end: the handlers' stop token fires
struct EndLock {     ///< nothing starts any more, and that token fires; not lost: it was given up
    bool lost;
};
struct Report { ///< an error of the session; the text is a constant
    ErrorSource source;
    Errc code;
    const char* detail;
};

// The session's record
struct ReadRecord {}; ///< ask the broker: `examined`
struct WriteDelay {   ///< the session is not to be handled for so long, zero: `delay_kept`
    Duration delay;
};
struct WriteAttempts { ///< `attempts_kept`
    NotedAttempts noted;
};
struct TakeTurn { ///< of the processor's suspects; alone: it is to be the only one: `turn_came`
    bool alone;
};
struct EndTurn {}; ///< it has ended, or is not waited for any more

} // namespace action

using SessionAction =
    std::variant<action::CountOpened, action::RunOpen, action::RunClose, action::CountParked,
                 action::FreeSlot, action::LetGo, action::Finish, action::PauseLane,
                 action::ResumeLane, action::ReleaseLane, action::LimitLane, action::TakeBack,
                 action::Enqueue, action::PutBack, action::Settle, action::Dispose,
                 action::ReportFailed, action::AddCredit, action::Drain, action::CloseLink,
                 action::DropLink, action::ShowLock, action::RenewLock, action::WarnOfEnd,
                 action::EndLock, action::Report, action::ReadRecord, action::WriteDelay,
                 action::WriteAttempts, action::TakeTurn, action::EndTurn>;

/// The steps that the driver of one session takes next, in order. The list keeps its memory for
/// later steps.
class SessionActions {
public:
    SessionActions() { actions_.reserve(usual); }

    void add(const SessionAction& action) { actions_.push_back(action); }

    /// Performs all steps, also steps that are added meanwhile. Returns false if `perform` itself
    /// called it: the outer call then performs the steps.
    template <typename Perform>
    bool run(const Perform& perform) {
        if (next_ != 0) {
            return false;
        }
        while (next_ < actions_.size()) {
            std::visit(perform, SessionAction{actions_[next_++]});
        }
        actions_.clear();
        next_ = 0;
        return true;
    }

private:
    static constexpr std::size_t usual = 4; ///< More at once come only when messages go back.

    std::vector<SessionAction> actions_{};
    std::size_t next_{0};
};

} // namespace sessionq::processor

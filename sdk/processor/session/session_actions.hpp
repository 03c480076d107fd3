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

namespace sessionq::detail::processor {

/// The steps of a held session. `SessionMachine` names them, and `SessionDriver` takes them. If a
/// step has an answer, its comment names the input that brings the answer.
namespace action {

// The session's life
struct CountOpened {}; ///< count the session as opened
struct RunOpen {};     ///< call on_session_open: `open_ended`
struct RunClose {      ///< call on_session_close: `close_ended`
    CloseReason reason;
};
struct CountParked {}; ///< count the session as parked
struct FreeSlot {      ///< the slot may accept the next session (R4)
    CloseReason reason;
};
struct LetGo { ///< the session is no longer ours
    CloseReason reason;
    bool opened;
};
struct Finish {}; ///< nothing is left: the driver may go

// The lane
struct PauseLane {};  ///< start no more calls
struct ResumeLane {}; ///< ends the pause
struct ReleaseLane {  ///< end so many holds of the lane
    std::uint32_t calls;
};
struct LimitLane { ///< let so many calls run at once
    std::uint32_t calls;
};
struct TakeBack {}; ///< take unstarted calls from the lane: `taken_back`, `all_taken_back`

// Messages
struct Enqueue { ///< at the end of the lane
    MessageMachine* message;
};
struct PutBack { ///< into its old place in the lane
    MessageMachine* message;
};
struct Settle { ///< as the handler decided, else by the resolution: `answered`
    MessageMachine* message;
    Resolution resolution;
};
struct Dispose { ///< destroy the message; `lost`: the broker has it back
    MessageMachine* message;
    bool lost;
};
struct ReportFailed { ///< report to the application that the handler has failed
    MessageMachine* message;
    MessageFate fate;
};

// The link
struct AddCredit { ///< ask the broker for so many more messages
    std::uint32_t messages;
};
struct Drain {};     ///< ask for the credit back: `drained`
struct CloseLink {}; ///< give the session back: `link_closed`
struct DropLink {};  ///< end the link; it answers nothing any more

// The lock
struct ShowLock { ///< show the lock's new end to the handlers
    bool renewed;
};
struct RenewLock {}; ///< ask the broker: `renewed`
struct WarnOfEnd {}; ///< fire the handlers' stop token: the lock is about to end
struct EndLock {     ///< start no more handlers, fire the stop token; not `lost`: it was given up
    bool lost;
};
struct Report { ///< report an error of the session; the text is a constant
    ErrorSource source;
    Errc code;
    const char* detail;
};

// The session's record
struct ReadRecord {}; ///< ask the broker: `examined`
struct WriteDelay {   ///< write the delay; zero removes it: `delay_kept`
    Duration delay;
};
struct WriteAttempts { ///< write the noted attempts: `attempts_kept`
    NotedAttempts noted;
};
struct TakeTurn { ///< ask `SuspectTurn` for a turn, `alone` for the only one: `turn_came`
    bool alone;
};
struct EndTurn {}; ///< end the turn, or the wait for it

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
/// later steps, until `rest` gives it to other sessions.
class SessionActions {
public:
    /// The memory of lists that rest. Each shard has one.
    using Spare = std::vector<std::vector<SessionAction>>;

    explicit SessionActions(Spare& spare) noexcept : spare_{spare} {}

    void add(const SessionAction& action) {
        if (actions_.capacity() == 0) {
            take_memory();
        }
        actions_.push_back(action);
    }

    /// The session waits, perhaps for long, so others may use the memory. No effect while there are
    /// steps.
    void rest() {
        constexpr std::size_t most_spare = 64;
        if (!actions_.empty() || actions_.capacity() == 0) {
            return;
        }
        if (spare_.size() < most_spare) {
            spare_.push_back(std::move(actions_));
        }
        actions_ = {};
    }

    /// Performs all steps, also steps that are added meanwhile. Returns false if `perform` itself
    /// called it: the outer call then performs the steps.
    template <typename Perform>
    bool run(const Perform& perform) {
        if (next_ != 0) {
            return false;
        }
        if (actions_.empty()) {
            return true;
        }
        while (next_ < actions_.size()) {
            std::visit(perform, SessionAction{actions_[next_++]});
        }
        actions_.clear();
        next_ = 0;
        return true;
    }

private:
    static constexpr std::size_t usual = 4; ///< only messages that go back need more at once

    void take_memory() {
        if (spare_.empty()) {
            actions_.reserve(usual);
        } else {
            actions_ = std::move(spare_.back());
            spare_.pop_back();
        }
    }

    Spare& spare_;
    std::vector<SessionAction> actions_{};
    std::size_t next_{0};
};

} // namespace sessionq::detail::processor

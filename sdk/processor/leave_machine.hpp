// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/session_context.hpp>

#include "processor/attempt_book.hpp"
#include "processor/message_book.hpp"
#include "processor/retry_delay.hpp"

namespace sessionq::processor {

/// Decides how a session is left without loss: drain the credit, give back what waits, wait for
/// what runs, call on_session_close, give the session back (R3, R15). Also what is left of that
/// when the lock is lost (R13).
class LeaveMachine {
public:
    using Phase = SessionState::Phase;

    /// Where a session is while its lock is held.
    enum class Seat : std::uint8_t {
        slot,
        parked,
        settling, ///< it is left once the broker has answered its settlements, and then a write of
                  ///< its record if there is one
    };

    LeaveMachine(SessionState& session, MessageBook& book) noexcept;

    /// on_session_open is due, or none is set: the session counts as opened.
    void opened();
    /// on_session_open will not run, and so on_session_close will not.
    void skip_close() noexcept { closes_ = false; }

    /// Asks for the credit back. False: there is none, and no answer comes.
    bool drain();
    /// What waits in the lane goes back, in `phase`.
    void put_back(Phase phase);
    void all_taken_back();

    /// The session is parked until then, and then left for `reason`. It keeps its slot where too
    /// many are parked.
    void park(TimePoint until, CloseReason reason);
    /// on_session_open failed. The session waits by itself, as one whose message failed does.
    void open_failed(std::uint32_t failed_before);
    /// What messages want of the session, as far as it waits for that.
    void follow(const BookEffects& effects) {
        if (effects.waits()) {
            wait(effects);
        }
    }
    /// The session's record: how long nothing of it is to be handled. Unset: there is none.
    void examined(const core::Result<std::optional<Duration>>& delay);
    void came(Awaited what);
    /// A handler has ended, which `MessageBook` is told next.
    void ended(const MessageMachine& message, const MessageEnd& end);
    /// What failed goes back, as far as nothing is in its way: what is noted of the session is not
    /// with it yet, or handlers of earlier messages still run. Those would come before it again,
    /// uncounted, and nothing would tell their holder to wait.
    void let_back();
    [[nodiscard]] AttemptBook& attempts() noexcept { return attempts_; }
    /// A parked session whose handlers have returned keeps no slot. Nor does one that will be left
    /// when its settlements are answered (R4), while there is room for it among those.
    void free_slot() {
        if (seat_ == Seat::slot && (session_.phase == Phase::parked || only_settles())) {
            give_up_seat();
        }
    }
    /// The hold or the parking is over.
    void due();
    void leave(CloseReason reason);
    void begin(CloseReason reason); ///< The same, also if it is left already.
    void lose(CloseReason reason);
    void give_up();
    /// Something has ended: goes on once nothing is in flight any more.
    void step() {
        if (session_.phase == Phase::leaving && session_.idle.in_flight() == 0) {
            go_on();
        }
    }
    void close_ended();
    void link_closed();

    /// When to call `due`; TimePoint::max(): never.
    [[nodiscard]] TimePoint leave_at() const noexcept;
    /// When the close's answer is overdue; TimePoint::max(): none is awaited.
    [[nodiscard]] TimePoint close_by() const noexcept {
        return session_.phase == Phase::closing_link ? close_by_ : TimePoint::max();
    }
    [[nodiscard]] CloseReason reason() const noexcept { return reason_; }
    [[nodiscard]] Seat seat() const noexcept { return session_.keeps_lock() ? seat_ : Seat::slot; }

private:
    using Kind = SessionAction::Kind;

    void go_on();
    void close();
    void wait(const BookEffects& effects);
    void wait(TimePoint until);
    void admit();
    [[nodiscard]] bool is_writing() const noexcept {
        return delay_.is_writing() || attempts_.is_writing();
    }
    [[nodiscard]] bool only_settles() const noexcept;
    void give_up_seat();
    void lose_lock(CloseReason reason, std::uint32_t losses);

    SessionState& session_;
    MessageBook& book_;
    RetryDelay delay_;
    AttemptBook attempts_;
    Suspect suspect_{}; ///< what waits for the session's record
    CloseReason reason_{CloseReason::idle};
    TimePoint hold_until_{TimePoint::max()};
    TimePoint parked_until_{};
    TimePoint close_by_{};
    bool opened_{false};
    bool closes_{false};    ///< on_session_close is due
    bool waits_{false};     ///< parked by the session's record
    bool took_back_{false}; ///< what waited when it was parked
    Seat seat_{Seat::slot};
    SessionCount* counted_in_{nullptr}; ///< until it is let go of
};

} // namespace sessionq::processor

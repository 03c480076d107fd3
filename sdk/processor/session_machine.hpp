#pragma once

#include <cstdint>
#include <optional>

#include <sessionq/error.hpp>
#include <sessionq/processor_options.hpp>
#include <sessionq/session_context.hpp>

#include "processor/answer_bounds.hpp"
#include "processor/message_book.hpp"

namespace sessionq::processor {

/// Decides the life of one held session: open, work, idle, park, retry, turn, rewind, leave without
/// loss, close (R1-R6, R9, R13-R16). Inputs and the time go in. Actions come out, and the instant
/// at which it wants `due` to be called. No I/O, no clock, one thread.
///
/// What is in flight is counted by its `SessionIdleTimer` and nowhere else.
class SessionMachine {
public:
    enum class Phase : std::uint8_t {
        held_back,    ///< handlers of an earlier lock of this session still run
        opening,      ///< on_session_open runs
        working,      ///< messages flow
        parked,       ///< by the failure policy, until the session is left
        idling_out,   ///< the idle clock is due; the drain's answer decides (R3)
        rewinding,    ///< a message is to be abandoned: waits for the drain (R6)
        putting_back, ///< what was behind it and then itself go back
        draining,     ///< no new handler starts; waits for the drain before what waits goes back
        leaving,      ///< waits for handlers and settlements under way
        closing_call, ///< on_session_close runs
        closing_link, ///< the session was given back; waits for the broker's answer
        finished,
    };

    /// The session was accepted at `now`.
    SessionMachine(const SessionTerms& terms, TimePoint now);

    void begin(TimePoint now, SessionActions& out); ///< no earlier lock is in the way
    void open_ended(bool succeeded, TimePoint now, SessionActions& out);
    void open_skipped(TimePoint now, SessionActions& out); ///< the lane gave it back unstarted
    void arrived(MessageMachine& message, std::size_t bytes, bool removed, TimePoint now,
                 SessionActions& out);
    /// The handler settled the message and still runs.
    void decided(MessageMachine& message, ports::Outcome outcome, TimePoint now,
                 SessionActions& out);
    void ended(MessageMachine& message, const MessageEnd& end, TimePoint now, SessionActions& out);
    void taken_back(MessageMachine& message, TimePoint now, SessionActions& out);
    void all_taken_back(TimePoint now, SessionActions& out);
    void answered(MessageMachine& message, const Failure* failure, TimePoint now,
                  SessionActions& out);
    void drained(TimePoint now, SessionActions& out);
    void leave(CloseReason reason, TimePoint now, SessionActions& out);
    /// The lock is gone. Handlers that run keep the link until they return.
    void lose(CloseReason reason, TimePoint now, SessionActions& out);
    /// The same, by the next `due`: for an input that comes from within the link.
    void lose_soon(CloseReason reason) noexcept { doom_ = doom_.value_or(reason); }
    /// The session is given up although handlers run: `stop` at its deadline.
    void give_up(TimePoint now, SessionActions& out);
    void close_ended(TimePoint now, SessionActions& out); ///< on_session_close returned
    void link_closed(SessionActions& out);
    void limit_calls(std::uint32_t calls, SessionActions& out);
    void due(TimePoint now, SessionActions& out);

    /// A handler has ended, which is about to be told.
    void note_progress(TimePoint now) noexcept { progress_at_ = now; }

    /// When to call `due`; TimePoint::max(): not before another input.
    [[nodiscard]] TimePoint next() const noexcept;

    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool is_leaving() const noexcept { return phase_ >= Phase::draining; }
    /// The lock is held and the link can be used.
    [[nodiscard]] bool usable() const noexcept { return !lost_ && phase_ != Phase::finished; }
    /// The lock is to be renewed and watched.
    [[nodiscard]] bool keeps_lock() const noexcept {
        return !lost_ && phase_ < Phase::closing_link;
    }
    /// Messages are in flight and none has finished for longer than the lock may be renewed (R13).
    [[nodiscard]] bool is_slow(TimePoint now) const noexcept;
    /// Messages received and not yet finished.
    [[nodiscard]] std::uint32_t in_flight() const noexcept {
        return idle_.in_flight() - (opening_call_ ? 1 : 0);
    }
    [[nodiscard]] const MessageBook& messages() const noexcept { return book_; }
    [[nodiscard]] bool is_draining() const noexcept {
        return credit_.phase() == CreditWindow::Phase::draining;
    }
    /// Messages may come, or the idle clock runs.
    [[nodiscard]] bool is_expecting() const noexcept {
        return credit_.credit() != 0 || idle_.runs();
    }
    [[nodiscard]] bool had_messages() const noexcept { return had_messages_; }
    [[nodiscard]] bool was_opened() const noexcept { return opened_; }
    [[nodiscard]] TimePoint progress_at() const noexcept { return progress_at_; }
    [[nodiscard]] CloseReason close_reason() const noexcept { return reason_; }

private:
    using Kind = SessionAction::Kind;

    void react(const BookEffects& effects, TimePoint now, SessionActions& out);
    void park(TimePoint until, TimePoint now, SessionActions& out);
    void rewind(TimePoint now, SessionActions& out);
    void begin_leave(CloseReason reason, TimePoint now, SessionActions& out);
    void put_back(Phase phase, TimePoint now, SessionActions& out);
    void step(TimePoint now, SessionActions& out);
    void close(TimePoint now, SessionActions& out);
    void lose_lock(CloseReason reason, TimePoint now, SessionActions& out);
    void drop_link(TimePoint now, SessionActions& out);
    void grant(SessionActions& out);
    bool drain(TimePoint now, SessionActions& out);
    void drain_overdue(TimePoint now, SessionActions& out);
    void commit_idle(TimePoint now, SessionActions& out);
    void idle_due(TimePoint now, SessionActions& out);
    [[nodiscard]] BookStance stance() const noexcept;
    [[nodiscard]] TimePoint idle_at() const noexcept;
    [[nodiscard]] TimePoint retry_at() const noexcept;
    [[nodiscard]] AnswerBounds::Outstanding outstanding() const noexcept;
    [[nodiscard]] bool removes() const noexcept { return terms_.options.receive_and_delete; }

    const SessionTerms terms_;
    Phase phase_{Phase::held_back};
    CloseReason reason_{CloseReason::idle};
    IdleClock idle_;
    CreditWindow credit_;
    MessageBook book_;
    AnswerBounds bounds_;
    std::uint32_t calls_;
    TimePoint progress_at_;
    TimePoint hold_until_{TimePoint::max()};
    TimePoint parked_until_{};
    std::optional<CloseReason> doom_{}; ///< the lock is lost, to be dealt with by `due`
    bool opened_{false};                ///< `begin` came
    bool closes_{false};                ///< on_session_close is due
    bool opening_call_{false};          ///< on_session_open waits or runs
    bool dead_lettering_{false};        ///< the rest of the session is dead-lettered
    bool lost_{false};
    bool had_messages_{false};
};

} // namespace sessionq::processor

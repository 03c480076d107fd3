// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/error.hpp>

#include "processor/leave_machine.hpp"
#include "processor/session_lock_keeper.hpp"
#include "processor/session_words.hpp"

namespace sessionq::processor {

/// Decides the life of one held session: open, work, idle, park, retry, turn, rewind, leave without
/// loss, close (R1-R6, R9, R13-R16). Inputs and the time go in. Actions come out, and the instant
/// at which it wants `due` to be called. No I/O, no clock, one thread.
///
/// What is in flight is counted by its `SessionIdleTimer` and nowhere else.
class SessionMachine {
public:
    using Phase = SessionState::Phase;

    /// The session was accepted at `now`.
    SessionMachine(const SessionTerms& terms, TimePoint now);

    /// Every input is given at an instant: `machine.at(now).drained()`.
    SessionMachine& at(TimePoint now) noexcept {
        state_.now = now;
        return *this;
    }
    /// What the inputs cause, to be performed in order.
    [[nodiscard]] SessionActions& actions() noexcept { return state_.actions; }

    // Opening and closing
    void given(ports::FirstCredit first);              ///< with the accept
    void hold_back() { state_.add(Kind::pause_lane); } ///< handlers of an earlier lock still run
    void let_in();                                     ///< they have returned
    void begin();                                      ///< no earlier lock is in the way
    void open_ended(bool succeeded, std::uint32_t failed_before); ///< before, in a row
    void open_skipped(); ///< the lane gave it back unstarted
    void leave(CloseReason reason);
    /// The session is given up although handlers run: `stop` at its deadline.
    void give_up();
    void close_ended() { leaving_.close_ended(); } ///< on_session_close returned
    void link_closed() { leaving_.link_closed(); }

    // Messages
    void arrived(MessageMachine& message, std::size_t bytes, bool removed);
    /// The handler settled the message and still runs.
    void decided(MessageMachine& message, ports::Outcome outcome);
    void ended(MessageMachine& message, const MessageEnd& end);
    void taken_back(MessageMachine& message) {
        book_.taken_back(message);
        react();
    }
    void lock_ended(MessageMachine& message) { ///< the message's own
        book_.lock_ended(message);
        react();
    }
    void all_taken_back();
    void answered(MessageMachine& message, const Failure* failure);
    void drained();
    void examined(const core::Result<std::optional<Duration>>& delay) {
        leaving_.examined(delay);
        react();
    }
    void came(Awaited what) { ///< what an action asked for
        leaving_.came(what);
        react();
    }
    void limit_calls(std::uint32_t calls);
    void limit(const SessionLimits& limits); ///< what was granted before stays with the broker

    // The lock
    void locked(TimePoint asked, ports::LockGrant grant); ///< by the accept asked for at `asked`
    void renewed(TimePoint asked, const core::Result<ports::LockGrant>& answer);
    void lock_uncertain() { lock_.became_uncertain(); }
    /// A handler has ended, which is about to be told. A renewal that was held back may be due.
    void progressed();
    /// The lock is gone, and the link with it.
    void link_lost(Errc code);

    // Time
    void due();
    /// When to call `due`; TimePoint::max(): not before another input.
    [[nodiscard]] TimePoint next() const noexcept;

    [[nodiscard]] Phase phase() const noexcept { return state_.phase; }
    [[nodiscard]] bool is_leaving() const noexcept { return state_.is_leaving(); }
    /// The lock is held and the link can be used.
    [[nodiscard]] bool usable() const noexcept { return state_.usable(); }
    [[nodiscard]] bool keeps_lock() const noexcept { return state_.keeps_lock(); }
    [[nodiscard]] LeaveMachine::Seat seat() const noexcept { return leaving_.seat(); }
    [[nodiscard]] const ports::LockKeeper& lock() const noexcept { return lock_.keeper(); }
    /// Messages received and not yet finished.
    [[nodiscard]] std::uint32_t in_flight() const noexcept {
        return state_.idle.in_flight() - (opening_call_ ? 1 : 0);
    }
    [[nodiscard]] std::uint32_t window() const noexcept { return state_.fetch.size(); }
    [[nodiscard]] const MessageBook& messages() const noexcept { return book_; }
    [[nodiscard]] bool had_messages() const noexcept { return had_messages_; }
    /// A handler of it has ended.
    [[nodiscard]] bool has_handled() const noexcept { return has_handled_; }
    [[nodiscard]] bool begins_with_message() const noexcept {
        return !had_messages_ && !state_.terms.has_open;
    }
    [[nodiscard]] AttemptBook& attempts() noexcept { return leaving_.attempts(); }
    [[nodiscard]] TimePoint progress_at() const noexcept { return state_.progress_at; }
    [[nodiscard]] CloseReason close_reason() const noexcept { return leaving_.reason(); }
    [[nodiscard]] SlotWords words() const noexcept { return words_of(state_, book_, in_flight()); }

private:
    using Kind = SessionAction::Kind;
    void react();
    void message_gone();
    void rewind();
    void grant();
    void after_drain();
    void idle_out();
    void look_at_lock();
    [[nodiscard]] TimePoint idle_at() const noexcept;
    [[nodiscard]] TimePoint retry_at() const noexcept;

    SessionState state_;
    MessageBook book_;
    LeaveMachine leaving_;
    SessionLockKeeper lock_;
    std::uint32_t calls_;
    bool opening_call_{false}; ///< on_session_open waits or runs
    bool had_messages_{false};
    bool has_handled_{false};
};

} // namespace sessionq::processor

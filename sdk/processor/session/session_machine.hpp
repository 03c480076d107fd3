// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sessionq/error.hpp>

#include "processor/credit/session_flow.hpp"
#include "processor/message/gather_clock.hpp"
#include "processor/message/message_lists.hpp"
#include "processor/report/slot_status.hpp"
#include "processor/session/attempt_book.hpp"
#include "processor/session/retry_delay.hpp"
#include "processor/session/session_actions.hpp"
#include "processor/session/session_lock.hpp"
#include "processor/session/session_settings.hpp"
#include "processor/session/settle_wait.hpp"
#include "timing/session_idle_timer.hpp"

namespace sessionq::detail::processor {

/// The changes that messages want from their session during one input. `SessionMachine` collects
/// them, and makes the changes at the end of the input (`react`).
struct MessageWishes {
    bool any{false};                 ///< one of the others is set
    bool gone{false};                ///< a message has left
    bool makes_room{false};          ///< a message waits alone, so one more may be fetched
    bool turn_over{false};           ///< `max_messages_per_turn` messages were handled (R14)
    bool rewinds{false};             ///< the messages behind a failed one go back first (R6)
    bool dead_letters{false};        ///< the rest of the session is dead-lettered
    const Suspect* suspect{nullptr}; ///< if set: the session's record is read for it
    TimePoint parks_until{};         ///< if set: the session is parked
    TimePoint retries_at{};          ///< if set: also parked, and the record tells other holders
};

/// Decides the life of one held session: open, work, idle, park, retry, turn, rewind, leave without
/// loss, close (R1-R6, R9, R13-R16). It gets inputs and the time. It returns actions, and the
/// instant of the next call of `due`. No I/O, no clock, one thread.
///
/// Only this class knows the phase of the session. The classes that it holds answer one question
/// each: `SessionIdleTimer` whether the session is idle, `SessionFlow` how many messages to ask
/// for, `SessionLock` when to renew the lock, `RetryDelay` and `AttemptBook` when to read and write
/// the session's record, `GatherClock` how long a batch waits. `MessageLists` has the messages.
class SessionMachine {
public:
    enum class Phase : std::uint8_t {
        held_back,    ///< handlers of an earlier lock of this session still run
        opening,      ///< on_session_open runs
        working,      ///< messages flow
        parked,       ///< no handler starts; the session is left when the parking ends
        idling_out,   ///< the idle clock is due; the drain's answer decides (R3)
        rewinding,    ///< a message is to be abandoned: waits for the drain (R6)
        putting_back, ///< the messages behind that message go back, and then it
        draining,     ///< no new handler starts; waits for the drain before messages go back
        leaving,      ///< waits for handlers and settlements under way
        closing_call, ///< on_session_close runs
        closing_link, ///< the session was given back; waits for the broker's answer
        finished,
    };

    /// The place of a session while its lock is held.
    enum class Seat : std::uint8_t {
        slot,
        parked,
        settling, ///< without a slot: only settlements and the write of its record are unanswered
    };

    /// The session was accepted at `now`. `settings` must outlive the machine.
    SessionMachine(const SessionSettings& settings, SessionStart start, TimePoint now);

    /// Every input is given at an instant: `machine.at(now).drained()`.
    SessionMachine& at(TimePoint now) noexcept {
        now_ = now;
        return *this;
    }
    /// The steps that the inputs cause, to be performed in order.
    [[nodiscard]] SessionActions& actions() noexcept { return actions_; }

    // Opening and closing
    void given(ports::FirstCredit first); ///< the accept carried this credit
    void hold_back();                     ///< handlers of an earlier lock of this session still run
    void let_in();                        ///< the handlers of the earlier lock have returned
    void begin();                         ///< no earlier lock is in the way
    /// on_session_open ended. `failed_before`: how often in a row it had failed before.
    void open_ended(bool succeeded, std::uint32_t failed_before);
    void open_skipped(); ///< the lane gave the call of on_session_open back unstarted
    void leave(CloseReason reason);
    /// Gives the session up although handlers run. A stop calls it at its deadline.
    void give_up();
    void close_ended(); ///< on_session_close returned
    void link_closed();

    // Messages
    void arrived(MessageMachine& message, std::size_t bytes, bool removed);
    /// The handler settled the message and still runs.
    void decided(MessageMachine& message, ports::Outcome outcome);
    void ended(MessageMachine& message, const MessageEnd& end);
    void answered(MessageMachine& message, const Failure* failure);
    /// The lane gave the message back unstarted. `all_taken_back` follows the last message.
    void taken_back(MessageMachine& message);
    void all_taken_back();
    void lock_ended(MessageMachine& message); ///< the message's own lock is lost
    void drained();

    // The session's record
    /// The record was read. No message is handled for `delay`. Unset: the record has no delay.
    void examined(const core::Result<std::optional<Duration>>& delay, NotedAttempts noted);
    void delay_kept();    ///< the broker answered the write of a delay, perhaps with a failure
    void attempts_kept(); ///< the broker answered the write of the attempts, perhaps likewise
    void turn_came();     ///< the session's suspect may be handled (`SuspectTurn`)

    // Limits. Credit that the broker already has stays with it.
    void limit_calls(std::uint32_t calls);
    void limit(const SessionLimits& limits);

    // The lock
    /// The accept that was sent at `asked` granted the lock.
    void locked(TimePoint asked, ports::LockGrant grant);
    void renewed(TimePoint asked, const core::Result<ports::LockGrant>& answer);
    void lock_uncertain() { lock_.became_uncertain(now_); }
    /// A handler has ended. `ended` follows for its message. A renewal that was held back may be
    /// due.
    void progressed();
    /// The link is lost, and the lock with it.
    void link_lost(Errc code);

    // Time
    void due();
    /// When to call `due`; TimePoint::max(): not before another input.
    [[nodiscard]] TimePoint next() const noexcept;

    // Questions
    [[nodiscard]] Phase phase() const noexcept { return phase_; }
    [[nodiscard]] bool is_leaving() const noexcept { return phase_ >= Phase::draining; }
    /// The lock is held and the link can be used.
    [[nodiscard]] bool usable() const noexcept { return !lost_ && phase_ != Phase::finished; }
    /// The lock is to be renewed and watched.
    [[nodiscard]] bool keeps_lock() const noexcept {
        return !lost_ && phase_ < Phase::closing_link;
    }
    [[nodiscard]] Seat seat() const noexcept { return keeps_lock() ? seat_ : Seat::slot; }
    [[nodiscard]] const ports::LockKeeper& lock() const noexcept { return lock_.keeper(); }
    /// Messages received and not yet finished.
    [[nodiscard]] std::uint32_t in_flight() const noexcept {
        return idle_.in_flight() - (opening_call_ ? 1 : 0);
    }
    [[nodiscard]] std::uint32_t window() const noexcept { return flow_.window(); }
    /// How many handlers may run at once.
    [[nodiscard]] std::uint32_t calls() const noexcept { return calls_; }
    /// Counts the messages that are in the lane or have a handler that runs. Walks the lists.
    [[nodiscard]] std::uint32_t in_lane() const noexcept { return lists_.in_lane(); }
    [[nodiscard]] bool had_messages() const noexcept { return had_messages_; }
    /// Whether a message of the session has got to a handler, or waits only for a worker. False
    /// while the first messages wait for more messages of their batch.
    [[nodiscard]] bool has_begun() const noexcept {
        return had_messages_ && (has_handled_ || gather_by() == TimePoint::max());
    }
    /// The next message is the first thing of the session that a handler gets.
    [[nodiscard]] bool begins_with_message() const noexcept {
        return !had_messages_ && !settings_.has_open;
    }
    /// Whether an arriving message is a suspect: the session's record is read before it is handled.
    [[nodiscard]] bool suspects(std::uint32_t deliveries, bool holder_lost) const noexcept {
        return attempts_.suspects(deliveries, holder_lost, had_messages_);
    }
    /// The last progress: a handler ended, or the session began to wait for something, such as its
    /// first message, a retry, or the end of a parking. `max_lock_renewal` and the health count
    /// from it.
    [[nodiscard]] TimePoint progress_at() const noexcept { return progress_at_; }
    /// How long a message has waited for a worker while no handler of the session runs.
    [[nodiscard]] Duration ready_for(std::uint32_t running, TimePoint now) const noexcept;
    /// Messages may start, or handlers run, and nothing else is awaited.
    [[nodiscard]] bool needs_workers() const noexcept;
    /// Since when the broker has answered no settlement. TimePoint::max(): no settlement is
    /// unanswered.
    [[nodiscard]] TimePoint unanswered_since() const noexcept {
        return lists_.is_settling() ? settle_wait_.since() : TimePoint::max();
    }
    [[nodiscard]] CloseReason close_reason() const noexcept { return reason_; }
    /// The state of the session and the thing that it waits for, in words for people.
    [[nodiscard]] SlotStatus status() const noexcept;

private:
    template <typename Action>
    void add(Action action) {
        actions_.add(action);
    }

    // Questions that only this class asks
    [[nodiscard]] bool removes() const noexcept { return settings_.options.receive_and_delete; }
    [[nodiscard]] bool is_rewinding() const noexcept;
    [[nodiscard]] bool rolls() const noexcept { return flow_.rolls(idle_.timeout()); }
    [[nodiscard]] bool may_fetch() const noexcept;
    [[nodiscard]] bool gives_back() const noexcept;
    [[nodiscard]] bool hands_on() const noexcept;
    [[nodiscard]] bool keeps_holds() const noexcept;
    [[nodiscard]] bool only_settles() const noexcept;
    [[nodiscard]] bool is_writing() const noexcept;
    [[nodiscard]] std::optional<Resolution> way_back() const noexcept;
    [[nodiscard]] std::uint32_t set_aside() const noexcept;
    [[nodiscard]] std::uint32_t turn_room() const noexcept;
    [[nodiscard]] std::string_view wait_words() const noexcept;
    [[nodiscard]] TimePoint ask_at() const noexcept;
    [[nodiscard]] TimePoint idle_at() const noexcept;
    [[nodiscard]] TimePoint retry_at() const noexcept;
    [[nodiscard]] TimePoint gather_by() const noexcept;
    [[nodiscard]] TimePoint leave_at() const noexcept;
    [[nodiscard]] TimePoint close_by() const noexcept;

    // Messages: session_messages.cpp
    void follow(MessageMachine& message, MessageActions actions);
    [[nodiscard]] Circumstances circumstances(const MessageMachine& message, const MessageEnd& end);
    [[nodiscard]] MessageWishes& wish() noexcept {
        wishes_.any = true;
        return wishes_;
    }
    void put_back(MessageMachine& message);
    void gather();
    void take_back_gathered();
    void let_all_back();
    void release(std::uint32_t calls);
    void release_holds() { release(holds_); }
    void drop_link();
    void examine(const Suspect& suspect);
    void admit();
    void keep(const AttemptSteps& steps);

    // Transitions: session_machine.cpp
    void react();
    void wait(const MessageWishes& wishes);
    void wait(TimePoint until);
    void park(TimePoint until, CloseReason reason);
    void message_gone();
    void rewind();
    void grant();
    bool drain();
    void after_drain();
    void idle_out();
    void start_leaving(CloseReason reason);
    void take_all_back(Phase phase);
    void all_back();
    bool let_back();
    void free_slot();
    void step();
    void close();
    void lose(CloseReason reason);
    void lose_lock(CloseReason reason, bool is_lost);
    void look_at_lock();

    const SessionSettings& settings_;
    TimePoint now_; ///< the instant of the input under way
    SessionActions actions_;
    Phase phase_{Phase::held_back};
    std::uint32_t calls_; ///< how many handlers may run at once
    timing::SessionIdleTimer idle_;
    SessionFlow flow_;
    SessionLock lock_;
    MessageLists lists_{};
    SettleWait settle_wait_;
    GatherClock gather_clock_;
    RetryDelay delay_{};
    AttemptBook attempts_;
    MessageWishes wishes_{};
    Suspect suspect_{};        ///< waits for the session's record
    std::uint32_t holds_{0};   ///< the holds on the lane
    std::uint32_t handled_{0}; ///< messages that were handled in this turn
    TimePoint progress_at_;
    TimePoint hold_until_; ///< TimePoint::max(): there is no limit
    TimePoint parked_until_{};
    TimePoint close_by_{}; ///< the broker must answer the close by then
    CloseReason reason_{CloseReason::idle};
    Seat seat_{Seat::slot};
    SessionCount* counted_in_{nullptr}; ///< where the session takes a place; null: nowhere
    bool lost_{false};                  ///< the lock is lost or given up
    bool dead_letters_{false};          ///< the rest of the session is dead-lettered
    bool opened_{false};
    bool opening_call_{false}; ///< on_session_open waits or runs
    bool closes_{false};       ///< on_session_close is due
    bool waits_{false};        ///< parked by the session's record
    bool took_back_{false};    ///< the parked session has taken its messages back
    bool had_messages_{false};
    bool has_handled_{false}; ///< a handler of a message has ended
};

} // namespace sessionq::detail::processor

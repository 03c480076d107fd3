// SPDX-License-Identifier: MIT
#include "processor/session_machine.hpp"

#include <algorithm>

namespace sessionq::processor {

SessionMachine::SessionMachine(const SessionTerms& terms, TimePoint now)
    : state_{terms, now},
      book_{state_},
      leaving_{state_, book_},
      lock_{state_},
      calls_{terms.calls} {}

// Opening

void SessionMachine::given(ports::FirstCredit first) {
    state_.credit.given(first, state_.now + state_.terms.tuning.drain_timeout);
}

void SessionMachine::let_in() {
    if (state_.phase == Phase::held_back) {
        state_.add(Kind::resume_lane);
        begin();
    }
}

void SessionMachine::begin() {
    if (state_.phase != Phase::held_back) {
        return;
    }
    leaving_.opened();
    opening_call_ = state_.terms.has_open;
    state_.progress_at = state_.now;
    state_.phase = Phase::working;
    state_.idle.start(state_.now);
    if (opening_call_) { // the clock does not run while on_session_open does
        state_.phase = Phase::opening;
        state_.idle.begin();
        state_.add(Kind::run_open);
    }
    grant();
    if (!opening_call_ && state_.idle.timeout() == Duration::zero()) {
        leaving_.drain(); // R4: ask at once whether there is anything
    }
}

void SessionMachine::open_ended(bool succeeded, std::uint32_t failed_before) {
    if (!opening_call_) {
        return;
    }
    opening_call_ = false;
    book_.hold();
    state_.idle.end(state_.now);
    state_.add(Kind::limit_lane, calls_);
    if (state_.phase == Phase::opening && succeeded) {
        state_.phase = Phase::working;
    } else if (state_.phase == Phase::opening) {
        leaving_.open_failed(failed_before);
    }
    if (state_.phase == Phase::working) {
        book_.release_holds(); // what waits may start
        grant();
    }
    leaving_.step();
    react();
}

void SessionMachine::open_skipped() {
    leaving_.skip_close();
    opening_call_ = false;
    state_.idle.end(state_.now);
    leaving_.step();
}

// Messages

void SessionMachine::arrived(MessageMachine& message, std::size_t bytes, bool removed) {
    using Arrival = MessageMachine::Arrival;
    const bool joins_the_rest = usable() && (state_.phase == Phase::draining ||
                                             (state_.phase == Phase::leaving && state_.removes()));
    Arrival arrival = state_.dead_letters ? Arrival::dead_letter : Arrival::enqueue;
    if (is_leaving() && !joins_the_rest) {
        arrival = usable() ? Arrival::release : Arrival::discard;
    } else if (in_flight() == 0) {
        state_.progress_at = state_.now;
    }
    state_.asked_ahead = false;
    had_messages_ = true;
    book_.arrived(message, arrival, bytes, removed);
    react();
}

void SessionMachine::decided(MessageMachine& message, ports::Outcome outcome) {
    book_.follow(message, message.decided(outcome, usable(), state_.terms.ordered));
}

void SessionMachine::ended(MessageMachine& message, const MessageEnd& end) {
    state_.progress_at = state_.now;
    has_handled_ = has_handled_ || ran(end.ending);
    leaving_.ended(message, end);
    book_.ended(message, end);
    if (state_.lost && !book_.handlers_run()) { // it was kept, not to give the session away early
        book_.drop_link();
    }
    react();
    leaving_.let_back();
    react();
}

void SessionMachine::answered(MessageMachine& message, const Failure* failure) {
    book_.answered(message, failure == nullptr);
    react();
    if (failure != nullptr && failure->code != Errc::lock_lost) {
        leave(CloseReason::unresponsive); // what the broker thinks of the message is unknown
    } else if (failure != nullptr && state_.terms.ordered) { // else it is the message's own lock
        lock_.lose_soon(CloseReason::lock_lost);
    }
}

/// What messages want may lead to more of it.
void SessionMachine::react() {
    while (const auto effects = book_.take_effects()) {
        if (effects->dead_letters) {
            state_.dead_letters = true;
            state_.idle.roll_at_once();
            state_.add(Kind::take_back);
        }
        if (effects->turn_over) {
            leaving_.leave(CloseReason::max_messages);
        }
        leaving_.follow(*effects);
        if (effects->rewinds) {
            rewind();
        }
        if (effects->gone) {
            message_gone();
        } else if (effects->makes_room) {
            grant();
        }
    }
    if (!opening_call_) {
        leaving_.free_slot();
    }
}

void SessionMachine::message_gone() {
    if (state_.phase == Phase::putting_back && in_flight() == 0) {
        state_.phase = Phase::working; // all is back: the failed message is the next to come
        book_.release_holds();
    }
    grant();
    leaving_.attempts().gone();
    leaving_.step();
}

/// While it is parked or drains, the failed message waits and goes back with the others.
void SessionMachine::rewind() {
    if (state_.phase == Phase::leaving) {
        leaving_.put_back(Phase::leaving);
    } else if (state_.phase <= Phase::working || state_.phase == Phase::idling_out ||
               state_.phase == Phase::putting_back) {
        state_.phase = Phase::rewinding;
        if (!leaving_.drain()) {
            leaving_.put_back(Phase::putting_back);
        }
    }
}

// Credit and idleness

void SessionMachine::grant() {
    if (!state_.may_fetch() || state_.rolls()) {
        return;
    }
    const std::uint32_t window = // what is not fetched cannot start
        book_.turn_window(state_.fetch.size(), in_flight() + state_.credit.credit());
    const std::uint32_t count = state_.credit.grant(window, in_flight(), book_.set_aside());
    if (count != 0) {
        state_.add(Kind::add_credit, count);
    }
}

void SessionMachine::drained() {
    if (state_.drained() || state_.phase != Phase::idling_out) {
        after_drain();
    } else { // asked before the session was granted: once more
        state_.phase = Phase::working;
        grant();
        idle_out();
    }
    book_.gather();
    react();
}

/// The broker has answered the drain, or the credit is closed. Then the broker may still send, and
/// the link is of no more use: closing it gives back what comes.
void SessionMachine::after_drain() {
    if (state_.phase == Phase::draining) {
        leaving_.put_back(Phase::leaving);
    } else if (is_leaving()) {
        return;
    } else if (state_.phase == Phase::idling_out && state_.idle.fire()) {
        leaving_.begin(state_.dead_letters ? CloseReason::dead_lettered : CloseReason::idle);
    } else if (state_.credit.phase() == CreditWindow::Phase::closed) {
        leaving_.begin(CloseReason::unresponsive);
    } else if (state_.phase == Phase::parked) {
        leaving_.put_back(Phase::parked);
    } else if (state_.phase == Phase::rewinding) {
        leaving_.put_back(Phase::putting_back);
    } else if (state_.phase == Phase::idling_out) {
        state_.phase = Phase::working; // a message came before the drain's answer (R3)
    }
    grant();
}

void SessionMachine::idle_out() {
    state_.phase = Phase::idling_out;
    if (!leaving_.drain()) {
        after_drain();
    }
}

// Leaving

void SessionMachine::leave(CloseReason reason) {
    leaving_.leave(reason);
    react();
}

void SessionMachine::link_lost(Errc code) {
    leaving_.lose(code == Errc::lock_lost ? CloseReason::lock_lost : CloseReason::connection_lost);
    react();
}

void SessionMachine::give_up() {
    leaving_.give_up();
    react();
}

void SessionMachine::all_taken_back() {
    book_.take_back_gathered();
    leaving_.all_taken_back();
    react();
}

// The lock

void SessionMachine::locked(TimePoint asked, ports::LockGrant grant) {
    lock_.locked(asked, grant);
    look_at_lock();
}

void SessionMachine::renewed(TimePoint asked, const core::Result<ports::LockGrant>& answer) {
    lock_.renewed(asked, answer);
    look_at_lock();
}

void SessionMachine::progressed() {
    state_.progress_at = state_.now;
    look_at_lock();
}

void SessionMachine::look_at_lock() {
    if (lock_.look(in_flight())) {
        leave(CloseReason::lock_lost);
    }
}

// Time

TimePoint SessionMachine::idle_at() const noexcept {
    const bool may_idle = state_.phase == Phase::working || state_.phase == Phase::idling_out;
    return may_idle ? state_.idle.due_at() : TimePoint::max();
}

TimePoint SessionMachine::retry_at() const noexcept {
    const bool may_retry = state_.phase <= Phase::working || state_.phase == Phase::idling_out;
    return may_retry ? book_.retry_at() : TimePoint::max();
}

TimePoint SessionMachine::next() const noexcept {
    if (state_.phase == Phase::finished) {
        return TimePoint::max();
    }
    return std::min({lock_.next(), state_.credit.drain_by(), book_.settlements_due(),
                     leaving_.close_by(), leaving_.leave_at(), state_.ask_at(), idle_at(),
                     retry_at(), book_.gather_by()});
}

void SessionMachine::due() {
    const TimePoint now = state_.now;
    book_.gather();
    look_at_lock();
    if (const auto reason = lock_.take_loss()) {
        leaving_.lose(*reason); // handlers that run keep the link until they return
        react();
    }
    if (now >= leaving_.close_by()) {
        book_.drop_link();
        leaving_.link_closed();
    } else if (book_.settlements_overdue()) {
        state_.add(Kind::report_silent);
        leaving_.lose(CloseReason::unresponsive);
        book_.drop_link();
    } else if (now >= state_.credit.drain_by()) {
        state_.credit.close();
        after_drain();
    }
    leaving_.due();
    react();
    if (now >= retry_at()) {
        state_.progress_at = now;
        book_.retries_due();
        react();
    }
    if (now >= state_.ask_at()) {
        state_.asked_ahead = leaving_.drain();
    }
    if (now >= idle_at()) {
        state_.idle.run_out();
        if (state_.phase == Phase::working) {
            idle_out();
        }
        react();
    }
}

void SessionMachine::limit_calls(std::uint32_t calls) {
    calls_ = calls;
    state_.fetch.limit_handled(window_half(calls, state_.terms.batch));
    if (!opening_call_ && state_.phase < Phase::closing_call) { // else on_session_open's end does
        state_.add(Kind::limit_lane, calls_);
    }
}

void SessionMachine::limit(const SessionLimits& limits) {
    state_.fetch.configure(limits.prefetch);
    if (!state_.dead_letters) { // else it leaves as soon as it is idle
        state_.limit_idleness(limits.idle_timeout);
    }
    grant();
}

} // namespace sessionq::processor

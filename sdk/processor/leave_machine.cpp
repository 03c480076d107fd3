// SPDX-License-Identifier: MIT
#include "processor/leave_machine.hpp"

#include <algorithm>

#include "core/backoff.hpp"
#include "processor/slot_machine.hpp"

namespace sessionq::processor {

LeaveMachine::LeaveMachine(SessionState& session, MessageBook& book) noexcept
    : session_{session}, book_{book}, delay_{session}, attempts_{session} {
    if (const Duration hold = session.terms.options.max_hold.value_or(Duration::zero());
        hold > Duration::zero()) {
        hold_until_ = session.now + hold;
    }
}

void LeaveMachine::opened() {
    opened_ = true;
    closes_ = session_.terms.has_close;
    session_.add(Kind::count_opened);
}

bool LeaveMachine::drain() {
    if (session_.credit.drain(session_.now + session_.terms.tuning.drain_timeout)) {
        session_.asked_at = session_.now;
        session_.add(Kind::drain);
    }
    return session_.credit.is_draining();
}

void LeaveMachine::park(TimePoint until, CloseReason reason) {
    if (session_.terms.parked.try_take()) {
        counted_in_ = &session_.terms.parked;
    }
    reason_ = reason;
    session_.phase = Phase::parked;
    parked_until_ = until;
    session_.add(Kind::pause_lane);
    if (!drain()) {
        put_back(Phase::parked);
    }
}

void LeaveMachine::open_failed(std::uint32_t failed_before) {
    session_.progress_at = session_.now;
    const Duration full = core::Backoff::at(session_.terms.options.error_backoff, failed_before);
    park(session_.now + core::Backoff::jittered(full, session_.terms.random),
         CloseReason::open_failed);
}

/// Parked because the session's record says so, or is about to.
void LeaveMachine::wait(TimePoint until) {
    if (session_.phase == Phase::parked) {
        parked_until_ = std::max(parked_until_, until);
    } else if (!session_.is_leaving()) {
        park(until, CloseReason::parked);
    }
    waits_ = session_.phase == Phase::parked;
}

void LeaveMachine::wait(const BookEffects& effects) {
    if (effects.examines != nullptr) {
        suspect_ = *effects.examines;
        if (delay_.examine()) {
            admit();
        }
    }
    if (effects.retries_at != TimePoint{}) {
        delay_.begin(effects.retries_at);
        wait(effects.retries_at);
    }
    if (effects.parks_until != TimePoint{} && session_.phase != Phase::parked) {
        park(effects.parks_until, CloseReason::parked);
    }
}

void LeaveMachine::examined(const core::Result<std::optional<Duration>>& delay) {
    if (!delay.ok()) {
        leave(CloseReason::unresponsive);
    } else if (const Duration left = delay_.answered(delay.value()); left != Duration::zero()) {
        wait(session_.now + left);
    } else if (!session_.is_leaving() && session_.phase != Phase::parked) {
        admit();
    }
}

/// What waited for the session's record may be handled, as far as that goes.
void LeaveMachine::admit() {
    switch (attempts_.admit(suspect_)) {
    case AttemptBook::Next::start: book_.examined(false); break;
    case AttemptBook::Next::wait: break;
    case AttemptBook::Next::out: book_.condemned(); break;
    }
}

void LeaveMachine::ended(const MessageMachine& message, const MessageEnd& end) {
    if (message.is_guarded() && ran(end.ending) && session_.usable()) {
        attempts_.ended(end);
    }
}

void LeaveMachine::came(Awaited what) {
    const bool works = !session_.is_leaving() && session_.phase != Phase::parked;
    switch (what) {
    case Awaited::delay_kept: delay_.written(); break;
    case Awaited::attempts_kept:
        if (attempts_.written() && works) {
            book_.examined(true);
        }
        break;
    case Awaited::turn:
        if (works) {
            attempts_.turn_came();
        }
        return;
    }
    let_back();
    step();
}

void LeaveMachine::let_back() {
    const bool is_due = session_.phase == Phase::parked ? took_back_ && waits_
                                                        : session_.phase == Phase::putting_back ||
                                                              session_.phase == Phase::leaving;
    const bool in_the_way = session_.terms.ordered && !session_.removes() && book_.handlers_run();
    const bool is_kept = is_writing() || in_the_way;
    if (is_due && (!is_kept || !session_.usable())) {
        book_.let_back();
    }
}

/// Where a settlement fails the session is left all the same.
bool LeaveMachine::only_settles() const noexcept {
    const bool rolls = session_.phase == Phase::working && session_.rolls();
    const bool leaves = session_.phase == Phase::leaving && !is_fault(reason_);
    return (rolls || leaves) && !closes_ && !session_.lost && book_.only_settles();
}

void LeaveMachine::give_up_seat() {
    if (session_.phase != Phase::parked) {
        if (counted_in_ != nullptr || !session_.terms.settling.try_take()) {
            return;
        }
        counted_in_ = &session_.terms.settling;
        seat_ = Seat::settling;
        session_.add(Kind::free_slot);
    } else if (counted_in_ != nullptr && took_back_ && !book_.handlers_run()) {
        seat_ = Seat::parked;
        session_.add(Kind::count_parked);
        session_.add(Kind::free_slot);
    }
}

TimePoint LeaveMachine::leave_at() const noexcept {
    if (session_.is_leaving()) {
        return TimePoint::max();
    }
    return session_.phase == Phase::parked ? parked_until_ : hold_until_;
}

void LeaveMachine::due() {
    if (session_.now >= leave_at()) {
        if (waits_ && session_.phase == Phase::parked) {
            delay_.end();
        }
        begin(session_.phase == Phase::parked ? reason_ : CloseReason::max_hold);
    }
}

void LeaveMachine::leave(CloseReason reason) {
    if (!session_.is_leaving()) {
        begin(reason);
    }
}

void LeaveMachine::begin(CloseReason reason) {
    reason_ = reason;
    if (!session_.removes()) {
        session_.add(Kind::pause_lane);
    }
    // What goes back before the drain's answer would come again on the credit that is left.
    session_.phase = Phase::draining;
    if (!drain()) {
        put_back(Phase::leaving);
    }
}

void LeaveMachine::put_back(Phase phase) {
    session_.phase = phase;
    if (session_.removes()) { // what arrived cannot go back: it is handled first
        book_.gather();
        all_taken_back();
    } else {
        session_.add(Kind::take_back);
        step();
    }
}

void LeaveMachine::all_taken_back() {
    took_back_ = took_back_ || session_.phase == Phase::parked;
    if (session_.phase == Phase::leaving && session_.lost && !book_.handlers_run()) {
        book_.drop_link();
    }
    let_back();
    step();
}

void LeaveMachine::go_on() {
    if (session_.usable() && (is_writing() || attempts_.tidy())) {
        return;
    }
    if (!closes_) {
        close();
        return;
    }
    session_.phase = Phase::closing_call;
    session_.add(Kind::run_close);
    book_.release_holds();
    session_.add(Kind::resume_lane);
}

void LeaveMachine::close_ended() {
    if (session_.phase == Phase::closing_call) {
        close();
    }
}

void LeaveMachine::close() {
    session_.idle.dispose();
    session_.phase = Phase::closing_link;
    if (!session_.lost) {
        close_by_ = session_.now + session_.terms.tuning.close_timeout;
        session_.add(Kind::close_link);
    }
    if (counted_in_ != nullptr) {
        counted_in_->release();
    }
    session_.add(Kind::let_go, opened_ ? 1U : 0U);
    if (seat_ == Seat::slot) {
        session_.add(Kind::free_slot);
    }
    if (session_.lost) {
        link_closed();
    }
}

void LeaveMachine::link_closed() {
    if (session_.phase == Phase::closing_link) {
        session_.phase = Phase::finished;
        attempts_.end_turn();
        session_.add(Kind::finish);
    }
}

void LeaveMachine::lose(CloseReason reason) {
    if (session_.usable()) {
        lose_lock(reason, 1);
    }
}

void LeaveMachine::give_up() {
    if (session_.usable()) {
        lose_lock(CloseReason::stopped, 0);
    }
    if (session_.phase != Phase::finished) {
        book_.drop_link();
    }
}

void LeaveMachine::lose_lock(CloseReason reason, std::uint32_t losses) {
    session_.lost = true;
    session_.credit.close();
    if (session_.phase == Phase::closing_link) {
        book_.drop_link();
        link_closed();
        return;
    }
    reason_ = reason;
    session_.add(Kind::lock_over, losses);
    if (session_.phase == Phase::closing_call) {
        book_.drop_link();
        return;
    }
    session_.phase = Phase::leaving;
    session_.add(Kind::pause_lane);
    session_.add(Kind::take_back);
}

} // namespace sessionq::processor

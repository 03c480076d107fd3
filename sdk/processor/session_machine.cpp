#include "processor/session_machine.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::processor {

SessionMachine::SessionMachine(const SessionTerms& terms, TimePoint now)
    : terms_{terms},
      idle_{terms.idle_timeout},
      credit_{terms.budget},
      book_{terms_, idle_, credit_},
      bounds_{terms.tuning},
      calls_{terms.calls},
      progress_at_{now} {
    if (terms.options.max_hold > Duration::zero()) {
        hold_until_ = now + terms.options.max_hold;
    }
}

// Opening

void SessionMachine::begin(TimePoint now, SessionActions& out) {
    if (phase_ != Phase::held_back) {
        return;
    }
    out.push_back({.kind = Kind::count_opened});
    opened_ = true;
    closes_ = terms_.has_close;
    opening_call_ = terms_.has_open;
    progress_at_ = now;
    phase_ = Phase::working;
    idle_.start(now);
    if (opening_call_) { // the clock does not run while on_session_open does
        phase_ = Phase::opening;
        idle_.begin();
        out.push_back({.kind = Kind::run_open});
    }
    grant(out);
    if (!opening_call_ && terms_.idle_timeout == Duration::zero()) {
        drain(now, out); // R4: ask at once whether there is anything
    }
}

void SessionMachine::open_ended(bool succeeded, TimePoint now, SessionActions& out) {
    if (!opening_call_) {
        return;
    }
    opening_call_ = false;
    book_.hold();
    idle_.end(now);
    out.push_back({.kind = Kind::limit_lane, .count = calls_});
    if (phase_ == Phase::opening && succeeded) {
        phase_ = Phase::working;
    } else if (phase_ == Phase::opening) {
        begin_leave(CloseReason::open_failed, now, out);
    }
    if (phase_ == Phase::working || (removes() && !lost_)) { // what waits may start, or must
        book_.release_holds(out);
    }
    step(now, out);
}

void SessionMachine::open_skipped(TimePoint now, SessionActions& out) {
    closes_ = false;
    opening_call_ = false;
    idle_.end(now);
    step(now, out);
}

// Messages

BookStance SessionMachine::stance() const noexcept {
    const bool rewinds = phase_ == Phase::rewinding || phase_ == Phase::putting_back;
    return {.usable = usable(),
            .leaving = is_leaving(),
            .keeps_holds = rewinds || (is_leaving() && !removes()),
            .parked = phase_ == Phase::parked};
}

void SessionMachine::arrived(MessageMachine& message, std::size_t bytes, bool removed,
                             TimePoint now, SessionActions& out) {
    using Arrival = MessageMachine::Arrival;
    const bool joins_the_rest =
        usable() && (phase_ == Phase::draining || (phase_ == Phase::leaving && removes()));
    Arrival arrival = dead_lettering_ ? Arrival::dead_letter : Arrival::enqueue;
    if (is_leaving() && !joins_the_rest) {
        arrival = usable() ? Arrival::release : Arrival::discard;
    } else if (in_flight() == 0) {
        progress_at_ = now;
    }
    had_messages_ = true;
    react(book_.arrived(message, arrival, bytes, removed, stance(), now, out), now, out);
}

void SessionMachine::decided(MessageMachine& message, ports::Outcome outcome, TimePoint now,
                             SessionActions& out) {
    react(book_.decided(message, outcome, calls_ == 1, stance(), now, out), now, out);
}

void SessionMachine::ended(MessageMachine& message, const MessageEnd& end, TimePoint now,
                           SessionActions& out) {
    note_progress(now);
    const BookEffects effects = book_.ended(message, end, stance(), now, out);
    if (lost_ && !book_.handlers_run()) { // the link was kept, not to give the session away early
        drop_link(now, out);
    }
    react(effects, now, out);
}

void SessionMachine::taken_back(MessageMachine& message, TimePoint now, SessionActions& out) {
    std::optional<Verdict> verdict;
    if (!lost_) { // else the broker has it
        verdict =
            dead_lettering_ && !is_leaving() ? Verdict::dead_letter_session : Verdict::release;
    }
    react(book_.taken_back(message, verdict, stance(), now, out), now, out);
}

void SessionMachine::all_taken_back(TimePoint now, SessionActions& out) {
    if (phase_ != Phase::putting_back && phase_ != Phase::leaving) {
        return;
    }
    if (lost_ && !book_.handlers_run()) {
        drop_link(now, out);
    }
    react(book_.let_back(stance(), now, out), now, out);
    step(now, out);
}

void SessionMachine::answered(MessageMachine& message, const Failure* failure, TimePoint now,
                              SessionActions& out) {
    bounds_.settlements_moved(now);
    react(book_.answered(message, failure == nullptr, stance(), now, out), now, out);
    if (failure != nullptr && failure->code == Errc::lock_lost) {
        lose_soon(CloseReason::lock_lost);
    } else if (failure != nullptr) { // what the broker thinks of the message is unknown
        leave(CloseReason::unresponsive, now, out);
    }
}

void SessionMachine::react(const BookEffects& effects, TimePoint now, SessionActions& out) {
    if (effects.began_settling) {
        bounds_.settlements_began(now);
    }
    if (effects.dead_letters) {
        dead_lettering_ = true;
        idle_.roll_at_once();
        out.push_back({.kind = Kind::take_back});
    }
    if (effects.turn_over) {
        leave(CloseReason::max_messages, now, out);
    }
    if (effects.parks_until != TimePoint{}) {
        park(effects.parks_until, now, out);
    }
    if (effects.rewinds) {
        rewind(now, out);
    }
    if (effects.gone) {
        if (phase_ == Phase::putting_back && in_flight() == 0) {
            phase_ = Phase::working; // all is back: the failed message is the next to come
            book_.release_holds(out);
        }
        grant(out);
        step(now, out);
    }
}

void SessionMachine::park(TimePoint until, TimePoint now, SessionActions& out) {
    if (phase_ == Phase::rewinding || phase_ == Phase::putting_back) {
        begin_leave(CloseReason::parked, now, out);
    } else if (phase_ != Phase::parked) {
        phase_ = Phase::parked;
        parked_until_ = until;
        out.push_back({.kind = Kind::pause_lane});
    }
}

/// While it is parked or drains, the failed message waits and goes back with the others.
void SessionMachine::rewind(TimePoint now, SessionActions& out) {
    if (phase_ == Phase::leaving) {
        put_back(Phase::leaving, now, out);
    } else if (phase_ <= Phase::working || phase_ == Phase::idling_out ||
               phase_ == Phase::putting_back) {
        phase_ = Phase::rewinding;
        if (!is_draining() && !drain(now, out)) {
            put_back(Phase::putting_back, now, out);
        }
    }
}

// Credit and idleness

void SessionMachine::grant(SessionActions& out) {
    const bool rolls = terms_.idle_timeout == Duration::zero() && credit_.shown_empty(); // R4
    if ((phase_ != Phase::opening && phase_ != Phase::working) || rolls) {
        return;
    }
    const std::uint32_t window = // what is not fetched cannot start
        book_.turn_window(CreditWindow::size(terms_.options.prefetch, calls_),
                          in_flight() + credit_.credit());
    if (const std::uint32_t count = credit_.grant(window, in_flight()); count != 0) {
        out.push_back({.kind = Kind::add_credit, .count = count});
    }
}

bool SessionMachine::drain(TimePoint now, SessionActions& out) {
    if (!credit_.drain()) {
        return false;
    }
    bounds_.drain_asked(now);
    out.push_back({.kind = Kind::drain});
    return true;
}

void SessionMachine::drained(TimePoint now, SessionActions& out) {
    credit_.drained();
    switch (phase_) {
    case Phase::working: grant(out); break;
    case Phase::idling_out: commit_idle(now, out); break;
    case Phase::rewinding: put_back(Phase::putting_back, now, out); break;
    case Phase::draining: put_back(Phase::leaving, now, out); break;
    default: break;
    }
}

/// The broker may still send: the link is of no more use. Closing it gives back what comes.
void SessionMachine::drain_overdue(TimePoint now, SessionActions& out) {
    credit_.close();
    switch (phase_) {
    case Phase::idling_out: commit_idle(now, out); break;
    case Phase::draining: put_back(Phase::leaving, now, out); break;
    default: begin_leave(CloseReason::unresponsive, now, out);
    }
}

void SessionMachine::idle_due(TimePoint now, SessionActions& out) {
    idle_.due();
    if (phase_ == Phase::working) {
        phase_ = Phase::idling_out;
        if (!is_draining() && !drain(now, out)) {
            commit_idle(now, out);
        }
    }
}

void SessionMachine::commit_idle(TimePoint now, SessionActions& out) {
    if (idle_.fire()) {
        begin_leave(dead_lettering_ ? CloseReason::dead_lettered : CloseReason::idle, now, out);
    } else if (credit_.phase() == CreditWindow::Phase::closed) {
        begin_leave(CloseReason::unresponsive, now, out);
    } else {
        phase_ = Phase::working; // a message came before the drain's answer: back to work (R3)
        grant(out);
    }
}

// Leaving

void SessionMachine::leave(CloseReason reason, TimePoint now, SessionActions& out) {
    if (!is_leaving()) {
        begin_leave(reason, now, out);
    }
}

void SessionMachine::begin_leave(CloseReason reason, TimePoint now, SessionActions& out) {
    reason_ = reason;
    if (!removes()) {
        out.push_back({.kind = Kind::pause_lane});
    }
    // What goes back before the drain's answer would come again on the credit that is left.
    phase_ = Phase::draining;
    if (!is_draining() && !drain(now, out)) {
        put_back(Phase::leaving, now, out);
    }
}

void SessionMachine::put_back(Phase phase, TimePoint now, SessionActions& out) {
    phase_ = phase;
    if (removes()) { // what arrived cannot go back: it is handled first
        all_taken_back(now, out);
    } else {
        out.push_back({.kind = Kind::take_back});
        step(now, out);
    }
}

/// Once nothing is in flight any more, on_session_close runs, and then the session is given back.
void SessionMachine::step(TimePoint now, SessionActions& out) {
    if (phase_ != Phase::leaving || idle_.in_flight() != 0) {
        return;
    }
    if (!closes_) {
        close(now, out);
        return;
    }
    phase_ = Phase::closing_call;
    out.push_back({.kind = Kind::run_close});
    book_.release_holds(out);
    out.push_back({.kind = Kind::resume_lane});
}

void SessionMachine::close_ended(TimePoint now, SessionActions& out) {
    if (phase_ == Phase::closing_call) {
        close(now, out);
    }
}

void SessionMachine::close(TimePoint now, SessionActions& out) {
    idle_.dispose();
    phase_ = Phase::closing_link;
    if (!lost_) {
        bounds_.close_asked(now);
        out.push_back({.kind = Kind::close_link});
    }
    out.push_back({.kind = Kind::leave_slot});
    if (lost_) {
        link_closed(out);
    }
}

void SessionMachine::link_closed(SessionActions& out) {
    if (phase_ == Phase::closing_link) {
        phase_ = Phase::finished;
        out.push_back({.kind = Kind::finish});
    }
}

void SessionMachine::lose(CloseReason reason, TimePoint now, SessionActions& out) {
    if (!usable()) {
        return;
    }
    if (phase_ < Phase::closing_link) {
        out.push_back({.kind = Kind::count_lost});
    }
    lose_lock(reason, now, out);
}

void SessionMachine::give_up(TimePoint now, SessionActions& out) {
    if (usable()) {
        lose_lock(CloseReason::stopped, now, out);
    }
    if (phase_ != Phase::finished) {
        drop_link(now, out);
    }
}

void SessionMachine::lose_lock(CloseReason reason, TimePoint now, SessionActions& out) {
    lost_ = true;
    credit_.close();
    if (phase_ == Phase::closing_link) {
        drop_link(now, out);
        link_closed(out);
        return;
    }
    reason_ = reason;
    out.push_back({.kind = Kind::lock_over});
    if (phase_ == Phase::closing_call) {
        drop_link(now, out);
        return;
    }
    phase_ = Phase::leaving;
    out.push_back({.kind = Kind::pause_lane});
    out.push_back({.kind = Kind::take_back});
}

void SessionMachine::drop_link(TimePoint now, SessionActions& out) {
    react(book_.drop_link(stance(), now, out), now, out);
}

// Time

AnswerBounds::Outstanding SessionMachine::outstanding() const noexcept {
    return {.drain = is_draining(),
            .settlements = book_.is_settling(),
            .close = phase_ == Phase::closing_link};
}

TimePoint SessionMachine::idle_at() const noexcept {
    const bool may_idle = phase_ == Phase::working || phase_ == Phase::idling_out;
    return may_idle ? idle_.at() : TimePoint::max();
}

TimePoint SessionMachine::retry_at() const noexcept {
    const bool may_retry = !is_leaving() && phase_ != Phase::parked;
    return may_retry ? book_.retry_at() : TimePoint::max();
}

TimePoint SessionMachine::next() const noexcept {
    if (phase_ == Phase::finished) {
        return TimePoint::max();
    }
    if (doom_) {
        return TimePoint{};
    }
    return std::min({bounds_.due(outstanding()), idle_at(), retry_at(),
                     is_leaving() ? TimePoint::max() : hold_until_,
                     phase_ == Phase::parked ? parked_until_ : TimePoint::max()});
}

void SessionMachine::due(TimePoint now, SessionActions& out) {
    if (const auto reason = std::exchange(doom_, std::nullopt)) {
        lose(*reason, now, out);
    }
    switch (bounds_.overdue(outstanding(), now)) {
    case AnswerBounds::Overdue::nothing: break;
    case AnswerBounds::Overdue::drain: drain_overdue(now, out); break;
    case AnswerBounds::Overdue::settlements:
        out.push_back({.kind = Kind::report_silent});
        lose(CloseReason::unresponsive, now, out);
        drop_link(now, out);
        break;
    case AnswerBounds::Overdue::close:
        drop_link(now, out);
        link_closed(out);
        break;
    }
    if (phase_ == Phase::parked && now >= parked_until_) {
        leave(CloseReason::parked, now, out);
    }
    if (now >= hold_until_) {
        leave(CloseReason::max_hold, now, out);
    }
    if (now >= retry_at()) {
        note_progress(now);
        react(book_.retries_due(stance(), now, out), now, out);
    }
    if (now >= idle_at()) {
        idle_due(now, out);
    }
}

bool SessionMachine::is_slow(TimePoint now) const noexcept {
    const Duration most = terms_.options.max_lock_renewal;
    return most > Duration::zero() && in_flight() != 0 && now - progress_at_ >= most;
}

void SessionMachine::limit_calls(std::uint32_t calls, SessionActions& out) {
    calls_ = calls;
    if (!opening_call_ && phase_ < Phase::closing_call) { // else once on_session_open has ended
        out.push_back({.kind = Kind::limit_lane, .count = calls_});
    }
}

} // namespace sessionq::processor

#include "processor/session_machine.hpp"

#include <utility>

namespace sessionq::processor {

SessionActions SessionMachine::opened() noexcept {
    SessionActions actions;
    opened_ = true;
    if (has_open_) {
        phase_ = Phase::opening;
        open_running_ = true;
        actions.run_open = true;
    }
    actions.grant_credit = true;
    return actions;
}

SessionActions SessionMachine::open_finished(bool succeeded) noexcept {
    open_running_ = false;
    SessionActions actions;
    if (phase_ == Phase::leaving) {
        actions.release_lane = handles_all_ && !lost_; // what waits behind it cannot go back
        step(actions);
        return actions;
    }
    if (!succeeded) {
        actions = begin_leave(CloseReason::open_failed);
        actions.release_lane = handles_all_;
        return actions;
    }
    phase_ = Phase::working;
    actions.release_lane = true;
    return actions;
}

SessionActions SessionMachine::open_skipped() noexcept {
    has_close_ = false;
    return open_finished(true);
}

SessionMachine::Arrival SessionMachine::delivered() noexcept {
    ++in_flight_;
    if (credit_ != 0) {
        --credit_;
    }
    shown_empty_ = false;
    if (is_leaving() &&
        !(phase_ == Phase::leaving && !lost_ && (handles_all_ || release_pending_))) {
        return Arrival::release;
    }
    return dead_lettering_ ? Arrival::dead_letter : Arrival::enqueue;
}

SessionActions SessionMachine::settled() noexcept {
    SessionActions actions;
    if (in_flight_ != 0) {
        --in_flight_;
    }
    switch (phase_) {
    case Phase::working: actions.grant_credit = true; break;
    case Phase::rewinding: finish_rewind(actions); break;
    case Phase::leaving: step(actions); break;
    default: break;
    }
    return actions;
}

SessionActions SessionMachine::idle_due() noexcept {
    SessionActions actions;
    if (phase_ != Phase::working) {
        return actions;
    }
    phase_ = Phase::idling_out;
    if (credit_ == 0 || drain_outstanding_) {
        actions.commit_idle = !drain_outstanding_;
    } else {
        actions.start_drain = true;
    }
    return actions;
}

SessionActions SessionMachine::idle_committed(bool committed) noexcept {
    if (committed) {
        return begin_leave(dead_lettering_ ? CloseReason::dead_lettered : CloseReason::idle);
    }
    if (drain_unanswered_) {
        return begin_leave(CloseReason::unresponsive);
    }
    phase_ = Phase::working; // a message came before the drain's answer: back to work (R3)
    return {.grant_credit = true};
}

SessionActions SessionMachine::drained() noexcept {
    drain_outstanding_ = false;
    shown_empty_ = credit_ != 0; // the broker gave credit back: it had nothing more
    credit_ = 0;
    SessionActions actions;
    switch (phase_) {
    case Phase::working: actions.grant_credit = true; break;
    case Phase::idling_out: actions.commit_idle = true; break;
    case Phase::rewinding: finish_rewind(actions); break;
    case Phase::leaving:
        release(actions);
        step(actions);
        break;
    default: break;
    }
    return actions;
}

SessionActions SessionMachine::drain_overdue() noexcept {
    if (!drain_outstanding_) {
        return {};
    }
    // The broker may still send: the link is of no more use. What comes is given back by closing it.
    drain_outstanding_ = false;
    drain_unanswered_ = true;
    credit_ = 0;
    if (phase_ == Phase::idling_out) {
        return {.commit_idle = true};
    }
    if (is_leaving()) {
        SessionActions actions;
        release(actions);
        step(actions);
        return actions;
    }
    return begin_leave(CloseReason::unresponsive);
}

SessionActions SessionMachine::rewind() noexcept {
    SessionActions actions;
    if (is_leaving()) { // after what was behind it
        actions.settle_failed = !release_pending_;
        return actions;
    }
    phase_ = Phase::rewinding;
    rewind_released_ = false;
    if (drain_outstanding_) {
        return actions;
    }
    if (credit_ != 0) {
        actions.start_drain = true;
    } else {
        finish_rewind(actions);
    }
    return actions;
}

void SessionMachine::finish_rewind(SessionActions& actions) noexcept {
    if (drain_outstanding_) {
        return;
    }
    if (!rewind_released_) {
        rewind_released_ = true;
        actions.release_waiting = true;
        actions.settle_failed = true;
        return;
    }
    if (in_flight_ ==
        0) { // all of it is back at the broker: the failed message is the next to come
        phase_ = Phase::working;
        actions.release_lane = true;
        actions.grant_credit = true;
    }
}

SessionActions SessionMachine::leave(CloseReason reason) noexcept {
    return is_leaving() ? SessionActions{} : begin_leave(reason);
}

SessionActions SessionMachine::dead_letter_rest() noexcept {
    dead_lettering_ = true;
    return {};
}

SessionActions SessionMachine::lost(CloseReason reason) noexcept {
    SessionActions actions;
    if (lost_ || phase_ == Phase::finished) {
        return actions;
    }
    lost_ = true;
    release_pending_ = false;
    drain_outstanding_ = false;
    credit_ = 0;
    if (phase_ == Phase::closing_link) {
        phase_ = Phase::finished;
        actions.finished = true;
        return actions;
    }
    reason_ = reason;
    actions.fire_stop = true;
    if (phase_ == Phase::closing_call) {
        return actions;
    }
    actions.pause_lane = true;
    actions.discard_waiting = true;
    phase_ = Phase::leaving;
    step(actions);
    return actions;
}

SessionActions SessionMachine::close_finished() noexcept {
    SessionActions actions;
    phase_ = Phase::closing_link;
    actions.close_link = true;
    return actions;
}

SessionActions SessionMachine::link_closed() noexcept {
    phase_ = Phase::finished;
    return {.finished = true};
}

bool SessionMachine::may_grant_credit() const noexcept {
    return (phase_ == Phase::opening || phase_ == Phase::working) && !drain_outstanding_ &&
           !lost_ && !(roll_when_empty_ && shown_empty_);
}

SessionActions SessionMachine::begin_leave(CloseReason reason) noexcept {
    SessionActions actions;
    reason_ = reason;
    phase_ = Phase::leaving;
    actions.pause_lane = !handles_all_;
    release_pending_ = true;
    if (!drain_outstanding_ && credit_ != 0) {
        actions.start_drain =
            true; // what goes back before the answer would come again on the credit that is left
    } else if (!drain_outstanding_) {
        release(actions);
        step(actions);
    }
    return actions;
}

void SessionMachine::release(SessionActions& actions) noexcept {
    if (!std::exchange(release_pending_, false)) {
        return;
    }
    actions.release_waiting = !handles_all_;
    actions.settle_failed =
        true; // one that waits for its next try goes back too, after what was behind it
}

void SessionMachine::step(SessionActions& actions) noexcept {
    if (phase_ != Phase::leaving || in_flight_ != 0 || drain_outstanding_ || open_running_) {
        return;
    }
    if (has_close_ && opened_) {
        phase_ = Phase::closing_call;
        actions.run_close = true;
        return;
    }
    phase_ = Phase::closing_link;
    actions.close_link = true;
}

} // namespace sessionq::processor

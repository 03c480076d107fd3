#include "processor/session_pump.hpp"

#include <algorithm>
#include <utility>

#include "core/log.hpp"
#include "processor/shard.hpp"
#include "timing/timer_service.hpp"

// What a pump does with the messages: what workers tell, failure policies, settling.

namespace sessionq::processor {

// What the workers tell

void SessionPump::settle_requested(MessageCall& call) {
    const bool waits_for_rewind = call.outcome() == ports::Outcome::abandon && strict();
    if (!call.sent && usable() && !waits_for_rewind) {
        send_settlement(call);
    }
}

void SessionPump::call_finished(MessageCall& call) {
    call.finished = true;
    --unfinished_;
    progress_at_ = shard_.loop().now();
    if (call.held_lane()) {
        ++holds_;
    }
    const bool unstarted = call.result() == CallResult::not_started;
    if (unstarted || shard_.options().max_lock_renewal > Duration::zero()) {
        drive_lease(); // it ends now, or was renewed meanwhile; or there is progress again, and a renewal that was held back is due
    }
    Counters& counters = shard_.shared().counters;
    switch (call.result()) {
    case CallResult::handled: Counters::add(counters.messages_handled); break;
    case CallResult::failed: Counters::add(counters.messages_failed); break;
    case CallResult::expired: Counters::add(counters.messages_expired); break;
    case CallResult::not_started: break;
    }
    if (call.result() == CallResult::handled || call.result() == CallResult::failed) {
        if (shard_.stopping()) {
            shard_.count_drained();
        }
    }
    if (call.result() == CallResult::failed) {
        report(ErrorSource::message_handler,
               {.code = Errc::handler_failed, .detail = call.failure_text()});
    }
    if (!usable()) {
        if (!call.sent) { // else the link answers for it, or is forgotten
            dispose(call);
        }
        if (unfinished_ == 0) {
            forget_link();
        }
        return;
    }
    switch (call.result()) {
    case CallResult::handled:
        count_turn();
        settle_as_decided(call);
        break;
    case CallResult::failed: call_failed(call); break;
    case CallResult::not_started:
        if (may_wait()) { // the lease goes on
            call.first_attempt_again(progress_at_);
            put_first(call);
            break;
        }
        shard_.count_released();
        settle(call, {.outcome = ports::Outcome::release});
        break;
    case CallResult::expired:
        if (shard_.options().expired_message == ExpiredMessageAction::dead_letter) {
            settle(call, {.outcome = ports::Outcome::dead_letter,
                          .dead_letter = {.reason = "DeadlinePassed"}});
        } else {
            settle(call, {.outcome = ports::Outcome::complete});
        }
        break;
    }
}

void SessionPump::call_failed(MessageCall& call) {
    const FailureDecision decision = decide_failure(shard_.options().failure_policy, call.attempt(),
                                                    may_wait(), shard_.random());
    const bool removed = call.settled_by_sender && decision.step != FailureDecision::Step::retry;
    if (call.decided() || removed) { // settled before it threw: that stands
        count_turn();
        settle_as_decided(call);
        return;
    }
    switch (decision.step) {
    case FailureDecision::Step::retry: retry(call, decision.delay); break;
    case FailureDecision::Step::abandon:
        count_turn();
        rewind(call);
        break;
    case FailureDecision::Step::dead_letter:
        count_turn();
        settle(call,
               {.outcome = ports::Outcome::dead_letter,
                .dead_letter = {.reason = "HandlerFailed", .description = call.failure_text()}});
        break;
    case FailureDecision::Step::park_session:
        if (!std::exchange(parked_, true)) {
            parked_until_ = progress_at_ + decision.delay;
        }
        lane_->pause();
        retry(call, decision.delay);
        break;
    case FailureDecision::Step::dead_letter_session: dead_letter_rest(call); break;
    }
}

/// As the handler decided, or completed.
void SessionPump::settle_as_decided(MessageCall& call) {
    if (call.decided() && call.outcome() == ports::Outcome::abandon && !call.sent &&
        !call.answered) {
        rewind(call);
    } else {
        settle(call, {.outcome = ports::Outcome::complete});
    }
}

void SessionPump::session_call_finished(const SessionCall& call) {
    const SessionCall::Kind kind = call.kind();
    const bool failed = call.failure() != nullptr;
    if (failed) {
        report(kind == SessionCall::Kind::open ? ErrorSource::session_open
                                               : ErrorSource::session_close,
               {.code = Errc::handler_failed, .detail = *call.failure()});
    }
    session_call_.reset();
    ++holds_;
    if (kind == SessionCall::Kind::close) {
        apply(machine_.close_finished());
        return;
    }
    if (auto arming = idle_.end(shard_.loop().now())) {
        arming_ = arming;
        restart_idle_clock();
    }
    apply(machine_.open_finished(!failed));
    lane_->set_max_calls(shard_.calls_per_session());
}

// Failure policies

void SessionPump::retry(MessageCall& call, Duration delay) {
    call.retry_at = shard_.loop().now() + delay;
    retrying_.push_back(call);
    arm_retry_timer();
}

void SessionPump::arm_retry_timer() {
    TimePoint due = parked_ ? parked_until_ : TimePoint::max();
    for (dispatch::Call* each = parked_ ? nullptr : retrying_.front(); each != nullptr;
         each = retrying_.next(*each)) {
        due = std::min(due, static_cast<MessageCall*>(each)->retry_at);
    }
    if (due == TimePoint::max()) {
        shard_.timers().cancel(retry_timer_);
    } else {
        shard_.timers().arm(retry_timer_, due);
    }
}

void SessionPump::on_retry_due() {
    if (parked_) {
        leave(CloseReason::parked);
        return;
    }
    const TimePoint now = shard_.loop().now();
    for (dispatch::Call* each = retrying_.front(); each != nullptr;) {
        auto& call = static_cast<MessageCall&>(*each);
        each = retrying_.next(*each);
        if (call.retry_at > now) {
            continue;
        }
        retrying_.remove(call);
        call.next_attempt(now);
        progress_at_ = now;
        if (call.held_lane()) {
            put_first(call);
        } else {
            ++unfinished_;
            lane_->push(call);
            shard_.touched();
        }
    }
    arm_retry_timer();
}

/// Back into the lane, before all others.
void SessionPump::put_first(MessageCall& call) {
    ++unfinished_;
    const bool held = call.held_lane();
    if (!held) {
        lane_->pause();
    }
    lane_->push_front(call);
    if (held) {
        release_hold();
    } else if (!parked_) {
        lane_->resume();
    }
    shard_.touched();
}

void SessionPump::rewind(MessageCall& call) {
    if (!call.held_lane()) { // several at once: no order to keep
        settle(call, {.outcome = ports::Outcome::abandon});
        return;
    }
    failed_.push_back(call); // several only after the calls were lowered to one
    apply(machine_.rewind());
}

void SessionPump::dead_letter_rest(MessageCall& call) {
    apply(machine_.dead_letter_rest());
    const std::string text = call.failure_text();
    settle(call, {.outcome = ports::Outcome::dead_letter,
                  .dead_letter = {.reason = "HandlerFailed", .description = text}});
    take_waiting([this](MessageCall& behind) {
        settle(behind, {.outcome = ports::Outcome::dead_letter,
                        .dead_letter = {.reason = "SessionDeadLettered"}});
    });
}

void SessionPump::settle_failed() {
    while (dispatch::Call* each = failed_.pop_front()) {
        settle(static_cast<MessageCall&>(*each), {.outcome = ports::Outcome::abandon});
    }
    while (dispatch::Call* each = retrying_.pop_front()) {
        settle(static_cast<MessageCall&>(*each), {.outcome = ports::Outcome::abandon});
    }
    shard_.timers().cancel(retry_timer_);
}

// Settling

void SessionPump::settle(MessageCall& call, ports::Settlement settlement) {
    if (call.settled_by_sender || call.answered) {
        if (call.finished) {
            release_lane(call);
            dispose(call);
        }
        return;
    }
    static_cast<void>(call.decide(std::move(settlement)));
    if (!usable()) {
        if (!call.sent) {
            dispose(call);
        }
        return;
    }
    if (!call.sent) {
        send_settlement(call);
    }
}

void SessionPump::send_settlement(MessageCall& call) {
    if (link_ == nullptr) {
        return;
    }
    call.sent = true;
    const bool first = unanswered_.empty();
    unanswered_.push_back(call);
    if (first) {
        bounds_.settlements_moved(shard_.loop().now());
        arm_guard();
    }
    link_->settle(call, call.take_settlement());
}

/// The message has left: nothing of it is in flight any more.
void SessionPump::dispose(MessageCall& call) {
    const ports::DeliveryPtr ended{&call};
    shard_.credit().gone(call.bytes);
    if (call.counted) {
        if (auto arming = idle_.end(shard_.loop().now())) {
            arming_ = arming;
            restart_idle_clock();
        }
    }
    apply(machine_.settled());
}

/// The message is settled: if its call held the lane, the next one may start. While rewinding that
/// is for `SessionMachine` to say.
void SessionPump::release_lane(MessageCall& call) {
    const bool stays_held = machine_.is_leaving() && !shard_.options().receive_and_delete;
    if (call.held_lane() && !stays_held && machine_.phase() != SessionMachine::Phase::rewinding) {
        release_hold();
    }
}

void SessionPump::release_hold() {
    if (holds_ != 0) {
        --holds_;
        lane_->release();
    }
}

template <typename Visit>
void SessionPump::take_waiting(Visit visit) {
    core::IntrusiveList<dispatch::Call, dispatch::Lane> waiting;
    lane_->take_back(waiting);
    while (dispatch::Call* each = waiting.pop_front()) {
        auto* call = dynamic_cast<MessageCall*>(each);
        if (call == nullptr) { // on_session_open, not started: it will not run
            session_call_.reset();
            static_cast<void>(idle_.end(shard_.loop().now()));
            apply(machine_.open_skipped());
            continue;
        }
        call->finished = true;
        --unfinished_;
        visit(*call);
    }
}

void SessionPump::release_waiting() {
    take_waiting([this](MessageCall& call) {
        shard_.count_released();
        settle(call, {.outcome = ports::Outcome::release});
    });
}

void SessionPump::discard_waiting() {
    take_waiting([this](MessageCall& call) { dispose(call); });
    while (dispatch::Call* each = failed_.pop_front()) {
        dispose(static_cast<MessageCall&>(*each));
    }
    while (dispatch::Call* each = retrying_.pop_front()) {
        dispose(static_cast<MessageCall&>(*each));
    }
}

void SessionPump::count_turn() {
    ++handled_;
    const std::uint32_t most = shard_.options().max_messages_per_turn;
    if (most != 0 && handled_ >= most) {
        leave(CloseReason::max_messages);
    }
}

} // namespace sessionq::processor

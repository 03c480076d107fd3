#include "processor/message_call.hpp"

#include <sessionq/operation_context.hpp>

#include "core/log.hpp"
#include "processor/exception_text.hpp"
#include "processor/session_pump.hpp"
#include "processor/shard.hpp"

namespace sessionq::processor {

std::unique_ptr<MessageCall> MessageCall::make(SessionPump& pump) {
    return std::unique_ptr<MessageCall>{::new (pump.shard().call_memory().take())
                                            MessageCall{pump}};
}

void MessageCall::operator delete(MessageCall* call, std::destroying_delete_t) noexcept {
    core::Recycler& memory = call->pump_->shard().call_memory();
    call->~MessageCall();
    memory.give_back(call);
}

dispatch::Verdict MessageCall::run() noexcept {
    const SharedState& shared = pump_->shard().shared();
    const TimePoint now = shared.environment.clock->now();
    if (now >= pump_->last_start()) {
        return conclude(CallResult::not_started);
    }
    if (message.shared_content()->deadline().passed(now) &&
        shared.options.expired_message != ExpiredMessageAction::handle) {
        return conclude(CallResult::expired);
    }
    if (ready_at != TimePoint{}) {
        pump_->shard().shared().counters.waited(now - ready_at);
    }
    std::exception_ptr error;
    {
        const OperationContext::Scope scope{OperationContext{deadline(), pump_->stop_token()}};
        try {
            if (!shared.handlers.message) {
                return start_asynchronous();
            }
            shared.handlers.message(context_);
        } catch (...) {
            error = std::current_exception();
        }
    }
    return conclude(keep(std::move(error)));
}

dispatch::Verdict MessageCall::start_asynchronous() {
    progress_.store(Progress::starting, std::memory_order_relaxed);
    std::exception_ptr error;
    try {
        pump_->shard().shared().handlers.start_message(
            context_, [this](std::exception_ptr thrown) { asynchronous_done(std::move(thrown)); });
    } catch (...) { // it never started: nobody will call back
        return conclude(keep(std::current_exception()));
    }
    Progress expected = Progress::starting;
    if (progress_.compare_exchange_strong(expected, Progress::waiting, std::memory_order_acq_rel)) {
        return dispatch::Verdict::suspended; // the call may be gone by now
    }
    return conclude(result_);
}

void MessageCall::asynchronous_done(std::exception_ptr error) noexcept {
    result_ = keep(std::move(error));
    if (progress_.exchange(Progress::ended, std::memory_order_acq_rel) == Progress::starting) {
        return; // within start_message: `start_asynchronous` concludes
    }
    dispatch::Lane& lane =
        pump_->lane(); // alive as long as the call is active, which it is until `finish_suspended`
    dispatch::Dispatcher dispatcher = *pump_->shard().shared().environment.dispatcher;
    const dispatch::Verdict verdict = conclude(result_);
    dispatcher.finish_suspended(lane, verdict);
}

CallResult MessageCall::keep(std::exception_ptr error) noexcept {
    if (!error) {
        return CallResult::handled;
    }
    failure_text_ = exception_text(error);
    return CallResult::failed;
}

dispatch::Verdict MessageCall::conclude(CallResult result) noexcept {
    result_ = result;
    const bool undecided = !decided();
    const bool goes_back = (result == CallResult::failed && undecided) ||
                           (!undecided && outcome_ == ports::Outcome::abandon);
    const bool unstarted = result == CallResult::not_started; // nothing may start before it
    const bool confirm = pump_->shard().options().confirm_settlements;
    held_lane_ = pump_->strict() && (confirm || unstarted || goes_back);
    const dispatch::Verdict verdict =
        held_lane_ ? dispatch::Verdict::hold : dispatch::Verdict::proceed;
    notify(finish_notice); // the loop may destroy the call from here on
    return verdict;
}

void MessageCall::settle(ports::Settlement settlement) {
    if (settled_by_sender) {
        throw Error{Errc::already_settled,
                    "messages received with receive_and_delete are not settled"};
    }
    if (settlement.outcome != ports::Outcome::complete &&
        settlement.outcome != ports::Outcome::abandon) {
        const ports::Capabilities& capabilities = pump_->shard().endpoint().capabilities();
        capabilities.require(settlement.outcome == ports::Outcome::defer
                                 ? ports::Capability::defer
                                 : ports::Capability::dead_letter);
    }
    const bool lost =
        !decided() && pump_->lease_over(pump_->shard().shared().environment.clock->now());
    if (lost || !decide(std::move(settlement))) {
        throw Error{lost ? Errc::lock_lost : Errc::already_settled,
                    "message of session '" + pump_->session_id() + "'"};
    }
    notify(settle_notice);
}

bool MessageCall::decide(ports::Settlement settlement) {
    Decision expected = Decision::open;
    if (!decision_.compare_exchange_strong(expected, Decision::deciding,
                                           std::memory_order_acq_rel)) {
        return false;
    }
    outcome_ = settlement.outcome;
    if (!settlement.dead_letter.reason.empty() || !settlement.dead_letter.description.empty() ||
        !settlement.properties_to_modify.empty()) {
        details_ = std::make_unique<ports::Settlement>(std::move(settlement));
    }
    decision_.store(Decision::made, std::memory_order_release);
    return true;
}

ports::Settlement MessageCall::take_settlement() {
    if (details_) {
        return std::move(*std::exchange(details_, nullptr));
    }
    return {.outcome = outcome_};
}

Deadline MessageCall::deadline() const noexcept {
    return pump_->lease_expires().sooner(message.shared_content()->deadline());
}

void MessageCall::next_attempt(TimePoint now) noexcept {
    ++attempt_;
    first_attempt_again(now);
}

void MessageCall::first_attempt_again(TimePoint now) noexcept {
    finished = false;
    ready_at = now;
}

void MessageCall::notify(std::uint8_t notice) noexcept {
    if (notices_.fetch_or(notice, std::memory_order_acq_rel) == 0) {
        pump_->shard().notify(*this);
    }
}

void MessageCall::noticed() {
    const std::uint8_t notices = notices_.exchange(0, std::memory_order_acq_rel);
    if ((notices & settle_notice) != 0 && (notices & finish_notice) == 0) {
        pump_->settle_requested(*this);
    }
    if ((notices & finish_notice) != 0) {
        pump_->call_finished(*this);
    }
}

} // namespace sessionq::processor

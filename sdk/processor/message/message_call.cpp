// SPDX-License-Identifier: MIT
#include "processor/message/message_call.hpp"

#include <algorithm>
#include <utility>

#include <sessionq/operation_context.hpp>

#include "core/log.hpp"
#include "core/trace_context.hpp"
#include "dispatch/turn_instant.hpp"
#include "processor/message/batch_call.hpp"
#include "processor/message/exception_text.hpp"
#include "processor/options_check.hpp"
#include "processor/session/session_driver.hpp"

namespace sessionq::detail::processor {
namespace {

/// Asks the application for the policy of a failure (`on_failure`). Called on a worker. Returns
/// null if the configured policy applies. If the application throws or returns an invalid policy,
/// reports that and returns null.
std::unique_ptr<FailurePolicy> choose_policy(const SessionView& session,
                                             const ReceivedMessage& message, std::uint32_t attempt,
                                             std::exception_ptr error) noexcept {
    const SharedState& shared = session.shared();
    if (!shared.handlers.failure) {
        return nullptr;
    }
    std::unique_ptr<FailurePolicy> chosen;
    Failure failure = exception_failure(error);
    try {
        const OperationContext::Scope scope{session.context(message.deadline())};
        chosen = std::make_unique<FailurePolicy>(
            shared.handlers.failure({.exception = std::move(error),
                                     .message = message,
                                     .entity = session.entity(),
                                     .session_id = session.session_id(),
                                     .attempt = attempt,
                                     .configured = shared.options.failure_policy,
                                     .failure = std::move(failure)}));
    } catch (...) {
        session.report(
            ErrorSource::failure_policy,
            {.code = Errc::handler_failed, .detail = exception_text(std::current_exception())},
            {.message = &message, .attempt = attempt});
        return nullptr;
    }
    try {
        check_failure_policy("on_failure", *chosen, shared.options,
                             session.workplace().endpoint.capabilities(), shared.scope);
    } catch (const Error& refused) {
        session.report(ErrorSource::failure_policy, refused.failure(),
                       {.message = &message, .attempt = attempt});
        return nullptr;
    }
    return chosen;
}

} // namespace

std::unique_ptr<MessageCall> MessageCall::make(SessionDriver& driver) {
    return std::unique_ptr<MessageCall>{::new (driver.view().workplace().call_memory.take())
                                            MessageCall{driver}};
}

void MessageCall::operator delete(MessageCall* call, std::destroying_delete_t) noexcept {
    core::Recycler& memory = call->driver_->view().workplace().call_memory;
    call->~MessageCall();
    memory.give_back(call);
}

dispatch::Verdict MessageCall::run() noexcept {
    SessionView& session = driver_->view();
    SharedState& shared = *session.workplace().shared;
    const TimePoint now = dispatch::TurnInstant::start(*shared.environment.clock);
    if (const auto unstarted =
            may_start(now, std::min(session.last_start(), ports::last_start(own_lock.get())),
                      message.deadline(), shared.options.expired_message,
                      session.examines() && !is_examined() && is_suspect())) {
        return leave_unstarted(*unstarted);
    }
    if (shared.handlers.take_batches()) {
        return BatchCall::handle(*this, now);
    }
    if (!session.begin(*this)) {
        return leave_unstarted(Ending::given_back);
    }
    spans = core::MessageSpans::handling(shared.environment.tracing, span_place(session), message);
    times.started = now;
    std::exception_ptr error;
    {
        const OperationContext::Scope scope{core::under_trace_of(message, operation_context())};
        const std::shared_ptr<void> entered = core::MessageSpans::enter(spans);
        try {
            if (!shared.handlers.message) {
                return start_late([this, &shared](Completion completion) {
                    shared.handlers.start_message(context_, std::move(completion));
                });
            }
            shared.handlers.message(context_);
        } catch (...) {
            error = std::current_exception();
        }
    }
    keep(std::move(error));
    return conclude();
}

HandledSession& MessageCall::session() const noexcept { return driver_->handled(); }

OperationContext MessageCall::operation_context() const {
    return core::MessageSpans::under(spans, own_lock == nullptr
                                                ? driver_->view().context(message.deadline())
                                                : own_lock->context(message.deadline()));
}

std::stop_token MessageCall::stop_token() const noexcept {
    return own_lock == nullptr ? driver_->view().stop_token() : own_lock->stop_token();
}

SessionView& MessageCall::session_view() const noexcept { return driver_->view(); }

dispatch::Verdict MessageCall::conclude() noexcept { return notify(finish_notice); }

void MessageCall::keep(std::exception_ptr error) noexcept {
    times.ended = dispatch::TurnInstant::end(*driver_->view().shared().environment.clock);
    end_.deliveries = message.delivery_count();
    error = thrown_or_stated(std::move(error));
    if (!error && is_unsettled(driver_->view().workplace().options().auto_complete, decided())) {
        error = to_exception(unsettled_failure());
    }
    if (end_with(error ? Ending::failed : Ending::handled)) {
        driver_->view().lane().hold(1);
    }
    if (!error) {
        core::MessageSpans::handled(spans, nullptr);
        return;
    }
    failed_ = std::make_unique<Failed>();
    failed_->text = exception_text(error);
    core::MessageSpans::handled(spans, &failed_->text);
    if (!end_.decision) {
        failed_->policy = choose_policy(driver_->view(), message, attempt(), std::move(error));
    }
    end_.policy = failed_->policy.get();
    end_.failure = &failed_->text;
}

std::exception_ptr MessageCall::thrown_or_stated(std::exception_ptr thrown) const noexcept {
    return thrown == nullptr && has_failure() ? failed_->stated : thrown;
}

bool MessageCall::end_with(Ending ending) noexcept {
    const SessionView& session = driver_->view();
    has_failure_.store(false, std::memory_order_relaxed); // the next try begins without
    end_.ending = ending;
    end_.decision = decided() ? std::optional{outcome_} : std::nullopt;
    // A lock that is too near its end for a start is not renewed any more.
    end_.lock_over = ports::has_ended(own_lock.get(), ending == Ending::not_started);
    end_.holds_lane = holds_lane(ending, end_.decision, session.ordered(),
                                 is_guarded() || session.workplace().options().confirm_settlements);
    return end_.holds_lane;
}

dispatch::Verdict MessageCall::leave_unstarted(Ending ending) noexcept {
    const SessionView& session = driver_->view();
    if (end_with(ending)) {
        session.lane().hold(1);
    }
    session.skip(*this);
    return notify(finish_notice);
}

void MessageCall::settle(ports::Settlement settlement) {
    const SessionView& session = driver_->view();
    if (settled_by_sender) {
        throw Error{Errc::already_settled,
                    "messages received with receive_and_delete are not settled"};
    }
    if (const auto needed = ports::capability_for(settlement.outcome)) {
        session.workplace().endpoint.capabilities().require(*needed);
    }
    const TimePoint now = session.workplace().shared->environment.clock->now();
    const bool lost = !decided() && (session.lock_over(now) || ports::is_over(own_lock.get(), now));
    if (lost || !decide(std::move(settlement))) {
        throw Error{lost ? Errc::lock_lost : Errc::already_settled,
                    "message of session '" + session.session_id() + "'"};
    }
    notify(settle_notice);
}

void MessageCall::fail(Failure failure) noexcept {
    if (has_failure_.exchange(true, std::memory_order_acq_rel)) {
        return;
    }
    end_.policy = nullptr; // they point into the failure of the last try
    end_.failure = nullptr;
    failed_ = std::make_unique<Failed>();
    failed_->stated = to_exception(std::move(failure));
}

bool MessageCall::begin_decision() noexcept {
    Decision expected = Decision::open;
    return decision_.compare_exchange_strong(expected, Decision::deciding,
                                             std::memory_order_acq_rel);
}

bool MessageCall::decide(ports::Outcome outcome) noexcept {
    if (!begin_decision()) {
        return false;
    }
    outcome_ = outcome;
    decision_.store(Decision::made, std::memory_order_release);
    return true;
}

bool MessageCall::decide(ports::Settlement&& settlement) {
    if (!begin_decision()) {
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

dispatch::Verdict MessageCall::notify(std::uint8_t notice) noexcept {
    if (notices_.fetch_or(notice, std::memory_order_acq_rel) == 0) {
        driver_->view().workplace().notify(*this);
    }
    return dispatch::Verdict::proceed;
}

void MessageCall::noticed() {
    const std::uint8_t notices = notices_.exchange(0, std::memory_order_acq_rel);
    if ((notices & settle_notice) != 0 && (notices & finish_notice) == 0) {
        driver_->feed(&SessionMachine::decided, *this, outcome_);
    }
    if ((notices & finish_notice) != 0) {
        driver_->view().workplace().meters.ran_once(times, end_.ending);
        driver_->ended(*this);
    }
}

} // namespace sessionq::detail::processor

// SPDX-License-Identifier: MIT
#include "client/testing/test_session.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>
#include <vector>

#include <sessionq/testing/fake_message.hpp>

#include "client/calls/operation.hpp"
#include "core/access.hpp"
#include "core/random.hpp"
#include "core/session_id.hpp"
#include "core/trace_context.hpp"
#include "processor/message/batch_machine.hpp"
#include "processor/message/exception_text.hpp"
#include "processor/message/failure_decision.hpp"
#include "processor/message/message_machine.hpp"
#include "processor/options_check.hpp"

namespace sessionq::detail::client {
namespace {

bool is_final(testing::Settlement::Outcome outcome) noexcept {
    using Outcome = testing::Settlement::Outcome;
    return outcome == Outcome::completed || outcome == Outcome::dead_lettered;
}

testing::Settlement::Outcome to_public(ports::Outcome outcome) noexcept {
    using To = testing::Settlement::Outcome;
    switch (outcome) {
    case ports::Outcome::complete: return To::completed;
    case ports::Outcome::abandon: return To::abandoned;
    case ports::Outcome::release: return To::released;
    case ports::Outcome::defer: return To::deferred;
    case ports::Outcome::dead_letter: return To::dead_lettered;
    }
    return To::completed;
}

testing::Settlement to_public(ports::Settlement&& settlement) {
    return {.outcome = to_public(settlement.outcome),
            .reason = std::move(settlement.dead_letter.reason),
            .description = std::move(settlement.dead_letter.description),
            .properties_to_modify = std::move(settlement.properties_to_modify)};
}

/// The settlement of a processor after a failure of the handler. Nothing: the message is tried
/// again in place.
std::optional<ports::Settlement> after_failure(const FailurePolicy& policy, std::uint32_t attempt,
                                               std::uint32_t deliveries,
                                               const std::exception_ptr& error) {
    core::Random random{0}; // of delays only
    const auto action =
        processor::decide_failure(policy, {.attempt = attempt, .deliveries = deliveries}, random)
            .action;
    if (!action) {
        return std::nullopt;
    }
    const bool dies = action == FailurePolicy::Action::dead_letter ||
                      action == FailurePolicy::Action::dead_letter_session;
    return processor::settlement_for(
        dies ? processor::dead_letter(processor::DeadLetterCause::handler_failed)
             : processor::Resolution{.outcome = ports::Outcome::abandon},
        processor::exception_text(error));
}

/// Runs a handler, and `end` with the exception that it throws, or with null.
template <typename Run, typename End>
void run_and_end(Run run, End end) {
    try {
        run();
    } catch (...) {
        end(std::current_exception());
        throw;
    }
    end(nullptr);
}

/// Throws the handler's exceptions. An empty handler does nothing.
template <typename... Args>
void run_to_end(const BasicHandler<Args...>& handler, const std::shared_ptr<TestSession>& session,
                std::type_identity_t<Args>... args) {
    if (Access::function(handler)) {
        Access::function(handler)(args...);
        return;
    }
    if (!Access::start(handler)) {
        return;
    }
    struct End {
        bool ended{false};
        std::exception_ptr error{};
    };
    const auto end = std::make_shared<End>();
    Completion completion{[end, session](std::exception_ptr error) {
        session->executor().post([end, error = std::move(error)] {
            end->error = error;
            end->ended = true;
        });
    }};
    Completion kept = Access::share(completion); // a start that throws has not dropped it
    try {
        Access::start(handler)(args..., std::move(completion));
    } catch (...) {
        if (Access::revoke(kept)) { // the handler never started
            throw;
        }
    }
    kept = {}; // if the handler has dropped its own, it ends here
    session->executor().run_until([&] { return end->ended; });
    if (end->error) {
        std::rethrow_exception(end->error);
    }
}

} // namespace

void TestBroker::begin_request() const {
    if (kept_.lost || kept_.fails) {
        throw Error{kept_.lost ? Errc::lock_lost : *kept_.fails, "the session of a test"};
    }
}

std::optional<std::string> TestBroker::read_state() const {
    const std::lock_guard lock{mutex_};
    begin_request();
    return kept_.state;
}

void TestBroker::write_state(std::optional<std::string> state) {
    const std::lock_guard lock{mutex_};
    begin_request();
    keep(std::move(state));
}

Deliveries TestBroker::receive_deferred(std::span<const std::int64_t> numbers, bool removes) {
    const std::lock_guard lock{mutex_};
    begin_request();
    Deliveries deliveries;
    for (const std::int64_t number : numbers) {
        const auto found = kept_.deferred.find(number);
        if (found == kept_.deferred.end() || found->second.held || found->second.gone) {
            throw Error{Errc::message_not_found,
                        "no deferred message has the sequence number " + std::to_string(number)};
        }
        auto held = std::make_unique<HeldDelivery>();
        held->message = found->second.message;
        held->port_tag = static_cast<std::uint64_t>(number);
        held->settled_by_sender = removes;
        deliveries.push_back(std::move(held));
    }
    for (const std::int64_t number : numbers) {
        Deferred& message = kept_.deferred[number];
        (removes ? message.gone : message.held) = true;
    }
    return deliveries;
}

void TestBroker::settle_deferred(std::int64_t number, testing::Settlement settlement) {
    const std::lock_guard lock{mutex_};
    begin_request();
    Deferred& message = kept_.deferred[number];
    message.held = false;
    message.gone = is_final(settlement.outcome);
    message.settlement = std::move(settlement);
}

void TestBroker::require_held() const {
    const std::lock_guard lock{mutex_};
    if (kept_.lost) {
        throw Error{Errc::lock_lost, "the session of a test"};
    }
}

bool TestBroker::is_held() const {
    const std::lock_guard lock{mutex_};
    return !kept_.lost;
}

void TestBroker::release() noexcept {
    const std::lock_guard lock{mutex_};
    kept_.released = true;
}

std::int64_t TestBroker::next_sequence() noexcept {
    const std::lock_guard lock{mutex_};
    return ++kept_.last_sequence;
}

void TestBroker::defer(ReceivedMessage message) {
    const std::lock_guard lock{mutex_};
    kept_.deferred[message.sequence_number()].message = std::move(message);
}

std::optional<testing::Settlement> TestBroker::settlement_of(std::int64_t number) const {
    const std::lock_guard lock{mutex_};
    const auto found = kept_.deferred.find(number);
    return found != kept_.deferred.end() ? found->second.settlement : std::nullopt;
}

std::optional<std::string> TestBroker::state() const {
    const std::lock_guard lock{mutex_};
    return kept_.state;
}

void TestBroker::set_state(std::optional<std::string> state) {
    const std::lock_guard lock{mutex_};
    keep(std::move(state));
}

void TestBroker::keep(std::optional<std::string> state) {
    kept_.state = state && state->empty() ? std::nullopt : std::move(state);
}

bool TestBroker::released() const {
    const std::lock_guard lock{mutex_};
    return kept_.released;
}

void TestBroker::lose() {
    const std::lock_guard lock{mutex_};
    kept_.lost = true;
}

void TestBroker::fail_requests(std::optional<Errc> why) {
    const std::lock_guard lock{mutex_};
    kept_.fails = why;
}

TestSession::TestSession(testing::FakeSessionOptions options)
    : options_{std::move(options)},
      broker_{options_.state},
      context_{Access::make<SessionContext>(static_cast<processor::HandledSession&>(*this))} {
    processor::check_options({.receive_and_delete = options_.receive_and_delete,
                              .auto_complete = options_.auto_complete,
                              .failure_policy = options_.failure_policy});
}

TestSession* TestSession::of(const SessionContext& session) noexcept {
    processor::HandledSession& held = *Access::session(session);
    return held.driver() == nullptr ? static_cast<TestSession*>(&held) : nullptr;
}

void TestSession::run(const SessionOpenHandler& handler) {
    const OperationContext::Scope scope{OperationContext{Deadline{}, stop_token()}};
    run_to_end(handler, shared_from_this(), context_);
}

void TestSession::run(const SessionCloseHandler& handler, CloseReason reason) {
    const OperationContext::Scope scope{OperationContext{Deadline{}, stop_token()}};
    run_to_end(handler, shared_from_this(), context_, reason);
}

std::optional<Operation<core::Done>> TestSession::settle(DeliveryPtr delivery,
                                                         ports::Settlement settlement,
                                                         const CallOptions& /*call*/) {
    broker_.settle_deferred(static_cast<std::int64_t>(delivery->port_tag),
                            to_public(std::move(settlement)));
    return std::nullopt;
}

Operation<Deadline> TestSession::renew_lock(const HeldDelivery& /*delivery*/,
                                            const CallOptions& /*call*/) {
    throw Error{Errc::not_supported, "the processor renews the locks of its sessions"};
}

ReceivedMessage to_received(Message message, const std::string& session_id, DeliveryFacts facts) {
    if (!message.session_id) {
        message.session_id = session_id;
    } else if (!core::is_same_session(*message.session_id, session_id)) {
        throw Error{Errc::invalid_argument, "the message is of session '" + *message.session_id +
                                                "', and the session is '" + session_id + "'"};
    }
    facts.deadline = facts.deadline.sooner(message.deadline);
    return {std::make_shared<const DecodedContent>(std::move(message)), std::move(facts)};
}

TestMessage::TestMessage(std::shared_ptr<TestSession> session, Message content, DeliveryFacts facts,
                         std::uint32_t attempt)
    : session_{std::move(session)},
      attempt_{attempt},
      context_{Access::make<MessageContext>(static_cast<processor::HandledMessage&>(*this))} {
    if (facts.sequence_number == 0) {
        facts.sequence_number = session_->broker().next_sequence();
    }
    message = to_received(std::move(content), session_->session_id(), std::move(facts));
    settled_by_sender = session_->removes();
}

void TestMessage::settle(ports::Settlement settlement) {
    if (settled_by_sender) {
        throw Error{Errc::already_settled,
                    "messages received with receive_and_delete are not settled"};
    }
    const std::lock_guard guard{mutex_};
    if (settlement_) {
        throw Error{Errc::already_settled, "message of a test"};
    }
    session_->require_held();
    settlement_ = client::to_public(std::move(settlement));
}

void TestMessage::fail(Failure failure) noexcept {
    const std::lock_guard guard{mutex_};
    if (!failure_) {
        failure_ = std::move(failure);
    }
}

void TestMessage::run(const MessageHandler& handler) {
    const OperationContext::Scope scope{core::under_trace_of(message, operation_context())};
    run_and_end([&] { run_to_end(handler, session_, context_); },
                [this](std::exception_ptr error) { end(std::move(error)); });
}

void TestMessage::end(std::exception_ptr error) {
    const std::lock_guard guard{mutex_};
    if (settlement_ || settled_by_sender || !session_->broker().is_held()) {
        return;
    }
    if (!error && failure_) {
        error = processor::to_exception(*failure_);
    }
    if (!error && processor::is_unsettled(session_->auto_complete(), false)) {
        error = processor::to_exception(processor::unsettled_failure());
    }
    auto settlement =
        error ? after_failure(session_->failure_policy(), attempt_, message.delivery_count(), error)
              : std::optional<ports::Settlement>{std::in_place};
    if (settlement) {
        settlement_ = client::to_public(*std::move(settlement));
        settlement_->decided_by = testing::Settlement::Decider::processor;
    }
}

void TestMessage::end(std::span<TestMessage* const> batch, const std::exception_ptr& error) {
    const auto open =
        std::ranges::find_if(batch, [](const auto* each) { return !each->decided(); });
    const bool failed =
        error != nullptr ||
        processor::is_unsettled(batch.front()->session_->auto_complete(), open == batch.end());
    const auto stated =
        error != nullptr ? batch.end() : std::ranges::find_if(batch, [](const auto* each) {
            return each->failure().has_value();
        });
    const processor::BatchMachine machine{batch.size(),
                                          static_cast<std::size_t>(open - batch.begin()), failed,
                                          static_cast<std::size_t>(stated - batch.begin())};
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (i == machine.failed()) {
            batch[i]->end(error);
        } else if (machine.ending(i, batch[i]->decided()) == processor::Ending::handled) {
            batch[i]->end(std::exception_ptr{});
        }
    }
}

void TestMessage::run(std::span<TestMessage* const> batch, const BatchHandler& handler) {
    if (batch.empty()) {
        throw Error{Errc::invalid_argument, "batch: it has no message"};
    }
    const std::shared_ptr<TestSession>& session = batch.front()->session_;
    std::vector<MessageContext> contexts;
    Deadline deadline;
    for (TestMessage* each : batch) {
        if (each->session_ != session) {
            throw Error{Errc::invalid_argument, "batch: its messages are of several sessions"};
        }
        deadline = deadline.sooner(each->message.deadline());
        contexts.push_back(Access::make<MessageContext>(*each));
    }
    const OperationContext::Scope scope{OperationContext{deadline, session->stop_token()}};
    run_and_end([&] { run_to_end(handler, session, contexts); },
                [batch](const std::exception_ptr& error) { end(batch, error); });
}

} // namespace sessionq::detail::client

namespace sessionq::inline v1::testing {

FakeSession::FakeSession(FakeSessionOptions options)
    : session_{std::make_shared<detail::client::TestSession>(std::move(options))} {}
FakeSession::~FakeSession() = default;
FakeSession::FakeSession(FakeSession&&) noexcept = default;
FakeSession& FakeSession::operator=(FakeSession&&) noexcept = default;

SessionContext& FakeSession::context() { return detail::client::Access::session(*this)->context(); }
void FakeSession::run(const SessionOpenHandler& handler) {
    detail::client::Access::session(*this)->run(handler);
}
void FakeSession::run(const SessionCloseHandler& handler, CloseReason reason) {
    detail::client::Access::session(*this)->run(handler, reason);
}
std::optional<std::string> FakeSession::state() const {
    return detail::client::Access::session(*this)->broker().state();
}
void FakeSession::set_state(std::optional<std::string> state) {
    detail::client::Access::session(*this)->broker().set_state(std::move(state));
}
bool FakeSession::released() const {
    return detail::client::Access::session(*this)->broker().released();
}
std::int64_t FakeSession::add_deferred(Message message) {
    const std::int64_t number = detail::client::Access::session(*this)->broker().next_sequence();
    detail::client::Access::session(*this)->broker().defer(detail::client::to_received(
        std::move(message), detail::client::Access::session(*this)->session_id(),
        {.sequence_number = number, .state = MessageState::deferred}));
    return number;
}
std::optional<Settlement> FakeSession::settlement_of(std::int64_t sequence_number) const {
    return detail::client::Access::session(*this)->broker().settlement_of(sequence_number);
}
void FakeSession::request_stop() { detail::client::Access::session(*this)->request_stop(); }
void FakeSession::lose_lock() {
    detail::client::Access::session(*this)->broker().lose();
    detail::client::Access::session(*this)->request_stop();
}
void FakeSession::fail_requests(std::optional<Errc> error) {
    detail::client::Access::session(*this)->broker().fail_requests(error);
}

FakeMessage::FakeMessage(FakeSession& session, Message message, DeliveryFacts facts,
                         std::uint32_t attempt)
    : message_{std::make_unique<detail::client::TestMessage>(
          detail::client::Access::session(session), std::move(message), std::move(facts),
          attempt)} {}
FakeMessage::~FakeMessage() = default;
FakeMessage::FakeMessage(FakeMessage&&) noexcept = default;
FakeMessage& FakeMessage::operator=(FakeMessage&&) noexcept = default;

MessageContext& FakeMessage::context() { return detail::client::Access::test(*this)->context(); }
const ReceivedMessage& FakeMessage::message() const {
    return detail::client::Access::test(*this)->message;
}
void FakeMessage::run(const MessageHandler& handler) {
    detail::client::Access::test(*this)->run(handler);
}
void FakeMessage::run_batch(std::span<FakeMessage> batch, const BatchHandler& handler) {
    std::vector<detail::client::TestMessage*> messages;
    messages.reserve(batch.size());
    for (const FakeMessage& each : batch) {
        messages.push_back(detail::client::Access::test(each).get());
    }
    detail::client::TestMessage::run(messages, handler);
}
std::optional<Settlement> FakeMessage::settlement() const {
    return detail::client::Access::test(*this)->settlement();
}
std::optional<Failure> FakeMessage::failure() const {
    return detail::client::Access::test(*this)->failure();
}

} // namespace sessionq::inline v1::testing

// SPDX-License-Identifier: MIT
#include "client/testing/test_message.hpp"

#include <utility>
#include <vector>

#include "core/access.hpp"
#include "core/session_id.hpp"
#include "core/trace_context.hpp"

namespace sessionq::client {
namespace {

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

template <typename Work>
void run_to_end(const BasicHandler<Work>& handler, const std::shared_ptr<TestSession>& session,
                Work work) {
    if (handler.function()) {
        handler.function()(work);
        return;
    }
    struct End {
        bool ended{false};
        std::exception_ptr error{};
    };
    const auto end = std::make_shared<End>();
    handler.start()(work, HandlerDone{[end, session](std::exception_ptr error) {
                        session->executor().post([end, error = std::move(error)] {
                            end->error = error;
                            end->ended = true;
                        });
                    }});
    session->executor().run_until([&] { return end->ended; });
    if (end->error) {
        std::rethrow_exception(end->error);
    }
}

} // namespace

testing::Settlement to_public(ports::Settlement&& settlement) {
    return {.outcome = to_public(settlement.outcome),
            .reason = std::move(settlement.dead_letter.reason),
            .description = std::move(settlement.dead_letter.description),
            .properties_to_modify = std::move(settlement.properties_to_modify)};
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

void TestMessage::run(const MessageHandler& handler) {
    const OperationContext::Scope scope{core::under_trace_of(message, operation_context())};
    run_to_end<MessageContext&>(handler, session_, context_);
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
    run_to_end<std::span<MessageContext>>(handler, session, contexts);
}

} // namespace sessionq::client

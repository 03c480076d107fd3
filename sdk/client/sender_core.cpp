#include "client/sender_core.hpp"

#include <sessionq/sender.hpp>

#include "client/blocking.hpp"
#include "client/check.hpp"
#include "client/endpoint_operation.hpp"
#include "client/message_id.hpp"
#include "core/access.hpp"
#include "core/trace_context.hpp"

namespace sessionq {
namespace client {
namespace {

/// The messages belong to the request with this deadline (R22), except for those that only become
/// available after it.
void shorten_deadlines(std::vector<Message>& messages, Deadline request) {
    for (Message& message : messages) {
        if (!message.scheduled_enqueue_time) {
            message.deadline = message.deadline.sooner(request);
        }
    }
}

/// The messages belong to the trace of the request.
void add_trace(std::vector<Message>& messages, const TraceContext* request) {
    if (request != nullptr) {
        for (Message& message : messages) {
            core::add_trace(*request, message.properties);
        }
    }
}

} // namespace

SenderCore::SenderCore(std::shared_ptr<ClientCore> client, std::string entity)
    : client_{std::move(client)}, entity_{std::move(entity)}, thread_{client_->next_thread()} {
    check_entity(entity_);
}

std::optional<Operation<SequenceNumbers>> SenderCore::operation(
    std::vector<Message> messages, std::optional<WallTime> when,
    const OperationContext& context) const {
    if (messages.empty()) {
        return std::nullopt;
    }
    if (when) {
        client_->capabilities().require(ports::Capability::schedule);
    }
    for (Message& message : messages) {
        if (when) {
            message.scheduled_enqueue_time = when;
        }
        check_message(message);
        if (message.message_id.empty()) {
            message.message_id = make_message_id();
        }
    }
    const OperationContext request_context = context.within(OperationContext::current());
    shorten_deadlines(messages, request_context.deadline());
    add_trace(messages, request_context.trace());
    ports::SendRequest request{.entity = entity_, .messages = std::move(messages)};
    return endpoint_operation<SequenceNumbers>(
        client_, thread_, context,
        [request = std::move(request)](ports::Endpoint& endpoint, Deadline deadline,
                                       auto answer_to) mutable {
            request.deadline = deadline;
            return endpoint.send(std::move(request), std::move(answer_to));
        });
}

PublicCall<core::Done> SenderCore::cancel_scheduled(SequenceNumbers sequence_numbers,
                                                    const OperationContext& context) const {
    if (sequence_numbers.empty()) {
        return {};
    }
    client_->capabilities().require(ports::Capability::cancel_scheduled);
    return {endpoint_operation<core::Done>(
        client_, thread_, context,
        [entity = entity_, numbers = std::move(sequence_numbers)](
            ports::Endpoint& endpoint, Deadline deadline, auto answer_to) mutable {
            return endpoint.cancel_scheduled(std::move(entity), std::move(numbers), deadline,
                                             std::move(answer_to));
        })};
}

std::vector<Message> SenderCore::batch_of(Message message) {
    std::vector<Message> messages;
    messages.push_back(std::move(message));
    return messages;
}

} // namespace client

Sender::Sender(const Client& client, std::string entity)
    : core_{std::make_shared<client::SenderCore>(client::Access::core(client), std::move(entity))} {
}

const std::string& Sender::entity() const noexcept { return core_->entity(); }

void Sender::send(Message message, const OperationContext& context) {
    send(client::SenderCore::batch_of(std::move(message)), context);
}

void Sender::send(std::vector<Message> messages, const OperationContext& context) {
    client::block(core_->send(std::move(messages), context));
}

std::int64_t Sender::schedule(Message message, WallTime when, const OperationContext& context) {
    return client::block(core_->schedule(std::move(message), when, context));
}

std::vector<std::int64_t> Sender::schedule(std::vector<Message> messages, WallTime when,
                                           const OperationContext& context) {
    return client::block(core_->schedule(std::move(messages), when, context));
}

void Sender::cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                              const OperationContext& context) {
    client::block(core_->cancel_scheduled(std::move(sequence_numbers), context));
}

} // namespace sessionq

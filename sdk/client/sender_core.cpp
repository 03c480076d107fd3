#include "client/sender_core.hpp"

#include <sessionq/sender.hpp>

#include "client/access.hpp"
#include "client/blocking.hpp"
#include "client/check.hpp"
#include "client/message_id.hpp"

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

} // namespace

SenderCore::SenderCore(std::shared_ptr<ClientCore> client, std::string entity)
    : client_{std::move(client)}, entity_{std::move(entity)}, thread_{client_->next_thread()} {
    check_entity(entity_);
}

Operation<std::vector<std::int64_t>> SenderCore::send(std::vector<Message> messages,
                                                      const OperationContext& context) const {
    for (Message& message : messages) {
        check_message(message);
        if (message.message_id.empty()) {
            message.message_id = make_message_id();
        }
    }
    shorten_deadlines(messages, context.within(OperationContext::current()).deadline());
    ports::SendRequest request{.entity = entity_, .messages = std::move(messages)};
    using Numbers = std::vector<std::int64_t>;
    return make_operation<Numbers>(
        client_, *thread_.thread, context,
        [&thread = thread_,
         request = std::move(request)](const PendingPtr<Numbers>& pending) mutable {
            request.deadline = pending->deadline();
            const auto id = thread.endpoint->send(std::move(request), AnswerTo<Numbers>{pending});
            pending->ask_port([&thread, id] { thread.endpoint->give_up(id); });
        });
}

Operation<std::vector<std::int64_t>> SenderCore::schedule(std::vector<Message> messages,
                                                          WallTime when,
                                                          const OperationContext& context) const {
    client_->capabilities().require(ports::Capability::schedule);
    for (Message& message : messages) {
        message.scheduled_enqueue_time = when;
    }
    return send(std::move(messages), context);
}

Operation<core::Done> SenderCore::cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                                                   const OperationContext& context) const {
    client_->capabilities().require(ports::Capability::cancel_scheduled);
    return make_operation<core::Done>(
        client_, *thread_.thread, context,
        [&thread = thread_, entity = entity_,
         numbers = std::move(sequence_numbers)](const PendingPtr<core::Done>& pending) mutable {
            const auto id = thread.endpoint->cancel_scheduled(std::move(entity), std::move(numbers),
                                                              pending->deadline(),
                                                              AnswerTo<core::Done>{pending});
            pending->ask_port([&thread, id] { thread.endpoint->give_up(id); });
        });
}

} // namespace client

Sender::Sender(const Client& client, std::string entity)
    : core_{std::make_shared<client::SenderCore>(client::Access::core(client), std::move(entity))} {
}

const std::string& Sender::entity() const noexcept { return core_->entity(); }

void Sender::send(Message message, const OperationContext& context) {
    std::vector<Message> messages;
    messages.push_back(std::move(message));
    send(std::move(messages), context);
}

void Sender::send(std::vector<Message> messages, const OperationContext& context) {
    if (!messages.empty()) {
        client::block(core_->send(std::move(messages), context));
    }
}

std::int64_t Sender::schedule(Message message, WallTime when, const OperationContext& context) {
    std::vector<Message> messages;
    messages.push_back(std::move(message));
    return schedule(std::move(messages), when, context).front();
}

std::vector<std::int64_t> Sender::schedule(std::vector<Message> messages, WallTime when,
                                           const OperationContext& context) {
    return messages.empty() ? std::vector<std::int64_t>{}
                            : client::block(core_->schedule(std::move(messages), when, context));
}

void Sender::cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                              const OperationContext& context) {
    if (!sequence_numbers.empty()) {
        client::block(core_->cancel_scheduled(std::move(sequence_numbers), context));
    }
}

} // namespace sessionq

// SPDX-License-Identifier: MIT
#include "client/sending/sender_core.hpp"

#include <algorithm>
#include <cstring>

#include <sessionq/sender.hpp>

#include "client/calls/blocking.hpp"
#include "client/calls/operation.hpp"
#include "client/check.hpp"
#include "client/sending/retrying_send.hpp"
#include "client/sending/send_span.hpp"
#include "core/access.hpp"
#include "core/as_result.hpp"
#include "core/random.hpp"
#include "core/trace_context.hpp"
#include "core/uuid.hpp"

namespace sessionq::detail::client {
namespace {

SenderOptions checked(const SenderOptions& options) {
    constexpr std::uint32_t most_tries = 1'000;
    require_option(options.max_attempts >= 1 && options.max_attempts <= most_tries,
                   "SenderOptions::max_attempts must be 1 to 1,000");
    require_option(options.backoff.min > Duration::zero(),
                   "SenderOptions::backoff.min must be over zero");
    require_option(options.backoff.max >= options.backoff.min,
                   "SenderOptions::backoff.max must be at least min");
    return options;
}

core::Random seeded() {
    const core::Uuid entropy = core::Uuid::make();
    std::uint64_t seed = 0;
    std::memcpy(&seed, entropy.bytes.data() + 8, sizeof seed);
    return core::Random{seed};
}

/// Returns a unique message id in the form of a UUID. This is cheap, because each thread asks for
/// entropy only once.
std::string make_message_id() {
    // Two generators with separate seeds, because 64 bits of state do not keep ids apart.
    thread_local core::Random high = seeded();
    thread_local core::Random low = seeded();
    core::Uuid id = core::Uuid::make(high);
    const core::Uuid other = core::Uuid::make(low);
    std::copy(other.bytes.begin() + 8, other.bytes.end(), id.bytes.begin() + 8);
    return id.to_string();
}

} // namespace

void complete_untraced(Message& message, const OperationContext& context) {
    if (message.message_id.empty()) {
        message.message_id = make_message_id();
    }
    if (!message.scheduled_enqueue_time) {
        message.deadline = message.deadline.sooner(context.deadline());
    }
}

void complete_message(Message& message, const OperationContext& context) {
    complete_untraced(message, context);
    if (context.trace() != nullptr) {
        core::add_trace(*context.trace(), message.properties);
    }
}

SenderCore::SenderCore(std::shared_ptr<ClientCore> client, std::string entity,
                       SenderOptions options)
    : client_{std::move(client)},
      entity_{std::move(entity)},
      options_{checked(options)},
      thread_{client_->next_thread()} {
    check_entity(entity_);
}

std::optional<Operation<SequenceNumbers>> SenderCore::operation(std::vector<Message> messages,
                                                                std::optional<WallTime> when,
                                                                const CallOptions& call) const {
    if (messages.empty()) {
        return std::nullopt;
    }
    if (when) {
        client_->capabilities().require(ports::Capability::schedule);
    }
    const OperationContext request_context = call.context.within(OperationContext::current());
    for (Message& message : messages) {
        if (when) {
            message.scheduled_enqueue_time = when;
        }
        check_message(message);
        complete_untraced(message, request_context);
    }
    core::OpenSpan span = begin_send(client_->tracing(), {entity_, when ? "schedule" : "send"},
                                     messages, request_context.trace());
    auto operation =
        perform({.entity = entity_, .messages = std::move(messages)}, when.has_value(), call);
    if (span.is_open()) {
        operation.span = std::make_shared<core::OpenSpan>(std::move(span));
    }
    return operation;
}

Operation<SequenceNumbers> SenderCore::perform(ports::SendRequest request, bool is_scheduled,
                                               const CallOptions& call) const {
    return options_.max_attempts > 1 ? retrying(std::move(request), is_scheduled, call)
                                     : single(std::move(request), call);
}

Operation<SequenceNumbers> SenderCore::single(ports::SendRequest request,
                                              const CallOptions& call) const {
    return endpoint_operation<SequenceNumbers>(
        client_, thread_, call,
        [&thread = thread_, request = std::move(request)](
            ports::Endpoint& endpoint, Deadline deadline, auto answer_to) mutable {
            request.deadline = deadline;
            auto measured =
                measured_send(*thread.meters, *thread.thread, request.size(), std::move(answer_to));
            return endpoint.send(std::move(request), std::move(measured));
        });
}

Operation<SequenceNumbers> SenderCore::retrying(ports::SendRequest request, bool is_scheduled,
                                                const CallOptions& call) const {
    SenderOptions options = options_;
    if (is_scheduled) {
        options.unknown_outcome = UnknownOutcome::fail;
    }
    return make_operation<SequenceNumbers>(
        client_, *thread_.thread, call,
        [&thread = thread_, options,
         request = std::move(request)](const PendingPtr<SequenceNumbers>& pending) mutable {
            request.deadline = pending->deadline();
            const auto seed = thread.thread->now().time_since_epoch().count();
            std::make_shared<RetryingSend>(*thread.endpoint, thread.tries, std::move(request),
                                           SendRetry{options, static_cast<std::uint64_t>(seed)},
                                           pending, *thread.meters)
                ->begin();
        });
}

PublicCall<ports::SendingLimit, MessageBatch> SenderCore::create_batch(
    std::uint64_t max_bytes, const CallOptions& call) const {
    return {endpoint_operation<ports::SendingLimit>(
                client_, thread_, call,
                [entity = entity_](ports::Endpoint& endpoint, Deadline deadline, auto answer_to) {
                    return endpoint.sending_limit(entity, deadline, std::move(answer_to));
                }),
            [entity = entity_, max_bytes,
             traced = client_->tracing() != nullptr](core::Result<ports::SendingLimit> answer) {
                const ports::SendingLimit limit = std::move(answer).take_or_throw();
                require_argument(limit.bytes == 0 || max_bytes <= limit.bytes,
                                 "max_bytes exceeds the limit of '" + entity + "', " +
                                     std::to_string(limit.bytes));
                return max_bytes != 0 ? Access::make<MessageBatch>(max_bytes, max_bytes,
                                                                   limit.beside_message, traced)
                                      : Access::make<MessageBatch>(limit.bytes, limit.message_bytes,
                                                                   limit.beside_message, traced);
            }};
}

PublicCall<core::Done> SenderCore::cancel_scheduled(SequenceNumbers sequence_numbers,
                                                    const CallOptions& call) const {
    if (sequence_numbers.empty()) {
        return {};
    }
    client_->capabilities().require(ports::Capability::cancel_scheduled);
    return {endpoint_operation<core::Done>(
        client_, thread_, call,
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

} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

Sender::Sender(const Client& client, std::string entity, SenderOptions options)
    : core_{std::make_shared<detail::client::SenderCore>(detail::client::Access::core(client),
                                                         std::move(entity), options)} {}

const std::string& Sender::entity() const { return detail::client::Access::core(*this)->entity(); }

void Sender::send(Message message, const CallOptions& call) const {
    send_all(detail::client::SenderCore::batch_of(std::move(message)), call);
}

void Sender::send_all(std::vector<Message>&& messages, const CallOptions& call) const {
    detail::client::block(detail::client::Access::core(*this)->send(std::move(messages), call));
}

void Sender::send_all(std::span<const Message> messages, const CallOptions& call) const {
    send_all(std::vector<Message>{messages.begin(), messages.end()}, call);
}

void Sender::send(MessageBatch&& batch, const CallOptions& call) const {
    send_all(detail::client::Access::take_messages(std::move(batch)), call);
}

void Sender::send(const MessageBatch& batch, const CallOptions& call) const {
    send(MessageBatch{batch}, call);
}

MessageBatch Sender::create_batch(std::uint64_t max_bytes, const CallOptions& call) const {
    return detail::client::block(
        detail::client::Access::core(*this)->create_batch(max_bytes, call));
}

std::int64_t Sender::schedule(Message message, WallTime when, const CallOptions& call) const {
    return detail::client::block(
        detail::client::Access::core(*this)->schedule(std::move(message), when, call));
}

std::vector<std::int64_t> Sender::schedule_all(std::vector<Message> messages, WallTime when,
                                               const CallOptions& call) const {
    return detail::client::block(
        detail::client::Access::core(*this)->schedule(std::move(messages), when, call));
}

void Sender::cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                              const CallOptions& call) const {
    detail::client::block(
        detail::client::Access::core(*this)->cancel_scheduled(std::move(sequence_numbers), call));
}

Result<Sender> Sender::try_make(const Client& client, std::string entity,
                                SenderOptions options) noexcept {
    return core::as_result([&] { return Sender{client, std::move(entity), options}; });
}

Result<void> Sender::try_send(Message message, const CallOptions& call) const noexcept {
    return core::as_result([&] { send(std::move(message), call); });
}

Result<void> Sender::try_send_all(std::span<const Message> messages,
                                  const CallOptions& call) const noexcept {
    return core::as_result([&] { send_all(messages, call); });
}

Result<void> Sender::try_send_all(std::vector<Message>&& messages,
                                  const CallOptions& call) const noexcept {
    return core::as_result([&] { send_all(std::move(messages), call); });
}

Result<void> Sender::try_send(const MessageBatch& batch, const CallOptions& call) const noexcept {
    return core::as_result([&] { send(batch, call); });
}

Result<void> Sender::try_send(MessageBatch&& batch, const CallOptions& call) const noexcept {
    return core::as_result([&] { send(std::move(batch), call); });
}

Result<MessageBatch> Sender::try_create_batch(std::uint64_t max_bytes,
                                              const CallOptions& call) const noexcept {
    return core::as_result([&] { return create_batch(max_bytes, call); });
}

Result<std::int64_t> Sender::try_schedule(Message message, WallTime when,
                                          const CallOptions& call) const noexcept {
    return core::as_result([&] { return schedule(std::move(message), when, call); });
}

Result<std::vector<std::int64_t>> Sender::try_schedule_all(std::vector<Message> messages,
                                                           WallTime when,
                                                           const CallOptions& call) const noexcept {
    return core::as_result([&] { return schedule_all(std::move(messages), when, call); });
}

Result<void> Sender::try_cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                                          const CallOptions& call) const noexcept {
    return core::as_result([&] { cancel_scheduled(std::move(sequence_numbers), call); });
}

} // namespace sessionq::inline v1

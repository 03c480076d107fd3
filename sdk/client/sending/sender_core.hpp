// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/message_batch.hpp>
#include <sessionq/sender_options.hpp>

#include "client/calls/operation.hpp"

namespace sessionq::detail::client {

using SequenceNumbers = std::vector<std::int64_t>;

/// Completes a valid message: adds an id, and the deadline and trace of its request from `context`.
/// A scheduled message does not get the request's deadline, because it becomes available after the
/// request (R22).
void complete_message(Message& message, const OperationContext& context);
/// Completes a message as `complete_message` does, but adds no trace. `begin_send` adds it later.
void complete_untraced(Message& message, const OperationContext& context);

/// Makes the calls of a `Sender`. All copies of the sender share one core. The core checks each
/// message on the caller's thread, and adds the id, the deadline and the trace. It holds the
/// entity, the options, and the receive thread that runs all its requests. Thread-safe.
class SenderCore {
public:
    SenderCore(std::shared_ptr<ClientCore> client, std::string entity, SenderOptions options);

    [[nodiscard]] const std::string& entity() const noexcept { return entity_; }

    [[nodiscard]] auto send(std::vector<Message> messages, const CallOptions& call) const {
        return PublicCall<SequenceNumbers, void>{operation(std::move(messages), {}, call)};
    }
    /// Sends contents unchanged: nothing is checked or added, and there is no span.
    [[nodiscard]] auto send(std::vector<MessageContentPtr> contents,
                            const CallOptions& call) const {
        return PublicCall<SequenceNumbers, void>{
            perform({.entity = entity_, .contents = std::move(contents)}, false, call)};
    }
    [[nodiscard]] auto schedule(std::vector<Message> messages, WallTime when,
                                const CallOptions& call) const {
        return PublicCall<SequenceNumbers>{operation(std::move(messages), when, call)};
    }
    [[nodiscard]] auto schedule(Message message, WallTime when, const CallOptions& call) const {
        return PublicCall<SequenceNumbers, std::int64_t>{
            operation(batch_of(std::move(message)), when, call),
            [](auto numbers) { return std::move(numbers).take_or_throw().front(); }};
    }
    [[nodiscard]] PublicCall<ports::SendingLimit, MessageBatch> create_batch(
        std::uint64_t max_bytes, const CallOptions& call) const;
    [[nodiscard]] PublicCall<core::Done> cancel_scheduled(SequenceNumbers sequence_numbers,
                                                          const CallOptions& call) const;

    [[nodiscard]] static std::vector<Message> batch_of(Message message);

private:
    [[nodiscard]] Operation<SequenceNumbers> perform(ports::SendRequest request, bool is_scheduled,
                                                     const CallOptions& call) const;
    [[nodiscard]] Operation<SequenceNumbers> single(ports::SendRequest request,
                                                    const CallOptions& call) const;
    [[nodiscard]] Operation<SequenceNumbers> retrying(ports::SendRequest request, bool is_scheduled,
                                                      const CallOptions& call) const;
    /// Sends the messages, or schedules them for `when` if it is set. Throws if a message is
    /// invalid, and then sends none. Returns nothing if there are no messages.
    [[nodiscard]] std::optional<Operation<SequenceNumbers>> operation(
        std::vector<Message> messages, std::optional<WallTime> when, const CallOptions& call) const;

    const std::shared_ptr<ClientCore> client_;
    const std::string entity_;
    const SenderOptions options_;
    EndpointThread& thread_;
};

} // namespace sessionq::detail::client

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sessionq/call_options.hpp>
#include <sessionq/client.hpp>
#include <sessionq/message.hpp>
#include <sessionq/message_batch.hpp>
#include <sessionq/result.hpp>
#include <sessionq/sender_options.hpp>

namespace sessionq::detail::client {
class SenderCore;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// Sends messages to one entity, a queue or a topic. A shared handle: cheap to copy. It keeps its
/// client alive.
///
/// Example:
///
///     const Sender orders{client, "orders"};
///     orders.send(Message::of("placed").in_session("ada"));
///     orders.send({.body = "paid", .session_id = "ada", .message_id = "ada-2"});
///
/// Blocking: every function waits for the broker's answer, until the deadline of the call
/// (`CallOptions`).
///
/// Deadlines: a message carries the time that is left until the deadline of the context that it is
/// sent in (`CallOptions::context` combined with the ambient one). If its own deadline is earlier,
/// it carries that one. Processors do not handle the message after that
/// (`SessionProcessorOptions::expired_message`). A message does not carry the timeout of the call.
/// A scheduled message carries only its own deadline. For work that goes on when the request is
/// over, send in an `OperationContext::DetachedScope`.
///
/// Traces: every message, also a scheduled one, carries the trace context in scope
/// (`TraceContext`). `ReceivedMessage::properties` then has the properties `traceparent`,
/// `tracestate` and `Diagnostic-Id`. If the application has set one of these properties, the sender
/// leaves the message as it is.
///
/// Retrying: after `timeout`, `cancelled` or `connection_lost` the broker may have carried out the
/// operation although its answer is missing (`Error::outcome_unknown`). `SenderOptions` says when
/// it is safe to send a message again. With it, the sender can retry by itself.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for assignment. Messages of one thread keep their order. Messages
/// of several threads have no order.
class Sender {
public:
    /// Sends nothing yet. The first operation shows whether the entity exists.
    /// Errors: invalid_argument (`entity` must have 1 to 260 characters), invalid_option (names the
    /// member).
    Sender(const Client& client, std::string entity, SenderOptions options = {});

    [[nodiscard]] const std::string& entity() const;

    /// Sends one message.
    /// Errors: the broker's (see `Errc`), message_too_large. An invalid field of the message is
    /// invalid_argument, naming the field, before anything is sent.
    void send(Message message, const CallOptions& call = {}) const;

    /// Sends all messages, in order. Does not change them. Without messages it returns at once.
    ///
    /// All or none: the local broker, `sessionqd` and Azure Service Bus take all messages or none.
    /// Brokers of message groups take each message by itself.
    ///
    /// Size: together the messages must not exceed the entity's limit of a batch, or none is sent.
    /// Azure Service Bus and the local broker take batches of up to the entity's message size, and
    /// of at most 1 MB (azure-sdk-for-net#25381). `sessionqd` counts 384 bytes more for each
    /// message of a batch, and takes at most 6 MiB.
    ///
    /// Errors: the broker's (see `Errc`), message_too_large (the batch exceeds a limit),
    /// invalid_argument (names the invalid field; nothing was sent).
    void send_all(std::span<const Message> messages, const CallOptions& call = {}) const;
    /// Sends all messages, in order, without copying them. `messages` is empty after the call, also
    /// if the call failed. Without messages it returns at once. `send_all(std::span<const
    /// Message>)` explains the size limits and which brokers take all or none.
    /// Errors: the broker's (see `Errc`), message_too_large (the batch exceeds a limit),
    /// invalid_argument (names the invalid field; nothing was sent).
    void send_all(std::vector<Message>&& messages, const CallOptions& call = {}) const;

    /// Sends the messages of a batch, in order. Does not change the batch, so you can send it again
    /// after a failure. An empty batch sends nothing. The local broker, `sessionqd` and Azure
    /// Service Bus take all messages or none. Brokers of message groups take each message by
    /// itself.
    /// Errors: the broker's (see `Errc`), message_too_large.
    void send(const MessageBatch& batch, const CallOptions& call = {}) const;
    /// Sends the messages of a batch, in order, without copying them. The batch is empty after the
    /// call, also if the call failed. You may fill it again. An empty batch sends nothing. The
    /// local broker, `sessionqd` and Azure Service Bus take all messages or none. Brokers of
    /// message groups take each message by itself.
    /// Errors: the broker's (see `Errc`), message_too_large.
    void send(MessageBatch&& batch, const CallOptions& call = {}) const;

    /// Asks the broker for the entity's limit of a batch, and makes an empty batch with that limit.
    /// `max_bytes`: a smaller limit. Range: up to the entity's limit. Zero: the entity's limit.
    /// Default 0.
    /// Errors: the broker's (see `Errc`), invalid_argument (`max_bytes` exceeds the entity's limit
    /// of a batch).
    [[nodiscard]] MessageBatch create_batch(std::uint64_t max_bytes = 0,
                                            const CallOptions& call = {}) const;

    /// Sends a message that becomes available at `when`, or at once if that is in the past. Returns
    /// the sequence number for `cancel_scheduled`. Returns 0 if the broker tells no number. Such a
    /// message cannot be cancelled.
    /// Errors: the broker's (see `Errc`), message_too_large, not_supported (the broker cannot
    /// schedule), invalid_argument (names the invalid field; nothing was sent).
    std::int64_t schedule(Message message, WallTime when, const CallOptions& call = {}) const;

    /// Sends several messages that become available at `when`, or at once if that is in the past.
    /// Sends all or none. Returns their sequence numbers for `cancel_scheduled`, in the order of
    /// the messages. Without messages it returns at once.
    /// Errors: the broker's (see `Errc`), message_too_large, not_supported (the broker cannot
    /// schedule), invalid_argument (names the invalid field; nothing was sent).
    std::vector<std::int64_t> schedule_all(std::vector<Message> messages, WallTime when,
                                           const CallOptions& call = {}) const;

    /// Cancels scheduled messages, all or none. Without numbers it returns at once.
    /// Errors: the broker's (see `Errc`), message_not_found (a message is due already, or a number
    /// is unknown), not_supported (the broker cannot cancel).
    void cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                          const CallOptions& call = {}) const;

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Makes a sender. Sends nothing yet. Does what the constructor does, and returns the failure
    /// instead of throwing it.
    static Result<Sender> try_make(const Client& client, std::string entity,
                                   SenderOptions options = {}) noexcept;

    /// Sends one message. Does what `send` does, and returns the failure instead of throwing it.
    Result<void> try_send(Message message, const CallOptions& call = {}) const noexcept;

    /// Sends all messages, in order, and does not change them. Does what `send_all` does, and
    /// returns the failure instead of throwing it.
    Result<void> try_send_all(std::span<const Message> messages,
                              const CallOptions& call = {}) const noexcept;
    /// Sends all messages, in order, without copying them. `messages` is empty after the call, also
    /// if it failed. Does what `send_all` does, and returns the failure instead of throwing it.
    Result<void> try_send_all(std::vector<Message>&& messages,
                              const CallOptions& call = {}) const noexcept;

    /// Sends the messages of a batch, in order, and does not change it. Does what `send` does, and
    /// returns the failure instead of throwing it.
    Result<void> try_send(const MessageBatch& batch, const CallOptions& call = {}) const noexcept;
    /// Sends the messages of a batch, in order, without copying them. The batch is empty after the
    /// call, also if it failed. Does what `send` does, and returns the failure instead of throwing
    /// it.
    Result<void> try_send(MessageBatch&& batch, const CallOptions& call = {}) const noexcept;

    /// Makes an empty batch with the entity's limit, or with the smaller limit `max_bytes`. Does
    /// what `create_batch` does, and returns the failure instead of throwing it.
    Result<MessageBatch> try_create_batch(std::uint64_t max_bytes = 0,
                                          const CallOptions& call = {}) const noexcept;

    /// Sends a message that becomes available at `when`, and returns its sequence number, or 0 if
    /// the broker tells none. Does what `schedule` does, and returns the failure instead of
    /// throwing it.
    Result<std::int64_t> try_schedule(Message message, WallTime when,
                                      const CallOptions& call = {}) const noexcept;

    /// Sends several messages that become available at `when`, all or none, and returns their
    /// sequence numbers in their order. Does what `schedule_all` does, and returns the failure
    /// instead of throwing it.
    Result<std::vector<std::int64_t>> try_schedule_all(std::vector<Message> messages, WallTime when,
                                                       const CallOptions& call = {}) const noexcept;

    /// Cancels scheduled messages, all or none. Does what `cancel_scheduled` does, and returns the
    /// failure instead of throwing it.
    Result<void> try_cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                                      const CallOptions& call = {}) const noexcept;

private:
    friend struct detail::client::Access;

    std::shared_ptr<detail::client::SenderCore> core_;
};

} // namespace sessionq::inline v1

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
#include <sessionq/sender_options.hpp>

namespace sessionq {

namespace client {
class SenderCore;
} // namespace client

/// Sends messages to one entity, a queue or a topic. A shared handle: cheap to copy. It keeps its
/// client alive.
///
/// Example:
///
///     const Sender orders{client, "orders"};
///     orders.send(Message::text("ada", "placed"));
///     orders.send({.body = "paid", .session_id = "ada", .message_id = "ada-2"});
///
/// Blocking: every function waits for the broker's answer, until the deadline of the call
/// (`CallOptions`).
///
/// Deadlines: a message belongs to the request that it is sent in. It carries the time left until
/// the deadline of its context (`CallOptions::context`, or the ambient one), or until its own if
/// that is sooner. Processors do not handle it after that (`ProcessorOptions::expired_message`). A
/// timeout of the call does not travel. A scheduled message carries only its own deadline. For work
/// that goes on when the request is over, send in an `OperationContext::DetachedScope`.
///
/// Traces: a message also carries the trace context in scope (`TraceContext`), a scheduled one as
/// well. The properties that carry it are then in `ReceivedMessage::properties`. A message in whose
/// properties the application set one of them is sent as it is.
///
/// Retrying: after `timeout`, `cancelled` or `connection_lost` the broker may have carried out the
/// operation, because only the answer is missing (`Error::outcome_unknown`). `SenderOptions` says
/// which messages may be sent again, and has the sender do it.
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

    /// Sends all messages, in order, and leaves them as they are. Together they must not exceed the
    /// entity's limit of a batch, or none is sent (message_too_large). Azure Service Bus and the
    /// local broker take batches of up to the entity's message size, and of at most 1 MB
    /// (azure-sdk-for-net#25381). `sessionqd` takes 384 bytes more for each message of a batch,
    /// within 6 MiB. The local broker, `sessionqd` and Azure Service Bus take all or none. Brokers
    /// of message groups take each by itself. Without messages it returns at once. Errors: as for
    /// `send`.
    void send_all(std::span<const Message> messages, const CallOptions& call = {}) const;
    /// Sends messages without copying them: they are gone after the call. Otherwise as
    /// `send_all(std::span<const Message>)`.
    void send_all(std::vector<Message>&& messages, const CallOptions& call = {}) const;

    /// Sends the messages of a batch, in order. The local broker, `sessionqd` and Azure Service Bus
    /// take all or none. The batch stays as it is, so it can be sent again after a failure. An
    /// empty batch sends nothing. Errors: the broker's (see `Errc`), message_too_large.
    void send(const MessageBatch& batch, const CallOptions& call = {}) const;
    /// Sends a batch without copying its messages. It is empty after the call, and may be filled
    /// again. Otherwise as `send(const MessageBatch&)`.
    void send(MessageBatch&& batch, const CallOptions& call = {}) const;

    /// Makes a batch that takes as many bytes as the entity takes at once. Asks the broker.
    /// `max_bytes`: for a smaller batch. Zero: the entity's limit of a batch. Default 0.
    /// Errors: the broker's (see `Errc`), invalid_argument (`max_bytes` exceeds the entity's limit
    /// of a batch).
    [[nodiscard]] MessageBatch create_batch(std::uint64_t max_bytes = 0,
                                            const CallOptions& call = {}) const;

    /// Sends a message that becomes available at `when`. A past instant: at once. Returns the
    /// sequence number for `cancel_scheduled`, or 0 if the broker tells none and cannot cancel.
    /// Errors: as for `send`; not_supported (the broker cannot schedule).
    std::int64_t schedule(Message message, WallTime when, const CallOptions& call = {}) const;

    /// Sends several messages that become available at `when`, all or none. Returns their sequence
    /// numbers for `cancel_scheduled`, in the order of the messages. Without messages it returns at
    /// once.
    /// Errors: as for `send`; not_supported (the broker cannot schedule).
    std::vector<std::int64_t> schedule_all(std::vector<Message> messages, WallTime when,
                                           const CallOptions& call = {}) const;

    /// Cancels scheduled messages, all or none. Without numbers it returns at once.
    /// Errors: the broker's (see `Errc`), message_not_found (one is due already, or unknown);
    /// not_supported (the broker cannot cancel).
    void cancel_scheduled(std::vector<std::int64_t> sequence_numbers,
                          const CallOptions& call = {}) const;

private:
    friend struct client::Access;

    std::shared_ptr<client::SenderCore> core_;
};

} // namespace sessionq

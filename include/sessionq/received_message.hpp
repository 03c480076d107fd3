// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <sessionq/message.hpp>
#include <sessionq/message_content.hpp>
#include <sessionq/trace_context.hpp>

namespace sessionq {

/// A received or peeked message: shared, immutable content and the facts of this delivery. Cheap to
/// copy. Content from a network is decoded on demand: reading only the body costs only the body.
///
/// Example:
///
///     processor.on_message([](MessageContext& context) {
///         const ReceivedMessage& message = context.message();
///         std::cout << message.session_id() << " #" << message.sequence_number() << ": "
///                   << message.text() << '\n';
///     });
///
/// Lifetimes: the content lives as long as any copy.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
class ReceivedMessage {
public:
    ReceivedMessage() = default;
    ReceivedMessage(MessageContentPtr content, DeliveryFacts facts)
        : content_{std::move(content)}, facts_{std::move(facts)} {}

    /// Whether it has no content: it was made by default or moved from. Then all that reads its
    /// content throws invalid_state.
    [[nodiscard]] bool empty() const noexcept { return content_ == nullptr; }

    /// The whole message. Errors: protocol_error (the message cannot be decoded).
    [[nodiscard]] const Message& content() const { return there().message(); }
    [[nodiscard]] const MessageContentPtr& shared_content() const noexcept { return content_; }

    /// The body. The view lives as long as any copy of the message.
    [[nodiscard]] std::string_view text() const { return there().body(); }
    [[nodiscard]] std::span<const std::byte> body() const {
        return std::as_bytes(std::span{there().body()});
    }
    /// The body's form in AMQP.
    [[nodiscard]] BodyKind body_kind() const { return there().body_kind(); }
    /// The session id. Empty also if the message has none, see content().session_id.
    [[nodiscard]] std::string_view session_id() const {
        return there().session_id().value_or(std::string_view{});
    }
    [[nodiscard]] std::string_view message_id() const { return there().message_id(); }
    /// The application properties. Errors: protocol_error.
    [[nodiscard]] const Properties& properties() const { return content().properties; }

    [[nodiscard]] std::int64_t sequence_number() const noexcept { return facts_.sequence_number; }
    [[nodiscard]] std::uint32_t delivery_count() const noexcept { return facts_.delivery_count; }
    [[nodiscard]] WallTime enqueued_time() const noexcept { return facts_.enqueued_time; }
    /// By when it should be handled: the time that was left when it was sent, less the time that it
    /// waited at the broker. The clocks of sender, broker and consumer may differ. `LocalBroker`
    /// and `sessionqd` tell how long it waited. Azure Service Bus shows it only by the times on its
    /// messages, so a client's first messages may seem to have waited for less time, never for
    /// more. With message groups the time waited does not count. Never: it has no deadline.
    [[nodiscard]] Deadline deadline() const noexcept { return facts_.deadline; }
    /// Why it was dead-lettered, and where. Null: it was not.
    [[nodiscard]] const std::shared_ptr<const DeadLetterInfo>& dead_letter() const noexcept {
        return facts_.dead_letter;
    }
    /// See `DeliveryFacts::enqueued_sequence_number`.
    [[nodiscard]] std::int64_t enqueued_sequence_number() const noexcept {
        return facts_.enqueued_sequence_number;
    }
    /// See `DeliveryFacts::lock_token`.
    [[nodiscard]] const std::optional<LockToken>& lock_token() const noexcept {
        return facts_.lock_token;
    }
    /// AMQP's message annotations as they came: the broker's (`x-opt-...`) and the sender's. None
    /// if the message was never on a network. Each call decodes them.
    /// Errors: protocol_error (they cannot be decoded).
    [[nodiscard]] Properties annotations() const { return there().annotations(); }
    /// One of them. Nothing if there is none of this name, or if it cannot be decoded. Decodes only
    /// that.
    [[nodiscard]] std::optional<PropertyValue> annotation(std::string_view name) const {
        return there().annotation(name);
    }
    /// The trace context that it carries: the properties `traceparent` and `tracestate`, or else
    /// `Diagnostic-Id`. Decodes only these. Unset: there is none, or it is invalid (see
    /// `TraceContext::parse`).
    [[nodiscard]] std::optional<TraceContext> trace() const;
    [[nodiscard]] const DeliveryFacts& facts() const noexcept { return facts_; }

private:
    [[nodiscard]] const MessageContent& there() const {
        if (content_ == nullptr) {
            refuse_empty();
        }
        return *content_;
    }
    [[noreturn]] static void refuse_empty();

    MessageContentPtr content_{};
    DeliveryFacts facts_{};
};

} // namespace sessionq

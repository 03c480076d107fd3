// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <sessionq/amqp_value.hpp>
#include <sessionq/message.hpp>
#include <sessionq/message_content.hpp>
#include <sessionq/trace_context.hpp>

namespace sessionq::inline v1 {

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

    /// Whether the message has no content, because it was made by default or moved from. Functions
    /// that read the content of such a message throw invalid_state.
    [[nodiscard]] bool empty() const noexcept { return content_ == nullptr; }

    /// The whole message. Errors: protocol_error (the message cannot be decoded).
    [[nodiscard]] const Message& content() const { return there().message(); }
    [[nodiscard]] const MessageContentPtr& shared_content() const noexcept { return content_; }

    /// The body as bytes, also of a value or a sequence (`BodyKind`). The view lives as long as any
    /// copy of the message.
    [[nodiscard]] std::string_view text() const { return there().body(); }
    [[nodiscard]] std::span<const std::byte> body() const {
        return std::as_bytes(std::span{there().body()});
    }
    /// The body as AMQP's value, if `body_kind` is `value`. The first call decodes the whole
    /// message and keeps the result. The reference is valid as long as any copy of the message.
    /// Errors: invalid_state (the body is not a value), protocol_error (the message cannot be
    /// decoded).
    [[nodiscard]] const AmqpValue& value() const;
    /// The body as AMQP's sequence, if `body_kind` is `sequence`. The lists of several sections are
    /// joined. The first call decodes the whole message and keeps the result. The reference is
    /// valid as long as any copy of the message.
    /// Errors: invalid_state (the body is not a sequence), protocol_error (the message cannot be
    /// decoded).
    [[nodiscard]] const AmqpList& sequence() const;
    /// The body's form in AMQP.
    [[nodiscard]] BodyKind body_kind() const { return there().body_kind(); }
    /// The session id. Empty if the message has none or an empty one: `content().session_id` tells
    /// which.
    [[nodiscard]] std::string_view session_id() const {
        return there().session_id().value_or(std::string_view{});
    }
    /// The message id that the sender gave. Empty if there is none. The view lives as long as any
    /// copy of the message.
    [[nodiscard]] std::string_view message_id() const { return there().message_id(); }
    /// The subject, also called label. Empty if there is none. Decodes only this property. The view
    /// lives as long as any copy of the message.
    [[nodiscard]] std::string_view subject() const { return there().text(TextField::subject); }
    /// The correlation id: in a reply, the message id of the request. Empty if there is none. A
    /// number is in decimal digits, a UUID in its usual form. Decodes only this property. The view
    /// lives as long as any copy of the message. Errors: protocol_error (it has a type that AMQP
    /// does not allow, and the message cannot be decoded).
    [[nodiscard]] std::string_view correlation_id() const {
        return there().text(TextField::correlation_id);
    }
    /// The entity that gets a reply. Empty if there is none. Decodes only this property. The view
    /// lives as long as any copy of the message.
    [[nodiscard]] std::string_view reply_to() const { return there().text(TextField::reply_to); }
    /// The session id for a reply. Empty if there is none. Decodes only this property. The view
    /// lives as long as any copy of the message.
    [[nodiscard]] std::string_view reply_to_session_id() const {
        return there().text(TextField::reply_to_session_id);
    }
    /// The address that the sender gave the message. Brokers only carry it. Empty if there is none.
    /// Decodes only this property. The view lives as long as any copy of the message.
    [[nodiscard]] std::string_view to() const { return there().text(TextField::to); }
    /// The type of the body, for example "application/json". Empty if there is none. Decodes only
    /// this property. The view lives as long as any copy of the message.
    [[nodiscard]] std::string_view content_type() const {
        return there().text(TextField::content_type);
    }

    /// All application properties. The first call decodes the whole message and keeps the result.
    /// To read a single property without that, call `property`. The reference is valid as long as
    /// any copy of the message.
    /// Errors: protocol_error (the message cannot be decoded).
    [[nodiscard]] const Properties& properties() const { return content().properties; }
    /// One application property. Nothing if the message has none of this name, or if it cannot be
    /// decoded. Each call decodes this property only.
    [[nodiscard]] std::optional<PropertyValue> property(std::string_view name) const {
        return there().property(name);
    }
    /// One application property as a `T`: `property<double>("amount")`. Nothing if the message has
    /// none of this name, if it cannot be decoded, or if it cannot become a `T`. An integer type
    /// takes every integer that it can hold. `float` and `double` take every number, rounded to the
    /// nearest. `std::string` takes texts and symbols. `PropertyValue::as` lists all types. Each
    /// call decodes this property only.
    template <PropertyType T>
    [[nodiscard]] std::optional<T> property(std::string_view name) const {
        std::optional<PropertyValue> found = there().property(name);
        return found ? std::move(*found).template as<T>() : std::nullopt;
    }

    /// The number that the broker gave the message. It rises within an entity.
    [[nodiscard]] std::int64_t sequence_number() const noexcept { return facts_.sequence_number; }
    /// The number of earlier deliveries that the broker counted. Zero: this is the first.
    [[nodiscard]] std::uint32_t delivery_count() const noexcept { return facts_.delivery_count; }
    /// When the broker enqueued the message, by the broker's clock.
    [[nodiscard]] WallTime enqueued_time() const noexcept { return facts_.enqueued_time; }
    /// When the message should be handled at the latest, on this process's clock: the time that was
    /// left when it was sent, less the time that it waited at the broker. Never: it has no
    /// deadline. The clocks of sender, broker and consumer may differ. `LocalBroker` and
    /// `sessionqd` tell how long a message waited. Azure Service Bus shows this only by the times
    /// on its messages, so a client's first messages may seem to have waited for less time, never
    /// for more. With message groups the time at the broker does not count.
    [[nodiscard]] Deadline deadline() const noexcept { return facts_.deadline; }
    /// Why the message was dead-lettered, and where. Null: it was not dead-lettered.
    [[nodiscard]] const std::shared_ptr<const DeadLetterInfo>& dead_letter() const noexcept {
        return facts_.dead_letter;
    }
    /// The sequence number that the message had in the first entity, if it was forwarded from
    /// there. Zero: it was not forwarded, or the broker does not tell.
    [[nodiscard]] std::int64_t enqueued_sequence_number() const noexcept {
        return facts_.enqueued_sequence_number;
    }
    /// The name that the broker gave the message's lock. Unset: the message is not locked, or the
    /// broker does not name locks. Azure Service Bus and `sessionqd` name them.
    [[nodiscard]] const std::optional<LockToken>& lock_token() const noexcept {
        return facts_.lock_token;
    }
    /// AMQP's message annotations as they came: the broker's (`x-opt-...`) and the sender's. Empty
    /// if the message was never on a network. Each call decodes them.
    /// Errors: protocol_error (they cannot be decoded).
    [[nodiscard]] Properties annotations() const { return there().annotations(); }
    /// One of AMQP's message annotations. Nothing if the message has none of this name, or if it
    /// cannot be decoded. Each call decodes this annotation only.
    [[nodiscard]] std::optional<PropertyValue> annotation(std::string_view name) const {
        return there().annotation(name);
    }
    /// The trace context that the message carries, in the properties `traceparent` and
    /// `tracestate`, or else in `Diagnostic-Id`. Decodes only these properties. Unset: there is
    /// none, or it is invalid (see `TraceContext::parse`).
    [[nodiscard]] std::optional<TraceContext> trace() const;
    [[nodiscard]] const DeliveryFacts& facts() const noexcept { return facts_; }

    /// Returns a message with the content of this one, to send it on:
    ///
    ///     archive.send(message.copy());
    ///
    /// Copied: the body as bytes, value or sequence, the session id, message id, subject,
    /// correlation id, reply-to, reply-to session id, to, content type, partition key, priority,
    /// and application properties with their types, also the trace context. The time to live is
    /// copied and begins anew.
    ///
    /// Not copied: the facts of this delivery (sequence number, delivery count, lock, times), the
    /// scheduled time, the deadline, the reason and description of a dead letter
    /// (`DeadLetterReason`, `DeadLetterErrorDescription`), and annotations. A handler runs under
    /// the deadline of its message, so what it sends has that deadline anyway (`Sender`).
    ///
    /// The message id stays the same. So an entity that detects duplicates keeps only one copy if a
    /// handler forwards the message, fails before it completes the message, and forwards it again.
    /// For the same reason such an entity drops a copy that goes back to it. Clear `message_id`
    /// then, and `Sender` makes a new one.
    ///
    /// Errors: protocol_error (the message cannot be decoded).
    [[nodiscard]] Message copy() const;

private:
    [[nodiscard]] const MessageContent& there() const {
        if (content_ == nullptr) {
            refuse_empty();
        }
        return *content_;
    }
    [[noreturn]] static void refuse_empty();
    [[noreturn]] void refuse_kind(BodyKind wanted) const;

    MessageContentPtr content_{};
    DeliveryFacts facts_{};
};

} // namespace sessionq::inline v1

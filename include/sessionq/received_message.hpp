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
    /// The id that the sender gave it. Empty if it has none. The view lives as long as any copy of
    /// the message.
    [[nodiscard]] std::string_view message_id() const { return there().message_id(); }
    /// The subject, also called label. Empty if it has none. Decodes only that. The view lives as
    /// long as any copy of the message.
    [[nodiscard]] std::string_view subject() const { return there().text(TextField::subject); }
    /// The correlation id: in a reply, the message id of the request. Empty if it has none. A
    /// number is in decimal digits, a UUID in its usual form. Decodes only that. The view lives as
    /// long as any copy of the message. Errors: protocol_error (it has a type that AMQP does not
    /// allow, and the message cannot be decoded).
    [[nodiscard]] std::string_view correlation_id() const {
        return there().text(TextField::correlation_id);
    }
    /// The entity that gets a reply. Empty if it has none. Decodes only that. The view lives as
    /// long as any copy of the message.
    [[nodiscard]] std::string_view reply_to() const { return there().text(TextField::reply_to); }
    /// The session id for a reply. Empty if it has none. Decodes only that. The view lives as long
    /// as any copy of the message.
    [[nodiscard]] std::string_view reply_to_session_id() const {
        return there().text(TextField::reply_to_session_id);
    }
    /// The address that the sender gave it. Empty if it has none. Decodes only that. The view lives
    /// as long as any copy of the message.
    [[nodiscard]] std::string_view to() const { return there().text(TextField::to); }
    /// The type of the body, for example "application/json". Empty if it has none. Decodes only
    /// that. The view lives as long as any copy of the message.
    [[nodiscard]] std::string_view content_type() const {
        return there().text(TextField::content_type);
    }

    /// All application properties. The first call decodes the whole message a second time and keeps
    /// it; `property` reads one without that. They live as long as any copy of the message.
    /// Errors: protocol_error (the message cannot be decoded).
    [[nodiscard]] const Properties& properties() const { return content().properties; }
    /// One application property. Nothing if there is none of this name, or if it cannot be decoded.
    /// Decodes only that, at each call.
    [[nodiscard]] std::optional<PropertyValue> property(std::string_view name) const {
        return there().property(name);
    }
    /// One application property as a `T`: `property<double>("amount")`. Nothing if there is none of
    /// this name, if it cannot be decoded, or if it is of another kind. An integer type takes every
    /// integer that it can hold, `float` and `double` also every number, rounded to the nearest,
    /// `std::string` texts and symbols. `PropertyValue::as` lists all types. Decodes only that, at
    /// each call.
    template <PropertyType T>
    [[nodiscard]] std::optional<T> property(std::string_view name) const {
        std::optional<PropertyValue> found = there().property(name);
        return found ? std::move(*found).template as<T>() : std::nullopt;
    }

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

    /// A message to send on, with the content of this one:
    ///
    ///     archive.send(message.copy());
    ///
    /// Copied: the body as bytes, the session id, message id, subject, correlation id, reply-to,
    /// reply-to session id, to, content type, partition key, application properties with their
    /// types, the trace context among them, the time to live, which begins anew, and the priority.
    ///
    /// Not copied: the facts of this delivery (sequence number, delivery count, lock, times), the
    /// scheduled time, the deadline, the reason and description of a dead letter
    /// (`DeadLetterReason`, `DeadLetterErrorDescription`), and annotations. A handler runs under
    /// the deadline of its message, so what it sends has that deadline anyway (`Sender`).
    ///
    /// The message id stays the same, so an entity that detects duplicates keeps one copy, also if
    /// a handler forwards the message, fails before it completes it, and forwards it again. For the
    /// same reason such an entity drops a copy that goes back to it. Clear `message_id` then, and
    /// `Sender` makes a new one.
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

    MessageContentPtr content_{};
    DeliveryFacts facts_{};
};

} // namespace sessionq

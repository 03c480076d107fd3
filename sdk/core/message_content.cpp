// SPDX-License-Identifier: MIT
#include <sessionq/message_content.hpp>

#include <string>
#include <type_traits>
#include <variant>

#include <sessionq/error.hpp>
#include <sessionq/received_message.hpp>

#include "core/message_size.hpp"
#include "core/peer_words.hpp"

namespace sessionq::inline v1 {
namespace {

// Brokers set these application properties of a dead letter.
constexpr std::string_view dead_letter_reason = "DeadLetterReason";
constexpr std::string_view dead_letter_description = "DeadLetterErrorDescription";

constexpr std::size_t fixed_cost = 64; // an estimate for headers, numbers and times

constexpr std::size_t least_encoded = 1; // of a number, which AMQP writes as short as it can

/// `of_number(size)` gives the bytes that a value of a fixed size takes.
template <typename OfNumber>
std::size_t size_of(const PropertyValue& value, OfNumber of_number) noexcept {
    return std::visit(
        [&](const auto& held) -> std::size_t {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::string> ||
                          std::is_same_v<Held, std::vector<std::byte>>) {
                return held.size();
            } else if constexpr (std::is_same_v<Held, Uri>) {
                return held.text.size();
            } else if constexpr (std::is_same_v<Held, EncodedValue>) {
                return held.bytes.size();
            } else {
                return of_number(sizeof(Held));
            }
        },
        value);
}

template <typename OfNumber>
std::size_t size_of(const AmqpValue& value, OfNumber of_number) noexcept;

template <typename OfNumber>
std::size_t size_of(const AmqpList& list, OfNumber of_number) noexcept {
    std::size_t bytes = 0;
    for (const AmqpValue& item : list) {
        bytes += size_of(item, of_number);
    }
    return bytes;
}

template <typename OfNumber>
std::size_t size_of(const AmqpValue& value, OfNumber of_number) noexcept {
    if (const AmqpList* const list = value.list()) {
        return size_of(*list, of_number);
    }
    if (const AmqpMap* const map = value.map()) {
        std::size_t bytes = 0;
        for (const auto& [key, mapped] : *map) {
            bytes += size_of(key, of_number) + size_of(mapped, of_number);
        }
        return bytes;
    }
    return size_of(*value.scalar(), of_number);
}

std::size_t count(const AmqpValue& value) noexcept;

std::size_t count(const AmqpList& list) noexcept {
    std::size_t values = 1;
    for (const AmqpValue& item : list) {
        values += count(item);
    }
    return values;
}

/// The number of values in it, and itself.
std::size_t count(const AmqpValue& value) noexcept {
    if (const AmqpList* const list = value.list()) {
        return count(*list);
    }
    std::size_t values = 1;
    if (const AmqpMap* const map = value.map()) {
        for (const auto& [key, mapped] : *map) {
            values += count(key) + count(mapped);
        }
    }
    return values;
}

/// The size of a body that is a value or a sequence.
template <typename OfNumber>
std::size_t size_of_typed_body(const Message& message, OfNumber of_number) noexcept {
    return (message.value ? size_of(*message.value, of_number) : 0) +
           (message.sequence ? size_of(*message.sequence, of_number) : 0);
}

std::string_view view_of(const std::vector<std::byte>& bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t size_of_texts(const Message& message) noexcept {
    return message.body.size() + message.message_id.size() + message.subject.size() +
           message.correlation_id.size() + message.reply_to.size() +
           message.reply_to_session_id.size() + message.to.size() + message.content_type.size() +
           message.partition_key.size() + (message.session_id ? message.session_id->size() : 0);
}

// Covers every field but the session id, where a missing id differs from an empty one.
std::string Message::*member_of(TextField field) noexcept {
    switch (field) {
    case TextField::content_type: return &Message::content_type;
    case TextField::correlation_id: return &Message::correlation_id;
    case TextField::message_id: return &Message::message_id;
    case TextField::reply_to: return &Message::reply_to;
    case TextField::reply_to_session_id: return &Message::reply_to_session_id;
    case TextField::to: return &Message::to;
    default: return &Message::subject;
    }
}

std::string_view text_of(const Message& message, TextField field) noexcept {
    if (field == TextField::session_id) {
        return message.session_id ? std::string_view{*message.session_id} : std::string_view{};
    }
    return message.*member_of(field);
}

std::optional<PropertyValue> find(const Properties& properties, std::string_view name) {
    const auto found = properties.find(name);
    return found != properties.end() ? std::optional{found->second} : std::nullopt;
}

} // namespace

std::string_view MessageContent::text(TextField field) const { return text_of(message(), field); }

std::string_view DecodedContent::text(TextField field) const { return text_of(message_, field); }

std::optional<PropertyValue> MessageContent::property(std::string_view name) const {
    const auto decoded = outline();
    return decoded ? find(decoded->properties, name) : std::nullopt;
}

std::optional<PropertyValue> DecodedContent::property(std::string_view name) const {
    return has_properties_ ? find(message_.properties, name) : std::nullopt;
}

std::string_view DecodedContent::body() const {
    if (!message_.value) {
        return encoded_ != nullptr ? std::string_view{*encoded_} : message_.body;
    }
    if (encoded_ != nullptr) {
        return *encoded_;
    }
    const PropertyValue& shown = *message_.value->scalar();
    if (const auto* const text = std::get_if<std::string>(&shown)) {
        return *text;
    }
    const auto* const bytes = std::get_if<std::vector<std::byte>>(&shown);
    return bytes != nullptr ? view_of(*bytes) : std::string_view{};
}

std::unique_ptr<const std::string> DecodedContent::encode_body(const Message& message) {
    if (!message.value) {
        return std::make_unique<const std::string>(AmqpValue{*message.sequence}.encoded());
    }
    const PropertyValue* const scalar = message.value->scalar();
    const bool is_shown =
        scalar != nullptr &&
        (message.value->is_null() || std::holds_alternative<std::string>(*scalar) ||
         std::holds_alternative<std::vector<std::byte>>(*scalar));
    return is_shown ? nullptr : std::make_unique<const std::string>(message.value->encoded());
}

std::size_t DecodedContent::bytes() const noexcept {
    return fixed_cost + core::size_of(message_) + (encoded_ != nullptr ? encoded_->size() : 0);
}

std::size_t DecodedContent::wire_bytes() const noexcept {
    std::size_t bytes =
        size_of_texts(message_) + (body_kind() != BodyKind::data ? body().size() : 0);
    for (const auto& [name, value] : message_.properties) {
        bytes += name.size() + size_of(value, [](std::size_t) { return least_encoded; });
    }
    return bytes;
}

std::optional<Message> DecodedContent::outline() const {
    Message made;
    made.session_id = message_.session_id;
    made.message_id = message_.message_id;
    made.subject = message_.subject;
    made.correlation_id = message_.correlation_id;
    made.reply_to = message_.reply_to;
    made.reply_to_session_id = message_.reply_to_session_id;
    made.to = message_.to;
    made.content_type = message_.content_type;
    made.partition_key = message_.partition_key;
    made.properties = message_.properties;
    made.time_to_live = message_.time_to_live;
    made.priority = message_.priority;
    made.scheduled_enqueue_time = message_.scheduled_enqueue_time;
    made.deadline = message_.deadline;
    return made;
}

MessageContentPtr DecodedContent::with_changes(const ContentChanges& changes) const {
    Message changed = message_;
    for (const std::string& name : changes.removed) {
        changed.properties.erase(name);
    }
    for (const auto& [name, value] : changes.properties) {
        changed.properties.insert_or_assign(name, value);
    }
    for (const auto& [field, text] : changes.texts) {
        if (field == TextField::session_id) {
            changed.session_id = text;
        } else {
            changed.*member_of(field) = text.value_or(std::string{});
        }
    }
    return std::make_shared<DecodedContent>(std::move(changed));
}

Message ReceivedMessage::copy() const {
    const MessageContent& content = there();
    std::optional<Message> outline = content.outline();
    // `message` throws the failure that left the outline empty.
    Message made = outline ? *std::move(outline) : content.message();
    switch (content.body_kind()) {
    case BodyKind::value: made.value = content.message().value; break;
    case BodyKind::sequence: made.sequence = content.message().sequence; break;
    default: break;
    }
    if (!made.value && !made.sequence) {
        made.body = content.body();
    }
    made.scheduled_enqueue_time.reset();
    made.deadline = Deadline::never();
    for (const std::string_view name : {dead_letter_reason, dead_letter_description}) {
        if (const auto found = made.properties.find(name); found != made.properties.end()) {
            made.properties.erase(found);
        }
    }
    return made;
}

const AmqpValue& ReceivedMessage::value() const {
    if (body_kind() != BodyKind::value || !content().value) {
        refuse_kind(BodyKind::value);
    }
    return *content().value;
}

const AmqpList& ReceivedMessage::sequence() const {
    if (body_kind() != BodyKind::sequence || !content().sequence) {
        refuse_kind(BodyKind::sequence);
    }
    return *content().sequence;
}

void ReceivedMessage::refuse_kind(BodyKind wanted) const {
    const std::string message = "message '" + core::peer_words(message_id()) + "': ";
    const std::string name{to_string(wanted)};
    if (body_kind() == wanted) {
        throw Error{Errc::protocol_error,
                    message + "the body cannot be decoded: malformed " + name};
    }
    throw Error{Errc::invalid_state, message + "the kind of the body is " +
                                         std::string{to_string(body_kind())} + ", not " + name};
}

void ReceivedMessage::refuse_empty() {
    throw Error{Errc::invalid_state, "the message is empty: made by default, or moved from"};
}

} // namespace sessionq::inline v1

namespace sessionq::detail {

void refuse_body(const ReceivedMessage& message, std::string_view reason) {
    throw Error{Errc::invalid_argument, "message '" + core::peer_words(message.message_id()) +
                                            "': " + core::peer_words(reason)};
}

} // namespace sessionq::detail

namespace sessionq::core {

std::size_t size_of(const Properties& properties) noexcept {
    std::size_t bytes = 0;
    for (const auto& [name, value] : properties) {
        bytes += name.size() + sessionq::size_of(value, [](std::size_t size) { return size; });
    }
    return bytes;
}

std::size_t size_of(const Message& message) noexcept {
    return size_of_texts(message) + size_of(message.properties) +
           sessionq::size_of_typed_body(message, [](std::size_t size) { return size; });
}

std::size_t values_in(const Message& message) noexcept {
    return (message.value ? sessionq::count(*message.value) : 0) +
           (message.sequence ? sessionq::count(*message.sequence) : 0);
}

} // namespace sessionq::core

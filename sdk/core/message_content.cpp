// SPDX-License-Identifier: MIT
#include <sessionq/message_content.hpp>

#include <string>
#include <type_traits>
#include <variant>

#include <sessionq/error.hpp>
#include <sessionq/received_message.hpp>

#include "core/message_size.hpp"

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

std::size_t DecodedContent::bytes() const noexcept { return fixed_cost + core::size_of(message_); }

std::size_t DecodedContent::wire_bytes() const noexcept {
    std::size_t bytes = size_of_texts(message_);
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
    made.body = content.body();
    made.scheduled_enqueue_time.reset();
    made.deadline = Deadline::never();
    for (const std::string_view name : {dead_letter_reason, dead_letter_description}) {
        if (const auto found = made.properties.find(name); found != made.properties.end()) {
            made.properties.erase(found);
        }
    }
    return made;
}

void ReceivedMessage::refuse_empty() {
    throw Error{Errc::invalid_state, "the message is empty: made by default, or moved from"};
}

} // namespace sessionq::inline v1

namespace sessionq::core {

std::size_t size_of(const Properties& properties) noexcept {
    std::size_t bytes = 0;
    for (const auto& [name, value] : properties) {
        bytes += name.size() + sessionq::size_of(value, [](std::size_t size) { return size; });
    }
    return bytes;
}

std::size_t size_of(const Message& message) noexcept {
    return size_of_texts(message) + size_of(message.properties);
}

} // namespace sessionq::core

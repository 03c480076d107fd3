// SPDX-License-Identifier: MIT
#include "amqp/codec/message_codec.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "amqp/codec/amqp_value.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"
#include "amqp/codec/section_fields.hpp"

namespace sessionq::amqp {
namespace {

std::uint32_t capped(std::chrono::milliseconds time_to_live) noexcept {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        time_to_live.count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

/// Writes fields in the order of MessageProperties::Field.
void write_properties(const Message& message, WallTime created, std::string& to) {
    using Properties = MessageProperties;
    Encoder encoder{to};
    const auto text = [&encoder](Properties::Field field, std::string_view value) {
        value.empty() ? encoder.write_null() : write_text(field, value, encoder);
    };
    encoder.write_descriptor(section::properties);
    const std::size_t begun = encoder.begin_list();
    text(Properties::message_id, message.message_id);
    encoder.write_null(); // user-id
    text(Properties::to, message.to);
    text(Properties::subject, message.subject);
    text(Properties::reply_to, message.reply_to);
    text(Properties::correlation_id, message.correlation_id);
    text(Properties::content_type, message.content_type);
    encoder.write_null(); // content-encoding
    if (message.time_to_live) {
        encoder.write_timestamp(Timestamp::later(created, *message.time_to_live));
        encoder.write_timestamp(Timestamp::of(created));
    } else {
        encoder.write_null();
        encoder.write_null();
    }
    if (message.session_id) { // an empty session id is valid
        encoder.write_string(*message.session_id);
    } else {
        encoder.write_null();
    }
    encoder.write_null(); // group-sequence
    text(Properties::reply_to_group_id, message.reply_to_session_id);
    encoder.end_list(begun, MessageProperties::field_count);
}

// The types of messages in AMQP's mapping of JMS. Without one, a client of JMS takes a map or a
// sequence for an ObjectMessage.
constexpr std::string_view jms_type_annotation = "x-opt-jms-msg-type";
constexpr std::int8_t jms_map = 2;
constexpr std::int8_t jms_stream = 4;

std::optional<std::int8_t> jms_type_of(const Message& message) {
    const AmqpMap* const map = message.value ? message.value->map() : nullptr;
    const auto is_name = [](const auto& entry) {
        const PropertyValue* const key = entry.first.scalar();
        return key != nullptr && key->type() == ValueType::string;
    };
    if (map != nullptr && std::ranges::all_of(*map, is_name)) {
        return jms_map;
    }
    return message.sequence ? std::optional{jms_stream} : std::nullopt;
}

void write_body(const Message& message, std::string& to) {
    Encoder encoder{to};
    if (message.value) {
        encoder.write_descriptor(section::value);
        write_value(*message.value, encoder);
    } else if (message.sequence) {
        encoder.write_descriptor(section::sequence);
        write_list(*message.sequence, encoder);
    } else {
        encoder.write_descriptor(section::data);
        encoder.write_binary(message.body);
    }
}

void write_annotations(const Message& message, std::string& to) {
    const auto jms_type = jms_type_of(message);
    if (!message.scheduled_enqueue_time && message.partition_key.empty() && !jms_type) {
        return;
    }
    Encoder encoder{to};
    encoder.write_descriptor(section::message_annotations);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count = 0;
    if (message.scheduled_enqueue_time) {
        encoder.write_symbol(scheduled_enqueue_time_annotation);
        encoder.write_timestamp(Timestamp::of(*message.scheduled_enqueue_time));
        count += 2;
    }
    if (!message.partition_key.empty()) {
        encoder.write_symbol(partition_key_annotation);
        encoder.write_string(message.partition_key);
        count += 2;
    }
    if (jms_type) {
        encoder.write_symbol(jms_type_annotation);
        encoder.write(Value{*jms_type});
        count += 2;
    }
    encoder.end_map(begun, count);
}

void write_application_properties(const Message& message, const ClockReading& at, std::string& to) {
    if (message.properties.empty() && message.deadline.is_never()) {
        return;
    }
    Encoder encoder{to};
    encoder.write_descriptor(section::application_properties);
    const std::size_t begun = encoder.begin_map();
    std::uint32_t count = 0;
    for (const auto& [name, value] : message.properties) {
        encoder.write_string(name);
        write_property(value, encoder);
        count += 2;
    }
    if (!message.deadline.is_never()) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(message.deadline.remaining(at.now));
        encoder.write_string(time_left_property);
        encoder.write(Value{static_cast<std::int64_t>(left.count())});
        count += 2;
    }
    encoder.end_map(begun, count);
}

} // namespace

std::string encode_message(const Message& message, const ClockReading& at) {
    std::string encoded;
    encoded.reserve(message.body.size() + 256);
    MessageHeader header{.priority = message.priority};
    if (message.time_to_live) {
        header.time_to_live = capped(*message.time_to_live);
    }
    if (header.time_to_live || header.priority != MessageHeader{}.priority) {
        header.write(encoded);
    }
    write_annotations(message, encoded);
    write_properties(message, at.wall, encoded);
    write_application_properties(message, at, encoded);
    write_body(message, encoded);
    return encoded;
}

std::string encode_content(const MessageContent& content, const ClockReading& at) {
    const auto* encoded = dynamic_cast<const EncodedContent*>(&content);
    return encoded != nullptr ? std::string{encoded->encoded()}
                              : encode_message(content.message(), at);
}

} // namespace sessionq::amqp

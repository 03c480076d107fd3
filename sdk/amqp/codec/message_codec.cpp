// SPDX-License-Identifier: MIT
#include "amqp/codec/message_codec.hpp"

#include <algorithm>
#include <limits>

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

void write_annotations(const Message& message, std::string& to) {
    if (!message.scheduled_enqueue_time && message.partition_key.empty()) {
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
    Encoder encoder{encoded};
    encoder.write_descriptor(section::data);
    encoder.write_binary(message.body);
    return encoded;
}

std::string encode_content(const MessageContent& content, const ClockReading& at) {
    const auto* encoded = dynamic_cast<const EncodedContent*>(&content);
    return encoded != nullptr ? std::string{encoded->encoded()}
                              : encode_message(content.message(), at);
}

} // namespace sessionq::amqp

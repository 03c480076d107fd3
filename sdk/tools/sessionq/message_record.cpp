// SPDX-License-Identifier: MIT
#include "tools/sessionq/message_record.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tools/nearest_word.hpp"
#include "tools/sessionq/exact_message.hpp"
#include "tools/sessionq/explorer_record.hpp"
#include "tools/sessionq/property_json.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

struct TextMember {
    const char* name;
    std::string Message::*field;
};

constexpr TextMember text_members[] = {
    {"id", &Message::message_id},
    {"subject", &Message::subject},
    {"correlation_id", &Message::correlation_id},
    {"reply_to", &Message::reply_to},
    {"reply_to_session", &Message::reply_to_session_id},
    {"to", &Message::to},
    {"content_type", &Message::content_type},
    {"partition_key", &Message::partition_key},
};

/// Facts of the broker. `record_of` writes them, `read_record` ignores them.
const std::set<std::string>& facts() {
    static const std::set<std::string> names{"sequence_number", "delivery_count", "enqueued",
                                             "expires",         "state",          "dead_letter",
                                             "body_kind",       "error"};
    return names;
}

const char* name_of(BodyKind kind) {
    switch (kind) {
    case BodyKind::none: return "none";
    case BodyKind::several_data: return "several_data";
    case BodyKind::sequence: return "sequence";
    case BodyKind::value: return "value";
    default: return "data";
    }
}

/// A time of the broker, which is not read again.
std::string fact_text(WallTime time) {
    return time == WallTime::max() ? "beyond 2261" : time_text(time);
}

void put_facts(Json& record, const DeliveryFacts& facts) {
    record["delivery_count"] = facts.delivery_count;
    record["enqueued"] = fact_text(facts.enqueued_time);
    if (facts.expires_at) {
        record["expires"] = fact_text(*facts.expires_at);
    }
    if (facts.state != MessageState::active) {
        record["state"] = facts.state == MessageState::deferred ? "deferred" : "scheduled";
    }
    if (facts.dead_letter) {
        Json dead = Json::object();
        put_text(dead, "reason", facts.dead_letter->reason);
        put_text(dead, "description", facts.dead_letter->description);
        record["dead_letter"] = std::move(dead);
    }
}

// Reading.

[[noreturn]] void refuse(const std::string& member, const std::string& why) {
    throw RecordError{member + ": " + why};
}

const std::string& text_of(const std::string& member, const Json& value) {
    if (!value.is_string()) {
        refuse(member, "is not a string");
    }
    return value.get_ref<const std::string&>();
}

/// The text of `name`, or the bytes of NAME_base64. Null: the record has neither.
std::optional<std::string> take_text(Json& record, const std::string& name) {
    const std::string encoded_name = name + "_base64";
    const auto text = record.find(name);
    const auto encoded = record.find(encoded_name);
    if (text != record.end() && encoded != record.end()) {
        refuse(name, "is given twice, also as " + encoded_name);
    }
    std::optional<std::string> result;
    if (text != record.end()) {
        result = text_of(name, *text);
        record.erase(name);
    } else if (encoded != record.end()) {
        result = read_base64(encoded_name, *encoded);
        record.erase(encoded_name);
    }
    return result;
}

void read_properties(const Json& value, Properties& properties) {
    if (!value.is_object()) {
        refuse("properties", "is not an object");
    }
    for (const auto& [name, each] : value.items()) {
        properties.insert_or_assign(name, read_value("properties." + name, each));
    }
}

constexpr const char* not_a_duration = "is not a duration such as 200ms, 1.5s, 2m, 1h or 7d";

Duration read_duration(const std::string& member, const Json& value) {
    const auto duration = parse_duration(text_of(member, value));
    if (!duration) {
        refuse(member, not_a_duration);
    }
    return *duration;
}

void read_scheduled(Json& record, Message& message, WallTime now) {
    const auto scheduled = record.find("scheduled");
    const auto delay = record.find("delay");
    if (scheduled != record.end() && delay != record.end()) {
        refuse("delay", "is given together with scheduled");
    }
    if (scheduled != record.end()) {
        message.scheduled_enqueue_time = parse_time(text_of("scheduled", *scheduled));
        if (!message.scheduled_enqueue_time) {
            refuse("scheduled", "is not a time such as 2026-01-31T12:00:00Z");
        }
    } else if (delay != record.end()) {
        message.scheduled_enqueue_time = now + read_duration("delay", *delay);
    }
    record.erase("scheduled");
    record.erase("delay");
}

void refuse_unknown(const Json& record) {
    std::vector<std::string> known{"body",           "body_base64", "session",
                                   "session_base64", "properties",  "time_to_live",
                                   "priority",       "scheduled",   "delay"};
    for (const TextMember& each : text_members) {
        known.emplace_back(each.name);
        known.push_back(std::string{each.name} + "_base64");
    }
    for (const auto& [name, value] : record.items()) {
        if (!facts().contains(name)) {
            throw RecordError{"unknown member '" + name + "'" + tools::did_you_mean(name, known)};
        }
    }
}

Message read_members(Json record, Message message, WallTime now) {
    if (auto session = take_text(record, "session")) {
        message.session_id = *std::move(session);
    }
    if (auto body = take_text(record, "body")) {
        message.body = *std::move(body);
    }
    for (const TextMember& each : text_members) {
        if (auto text = take_text(record, each.name)) {
            message.*each.field = *std::move(text);
        }
    }
    if (const auto properties = record.find("properties"); properties != record.end()) {
        read_properties(*properties, message.properties);
        record.erase("properties");
    }
    if (const auto life = record.find("time_to_live"); life != record.end()) {
        message.time_to_live = parse_milliseconds(text_of("time_to_live", *life));
        if (!message.time_to_live) {
            refuse("time_to_live", not_a_duration);
        }
        record.erase("time_to_live");
    }
    if (const auto priority = record.find("priority"); priority != record.end()) {
        if (!priority->is_number_unsigned() || priority->get<std::uint64_t>() > UINT8_MAX) {
            refuse("priority", "is not 0 to 255");
        }
        message.priority = priority->get<std::uint8_t>();
        record.erase("priority");
    }
    read_scheduled(record, message, now);
    refuse_unknown(record);
    return message;
}

Json parse_object(std::string_view line) {
    Json record;
    try {
        record = Json::parse(line);
    } catch (const Json::parse_error& error) {
        throw RecordError{"not valid JSON at byte " + std::to_string(error.byte)};
    } catch (const Json::exception&) { // a number out of range
        throw RecordError{"not valid JSON: a number is out of range"};
    }
    if (!record.is_object()) {
        throw RecordError{"not a JSON object"};
    }
    return record;
}

/// The record of a message that cannot be decoded. Its sections are there as they came, so nothing
/// is lost when it is settled. The message does not hide those behind it.
Json record_of_unreadable(const ReceivedMessage& received) {
    const MessageContent& content = *received.shared_content();
    Json record;
    record["sequence_number"] = received.sequence_number();
    try {
        static_cast<void>(content.message());
    } catch (const Error& error) {
        put_text(record, "error", error.what());
    }
    if (const auto session = content.session_id()) {
        put_text(record, "session", *session);
    }
    if (!content.message_id().empty()) {
        put_text(record, "id", content.message_id());
    }
    put_facts(record, received.facts());
    put_text(record, "body", received.text());
    if (Json sections = exact_sections(content, {}, received.text()); !sections.is_null()) {
        record["encoded"] = std::move(sections);
    }
    return record;
}

} // namespace

Json record_of(const ReceivedMessage& received) {
    // `content` would keep a second body until the broker has answered the settlement.
    const std::optional<Message> outline = received.shared_content()->outline();
    if (!outline) {
        return record_of_unreadable(received);
    }
    const Message& message = *outline;
    Json record;
    record["sequence_number"] = received.sequence_number();
    if (message.session_id) {
        put_text(record, "session", *message.session_id);
    }
    for (const TextMember& each : text_members) {
        if (!(message.*each.field).empty()) {
            put_text(record, each.name, message.*each.field);
        }
    }
    put_facts(record, received.facts());
    if (message.time_to_live) {
        record["time_to_live"] = duration_text(*message.time_to_live);
    }
    if (message.priority != Message{}.priority) {
        record["priority"] = message.priority;
    }
    if (message.scheduled_enqueue_time) {
        record["scheduled"] = time_text(*message.scheduled_enqueue_time);
    }
    if (!message.properties.empty()) {
        record["properties"] = json_of(message.properties);
    }
    if (const BodyKind kind = received.body_kind(); kind != BodyKind::data) {
        record["body_kind"] = name_of(kind);
    }
    // Before the body is there: it would be copied.
    Json exact =
        exact_sections(*received.shared_content(), read_members(record, {}, {}), received.text());
    put_text(record, "body", received.text());
    if (!exact.is_null()) {
        record["encoded"] = std::move(exact);
    }
    return record;
}

Record read_record(std::string_view object, Message pattern, WallTime now) {
    Json record = parse_object(object);
    if (is_explorer_record(record)) {
        return {.message = read_explorer_record(record, std::move(pattern))};
    }
    Json sections;
    if (const auto exact = record.find("encoded"); exact != record.end()) {
        sections = std::move(*exact);
        record.erase("encoded");
    }
    Record read{.message = read_members(std::move(record), std::move(pattern), now)};
    if (!sections.is_null()) {
        read.exact = with_exact_sections(read.message, sections, {.wall = now});
    }
    return read;
}

} // namespace sessionq::cli

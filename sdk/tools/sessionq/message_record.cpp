// SPDX-License-Identifier: MIT
#include "tools/sessionq/message_record.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "amqp/base64.hpp"
#include "tools/nearest_word.hpp"
#include "tools/sessionq/base64.hpp"
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
};

/// Facts of the broker. `record_of` writes them, `read_record` ignores them.
const std::set<std::string>& facts() {
    static const std::set<std::string> names{"sequence_number", "delivery_count", "enqueued",
                                             "expires",         "state",          "dead_letter"};
    return names;
}

std::string_view view_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct ValueWriter {
    Json operator()(std::monostate /*null*/) const { return nullptr; }
    Json operator()(bool value) const { return value; }
    Json operator()(std::int64_t value) const { return value; }
    Json operator()(std::uint64_t value) const { return value; }
    Json operator()(double value) const {
        if (std::isfinite(value)) {
            return value;
        }
        return {{"double", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
    }
    Json operator()(const std::string& value) const {
        Json json;
        put_text(json, "string", value);
        return json.contains("string") ? json["string"] : json;
    }
    Json operator()(WallTime value) const { return {{"time", time_text(value)}}; }
    Json operator()(const std::vector<std::byte>& value) const {
        return {{"base64", amqp::base64(view_of(value))}};
    }
};

void put_facts(Json& record, const DeliveryFacts& facts) {
    record["delivery_count"] = facts.delivery_count;
    record["enqueued"] = time_text(facts.enqueued_time);
    if (facts.expires_at) {
        record["expires"] = time_text(*facts.expires_at);
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

std::string bytes_of(const std::string& member, const Json& value) {
    auto bytes = from_base64(text_of(member, value));
    if (!bytes) {
        refuse(member, "is not base64");
    }
    return *std::move(bytes);
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
        result = bytes_of(encoded_name, *encoded);
        record.erase(encoded_name);
    }
    return result;
}

/// The one member of a value such as {"time": "..."}.
PropertyValue read_special(const std::string& member, const Json& value) {
    const std::string type = value.size() == 1 ? value.begin().key() : "";
    const std::string where = member + "." + type;
    if (type == "time") {
        if (const auto time = parse_time(text_of(where, value.front()))) {
            return *time;
        }
        refuse(where, "is not a time such as 2026-01-31T12:00:00Z");
    }
    if (type == "base64") {
        const std::string bytes = bytes_of(where, value.front());
        const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
        return std::vector<std::byte>(first, first + bytes.size());
    }
    if (type == "string_base64") {
        return bytes_of(where, value.front());
    }
    if (type == "double") {
        const std::string& text = text_of(where, value.front());
        if (text == "nan" || text == "inf" || text == "-inf") {
            return std::strtod(text.c_str(), nullptr);
        }
        refuse(where, "is not nan, inf or -inf");
    }
    refuse(member, "is an object without exactly one of time, base64, string_base64 and double");
}

PropertyValue read_value(const std::string& member, const Json& value) {
    switch (value.type()) {
    case Json::value_t::null: return std::monostate{};
    case Json::value_t::boolean: return value.get<bool>();
    case Json::value_t::number_integer: return value.get<std::int64_t>();
    case Json::value_t::number_unsigned:
        return value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}
                   ? PropertyValue{value.get<std::int64_t>()}
                   : PropertyValue{value.get<std::uint64_t>()};
    case Json::value_t::number_float: return value.get<double>();
    case Json::value_t::string: return value.get<std::string>();
    case Json::value_t::object: return read_special(member, value);
    default: refuse(member, "is a list; a property has one value");
    }
}

void read_properties(const Json& value, Properties& properties) {
    if (!value.is_object()) {
        refuse("properties", "is not an object");
    }
    for (const auto& [name, each] : value.items()) {
        properties.insert_or_assign(name, read_value("properties." + name, each));
    }
}

Duration read_duration(const std::string& member, const Json& value) {
    const auto duration = parse_duration(text_of(member, value));
    if (!duration) {
        refuse(member, "is not a duration such as 200ms, 1.5s, 2m, 1h or 7d");
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

} // namespace

Json record_of(const ReceivedMessage& received) {
    // `content` would keep a second body until the broker has answered the settlement.
    const std::optional<Message> outline = received.shared_content()->outline();
    const Message& message = outline ? *outline : received.content(); // which throws
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
        Json& properties = record["properties"] = Json::object();
        for (const auto& [name, value] : message.properties) {
            properties[name] = std::visit(ValueWriter{}, value);
        }
    }
    put_text(record, "body", received.text());
    return record;
}

Message read_record(std::string_view line, Message message, WallTime now) {
    Json record = parse_object(line);
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
        message.time_to_live =
            std::chrono::ceil<std::chrono::milliseconds>(read_duration("time_to_live", *life));
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

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include "tools/sessionq/explorer_record.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/ascii_case.hpp"
#include "tools/sessionq/property_json.hpp"
#include "tools/sessionq/property_text.hpp"
#include "tools/sessionq/record_error.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

struct TextMember {
    const char* name;
    std::string Message::*field;
};

constexpr std::array text_members{TextMember{"messageId", &Message::message_id},
                                  TextMember{"label", &Message::subject},
                                  TextMember{"subject", &Message::subject},
                                  TextMember{"correlationId", &Message::correlation_id},
                                  TextMember{"replyTo", &Message::reply_to},
                                  TextMember{"replyToSessionId", &Message::reply_to_session_id},
                                  TextMember{"to", &Message::to},
                                  TextMember{"contentType", &Message::content_type},
                                  TextMember{"partitionKey", &Message::partition_key}};

/// A member that is there and not null.
const Json* find(const Json& record, const char* name) {
    const auto found = record.find(name);
    return found == record.end() || found->is_null() ? nullptr : &*found;
}

const std::string* find_text(const Json& record, const char* name) {
    const Json* const found = find(record, name);
    if (found != nullptr && !found->is_string()) {
        throw RecordError{std::string{name} + ": is not a string"};
    }
    return found == nullptr ? nullptr : &found->get_ref<const std::string&>();
}

/// The names of .NET's types, and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> dotnet_types{
    {{"string", "string"},
     {"boolean", "bool"},
     {"bool", "bool"},
     {"byte", "uint8"},
     {"sbyte", "int8"},
     {"int16", "int16"},
     {"uint16", "uint16"},
     {"int32", "int32"},
     {"uint32", "uint32"},
     {"int64", "int64"},
     {"uint64", "uint64"},
     {"single", "float"},
     {"double", "double"},
     {"decimal", "decimal"},
     {"char", "char"},
     {"guid", "uuid"},
     {"timespan", "time_span"},
     {"uri", "uri"}}};

PropertyValue read_typed(const std::string& name, std::string_view type, const Json& value) {
    const std::string where = "properties." + name;
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const auto* const found = std::ranges::find_if(dotnet_types, [type](const auto& each) {
        return core::equal_ignoring_case(each.first, type);
    });
    if (found == dotnet_types.end()) {
        throw RecordError{where + ": unknown type '" + std::string{type} + "'"};
    }
    const bool is_bool = found->second == "bool"; // .NET writes "True"
    auto parsed = parse_value(found->second, is_bool ? core::lower_case(text) : text);
    if (!parsed) {
        throw RecordError{where + ": '" + text + "' is no " + std::string{type}};
    }
    return *std::move(parsed);
}

void read_properties(const Json& value, Properties& properties) {
    if (value.is_object()) { // until version 5.0
        for (const auto& [name, each] : value.items()) {
            properties.insert_or_assign(name, read_value("properties." + name, each));
        }
        return;
    }
    if (!value.is_array()) {
        throw RecordError{"properties: is not an object or a list"};
    }
    for (const Json& each : value) {
        const std::string* const key = each.is_object() ? find_text(each, "key") : nullptr;
        if (key == nullptr) {
            throw RecordError{"properties: an entry has no key"};
        }
        const Json* const held = find(each, "value");
        const std::string* const type = find_text(each, "type");
        properties.insert_or_assign(*key, held == nullptr ? PropertyValue{}
                                          : type == nullptr
                                              ? read_value("properties." + *key, *held)
                                              : read_typed(*key, *type, *held));
    }
}

std::string read_body(const Json& body) {
    return body.is_string() ? body.get<std::string>() : body.dump();
}

} // namespace

bool is_explorer_record(const Json& record) { return record.contains("messageId"); }

Message read_explorer_record(const Json& record, Message message) {
    for (const TextMember& each : text_members) {
        if (const std::string* const text = find_text(record, each.name)) {
            message.*each.field = *text;
        }
    }
    if (const std::string* const session = find_text(record, "sessionId")) {
        message.session_id = *session;
    }
    if (message.session_id && !message.partition_key.empty()) {
        message.partition_key = *message.session_id; // the program saves the one as the other
    }
    if (const Json* const body = find(record, "body")) {
        message.body = read_body(*body);
    }
    if (const Json* const properties = find(record, "properties")) {
        read_properties(*properties, message.properties);
    }
    if (const std::string* const life = find_text(record, "timeToLive")) {
        const auto span = parse_time_span(*life);
        if (!span) {
            throw RecordError{"timeToLive: is not a length of time such as 14.00:00:00"};
        }
        if (*span == TimeSpan::max()) { // .NET's way to say that it never ends
            message.time_to_live.reset();
        } else if (*span > TimeSpan::zero()) {
            message.time_to_live = std::chrono::ceil<std::chrono::milliseconds>(*span);
        }
    }
    if (const std::string* const due = find_text(record, "scheduledEnqueueTimeUtc")) {
        const auto time = parse_time(due->ends_with('Z') ? *due : *due + "Z");
        if (!time) {
            throw RecordError{
                "scheduledEnqueueTimeUtc: is not a time such as 2026-01-31T12:00:00Z"};
        }
        if (*time != WallTime::min()) { // year 1 means none
            message.scheduled_enqueue_time = *time;
        }
    }
    return message;
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include "tools/sessionq/property_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/utf8.hpp"
#include "tools/nearest_word.hpp"
#include "tools/sessionq/base64.hpp"
#include "tools/sessionq/property_text.hpp"
#include "tools/sessionq/record_error.hpp"

namespace sessionq::cli {
namespace {

constexpr auto longest_int = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// The value as JSON has it, if it is read again with the same type.
std::optional<Json> plain(const PropertyValue& value) {
    switch (value.type()) {
    case ValueType::null: return Json(nullptr);
    case ValueType::boolean: return Json(std::get<bool>(value));
    case ValueType::int64: return Json(std::get<std::int64_t>(value));
    case ValueType::uint64: {
        const auto number = std::get<std::uint64_t>(value);
        return number > longest_int ? std::optional{Json(number)} : std::nullopt;
    }
    case ValueType::float64: {
        const auto number = std::get<double>(value);
        return std::isfinite(number) ? std::optional{Json(number)} : std::nullopt;
    }
    case ValueType::string: {
        Json json = Json::object();
        put_text(json, "string", std::get<std::string>(value));
        return json.contains("string") ? json["string"] : json;
    }
    default: return std::nullopt;
    }
}

/// The value of the one member of a typed value.
Json typed(const PropertyValue& value, const TypedText& text) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return *number;
    }
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
        return *number;
    }
    const auto* number = std::get_if<double>(&value);
    return number != nullptr && std::isfinite(*number) ? Json(*number) : Json(text.text);
}

std::string text_in(const std::string& member, const Json& value) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_number() || value.is_boolean()) {
        return value.dump();
    }
    throw RecordError{member + ": is not a string or a number"};
}

PropertyValue read_typed(const std::string& member, const Json& value) {
    const std::string type = value.size() == 1 ? value.begin().key() : "";
    const std::string where = member + "." + type;
    if (type == "string_base64") {
        return read_base64(where, value.front());
    }
    if (std::ranges::find(value_types(), type) == value_types().end()) {
        throw RecordError{member + ": is an object without exactly one member that is a type" +
                          (type.empty() ? "" : tools::did_you_mean(type, value_types()))};
    }
    const std::string text = text_in(where, value.front());
    // Numbers of JSON have a fraction, and no more digits than a double.
    if (type == "float" && value.front().is_number()) {
        const double number = value.front().get<double>();
        const auto narrow = static_cast<double>(static_cast<float>(number));
        return {narrow, ValueType::float32};
    }
    auto parsed = parse_value(type, text);
    if (!parsed) {
        throw RecordError{where + (type == "time" || type == "date_time_offset"
                                       ? ": is not a time such as 2026-01-31T12:00:00Z"
                                       : ": is no value of this type")};
    }
    return *std::move(parsed);
}

} // namespace

Json json_of(const PropertyValue& value) {
    if (auto json = plain(value)) {
        return *std::move(json);
    }
    const TypedText text = typed_text(value);
    Json json = Json::object();
    json[text.type] = text.type == "amqp" ? Json(text.text) : typed(value, text);
    return json;
}

Json json_of(const Properties& properties) {
    Json json = Json::object();
    for (const auto& [name, value] : properties) {
        json[name] = json_of(value);
    }
    return json;
}

PropertyValue read_value(const std::string& member, const Json& value) {
    switch (value.type()) {
    case Json::value_t::null: return std::monostate{};
    case Json::value_t::boolean: return value.get<bool>();
    case Json::value_t::number_integer: return value.get<std::int64_t>();
    case Json::value_t::number_unsigned:
        return value.get<std::uint64_t>() <= longest_int
                   ? PropertyValue{value.get<std::int64_t>()}
                   : PropertyValue{value.get<std::uint64_t>()};
    case Json::value_t::number_float: return value.get<double>();
    case Json::value_t::string: return value.get<std::string>();
    case Json::value_t::object: return read_typed(member, value);
    default: throw RecordError{member + ": is a list; a property has one value"};
    }
}

std::string read_base64(const std::string& member, const Json& value) {
    auto bytes =
        value.is_string() ? from_base64(value.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes) {
        throw RecordError{member + ": is not base64"};
    }
    return *std::move(bytes);
}

} // namespace sessionq::cli

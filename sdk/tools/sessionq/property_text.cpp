// SPDX-License-Identifier: MIT
#include "tools/sessionq/property_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "amqp/base64.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/codec/property_value.hpp"
#include "core/utf8.hpp"
#include "tools/command_line.hpp"
#include "tools/nearest_word.hpp"
#include "tools/sessionq/base64.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

using Parsed = std::optional<PropertyValue>;

template <typename Number>
std::optional<Number> read_number(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{number}
                                                                    : std::nullopt;
}

template <typename Number>
Parsed parse_number(std::string_view text) {
    const auto number = read_number<Number>(text);
    return number ? Parsed{*number} : std::nullopt;
}

template <typename Number, ValueType Type>
Parsed parse_typed(std::string_view text) {
    const auto number = read_number<Number>(text);
    using Held = std::conditional_t<std::is_same_v<Number, float>, double, std::int64_t>;
    return number ? Parsed{PropertyValue{static_cast<Held>(*number), Type}} : std::nullopt;
}

template <Decimal::Width Width>
Parsed parse_decimal(std::string_view text) {
    const auto decimal = Decimal::parse(text, Width);
    return decimal ? Parsed{*decimal} : std::nullopt;
}

Parsed parse_bytes(std::string_view text) {
    const auto bytes = from_base64(text);
    if (!bytes) {
        return std::nullopt;
    }
    const auto* const first = reinterpret_cast<const std::byte*>(bytes->data());
    return PropertyValue{std::vector<std::byte>(first, first + bytes->size())};
}

Parsed parse_encoded(std::string_view text) {
    const auto bytes = from_base64(text);
    return bytes ? amqp::read_property(*bytes) : std::nullopt;
}

Parsed parse_timestamp(std::string_view text) {
    const auto time = parse_time(text);
    if (time && is_beyond(*time)) {
        const auto instant = parse_instant(text);
        constexpr TimeSpan year_one_to_epoch = std::chrono::seconds{62'135'596'800};
        return instant ? Parsed{FarTime{std::chrono::floor<std::chrono::milliseconds>(
                             instant->since - year_one_to_epoch)}}
                       : std::nullopt;
    }
    return time ? Parsed{*time} : std::nullopt;
}

Parsed parse_character(std::string_view text) {
    const auto first = text.empty() ? std::nullopt : core::first_character(text);
    return first && first->size == text.size() ? Parsed{static_cast<char32_t>(first->code)}
                                               : std::nullopt;
}

struct Type {
    std::string_view name;
    Parsed (*parse)(std::string_view);
};

constexpr std::array types{
    Type{"string", [](std::string_view text) { return Parsed{std::string{text}}; }},
    Type{"int", parse_number<std::int64_t>},
    Type{"uint", parse_number<std::uint64_t>},
    Type{"int8", parse_typed<std::int8_t, ValueType::int8>},
    Type{"int16", parse_typed<std::int16_t, ValueType::int16>},
    Type{"int32", parse_typed<std::int32_t, ValueType::int32>},
    Type{"int64", parse_number<std::int64_t>},
    Type{"uint8", parse_typed<std::uint8_t, ValueType::uint8>},
    Type{"uint16", parse_typed<std::uint16_t, ValueType::uint16>},
    Type{"uint32", parse_typed<std::uint32_t, ValueType::uint32>},
    Type{"uint64", parse_number<std::uint64_t>},
    Type{"float", parse_typed<float, ValueType::float32>},
    Type{"double", parse_number<double>},
    Type{"decimal", parse_decimal<Decimal::Width::bits128>},
    Type{"decimal32", parse_decimal<Decimal::Width::bits32>},
    Type{"decimal64", parse_decimal<Decimal::Width::bits64>},
    Type{"decimal128", parse_decimal<Decimal::Width::bits128>},
    Type{"bool",
         [](std::string_view text) {
             return text == "true" ? Parsed{true} : text == "false" ? Parsed{false} : std::nullopt;
         }},
    Type{"char", parse_character},
    Type{"time", parse_timestamp},
    Type{"uuid",
         [](std::string_view text) {
             const auto uuid = Uuid::parse(text);
             return uuid ? Parsed{*uuid} : std::nullopt;
         }},
    Type{"symbol",
         [](std::string_view text) {
             return Parsed{PropertyValue{std::string{text}, ValueType::symbol}};
         }},
    Type{"time_span",
         [](std::string_view text) {
             const auto span = parse_time_span(text);
             return span ? Parsed{*span} : std::nullopt;
         }},
    Type{"uri", [](std::string_view text) { return Parsed{Uri{std::string{text}}}; }},
    Type{"date_time_offset",
         [](std::string_view text) {
             const auto instant = parse_instant(text);
             return instant ? Parsed{*instant} : std::nullopt;
         }},
    Type{"base64", parse_bytes},
    Type{"amqp", parse_encoded},
    Type{"null",
         [](std::string_view text) {
             return text.empty() ? Parsed{std::monostate{}} : std::nullopt;
         }},
};

std::string_view name_of(ValueType type) noexcept {
    switch (type) {
    case ValueType::null: return "null";
    case ValueType::boolean: return "bool";
    case ValueType::uint8: return "uint8";
    case ValueType::uint16: return "uint16";
    case ValueType::uint32: return "uint32";
    case ValueType::uint64: return "uint64";
    case ValueType::int8: return "int8";
    case ValueType::int16: return "int16";
    case ValueType::int32: return "int32";
    case ValueType::int64: return "int64";
    case ValueType::float32: return "float";
    case ValueType::float64: return "double";
    case ValueType::decimal32: return "decimal32";
    case ValueType::decimal64: return "decimal64";
    case ValueType::decimal128: return "decimal128";
    case ValueType::character: return "char";
    case ValueType::timestamp: return "time";
    case ValueType::uuid: return "uuid";
    case ValueType::binary: return "base64";
    case ValueType::string: return "string";
    case ValueType::symbol: return "symbol";
    case ValueType::time_span: return "time_span";
    case ValueType::uri: return "uri";
    case ValueType::date_time_offset: return "date_time_offset";
    case ValueType::encoded: return "amqp";
    }
    return "amqp";
}

template <typename Number>
std::string number_text(Number number) {
    std::array<char, 64> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

/// The text of a value, where its type has one.
struct TextOf {
    using Text = std::optional<std::string>;

    Text operator()(std::monostate /*null*/) const { return ""; }
    Text operator()(bool value) const { return value ? "true" : "false"; }
    Text operator()(std::int64_t value) const { return number_text(value); }
    Text operator()(std::uint64_t value) const { return number_text(value); }
    Text operator()(double value) const {
        return std::isnan(value) ? "nan"
               : type == ValueType::float32 && std::isfinite(value)
                   ? number_text(static_cast<float>(value))
                   : number_text(value);
    }
    Text operator()(const std::string& value) const { return value; }
    Text operator()(WallTime value) const { return time_text(value); }
    Text operator()(const std::vector<std::byte>& value) const {
        return amqp::base64({reinterpret_cast<const char*>(value.data()), value.size()});
    }
    Text operator()(char32_t value) const { return core::utf8_of(value); }
    Text operator()(const Uuid& value) const { return value.to_string(); }
    Text operator()(const Decimal& value) const { return value.to_string(); }
    Text operator()(TimeSpan value) const { return time_span_text(value); }
    Text operator()(const DateTimeOffset& value) const { return instant_text(value); }
    Text operator()(const Uri& value) const { return value.text; }
    Text operator()(FarTime value) const {
        const auto instant = instant_of(value.since);
        return instant ? instant_text(*instant) : std::nullopt;
    }
    Text operator()(const EncodedValue& /*value*/) const { return std::nullopt; }

    ValueType type;
};

} // namespace

const std::vector<std::string>& value_types() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> made;
        std::ranges::transform(types, std::back_inserter(made),
                               [](const Type& type) { return std::string{type.name}; });
        return made;
    }();
    return names;
}

std::optional<PropertyValue> parse_value(std::string_view type, std::string_view text) {
    const auto* const found = std::ranges::find(types, type, &Type::name);
    return found == types.end() ? std::nullopt : found->parse(text);
}

TypedText typed_text(const PropertyValue& value) {
    const ValueType type = value.type();
    const std::string_view name = name_of(type);
    const auto text = std::visit(TextOf{type}, value);
    const bool is_nan = text == "nan" && std::holds_alternative<double>(value);
    const bool is_decimal = std::holds_alternative<Decimal>(value); // its text is always read
    if (text && core::is_utf8(*text) &&
        (is_nan || is_decimal || parse_value(name, *text) == value)) {
        return {std::string{name}, *text};
    }
    std::string encoded;
    amqp::Encoder encoder{encoded};
    amqp::write_property(value, encoder);
    return {"amqp", amqp::base64(encoded)};
}

std::pair<std::string, PropertyValue> parse_property(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        throw tools::UsageError{"--property: '" + std::string{text} +
                                "' is not NAME=VALUE or NAME:TYPE=VALUE"};
    }
    const std::string_view value = text.substr(equals + 1);
    const std::string_view left = text.substr(0, equals);
    const std::size_t colon = left.rfind(':');
    const std::string name{left.substr(0, colon)};
    const std::string type{colon == std::string_view::npos ? "string" : left.substr(colon + 1)};
    if (auto parsed = parse_value(type, value)) {
        return {name, *std::move(parsed)};
    }
    if (std::ranges::find(value_types(), type) != value_types().end()) {
        throw tools::UsageError{"--property " + name + ": '" + std::string{value} +
                                "' is no value of type " + type};
    }
    throw tools::UsageError{"--property " + name + ": unknown type '" + type + "'" +
                            tools::did_you_mean(type, value_types())};
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include "amqp/codec/property_value.hpp"

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

namespace sessionq::amqp {
namespace {

std::string utf8(char32_t character) {
    const auto part = [character](unsigned mark, unsigned shift) {
        return static_cast<char>(mark | ((character >> shift) & 0x3fU));
    };
    if (character < 0x80) {
        return {static_cast<char>(character)};
    }
    if (character < 0x800) {
        return {part(0xc0, 6), part(0x80, 0)};
    }
    if (character < 0x10000) {
        return {static_cast<char>(0xe0U | character >> 12U), part(0x80, 6), part(0x80, 0)};
    }
    if (character < 0x110000) {
        return {static_cast<char>(0xf0U | character >> 18U), part(0x80, 12), part(0x80, 6),
                part(0x80, 0)};
    }
    return "\xef\xbf\xbd"; // U+FFFD in place of an invalid character
}

} // namespace

Value to_value(const PropertyValue& value) {
    return std::visit(
        [](const auto& held) -> Value {
            using Kind = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Kind, std::monostate>) {
                return {};
            } else if constexpr (std::is_same_v<Kind, WallTime>) {
                return Timestamp::of(held);
            } else if constexpr (std::is_same_v<Kind, std::vector<std::byte>>) {
                return Value::binary({reinterpret_cast<const char*>(held.data()), held.size()});
            } else {
                return held;
            }
        },
        value);
}

PropertyValue to_property(const Value& value) {
    if (value.is_null()) {
        return {};
    }
    if (const auto* boolean = value.as<bool>()) {
        return *boolean;
    }
    if (const auto* timestamp = value.as<Timestamp>()) {
        return timestamp->time();
    }
    if (const auto* wide = value.as<std::uint64_t>()) {
        return *wide;
    }
    if (const auto* number = value.as<double>()) {
        return *number;
    }
    if (const auto* number = value.as<float>()) {
        return static_cast<double>(*number);
    }
    if (const auto* binary = value.as<Binary>()) {
        const auto* bytes = reinterpret_cast<const std::byte*>(binary->bytes.data());
        return std::vector<std::byte>{bytes, bytes + binary->bytes.size()};
    }
    if (const auto text = value.text()) {
        return std::string{*text};
    }
    if (const auto* character = value.as<char32_t>()) {
        return utf8(*character);
    }
    if (const auto number = value.integer()) {
        return *number;
    }
    return value.to_string();
}

std::optional<PropertyValue> read_property(std::string_view encoded) {
    // a short cut for strings, the most frequent type
    if (encoded.starts_with('\xa1') || encoded.starts_with('\xb1')) {
        Decoder decoder{encoded};
        const auto text = decoder.read_bytes();
        return text && decoder.at_end()
                   ? std::optional<PropertyValue>{std::in_place, std::in_place_type<std::string>,
                                                  *text}
                   : std::nullopt;
    }
    const auto value = decode(encoded);
    return value ? std::optional{to_property(*value)} : std::nullopt;
}

} // namespace sessionq::amqp

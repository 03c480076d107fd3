// SPDX-License-Identifier: MIT
#include "amqp/codec/property_value.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "amqp/codec/constructor.hpp"
#include "amqp/codec/decoder.hpp"
#include "amqp/codec/encoder.hpp"

namespace sessionq::amqp {
namespace {

// The descriptors of Azure's client for .NET.
constexpr std::string_view time_span_name = "com.microsoft:timespan";
constexpr std::string_view uri_name = "com.microsoft:uri";
constexpr std::string_view date_time_offset_name = "com.microsoft:datetime-offset";

std::string_view view_of(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span{text});
}

Value to_integer(std::int64_t number, ValueType type) {
    switch (type) {
    case ValueType::uint8: return static_cast<std::uint8_t>(number);
    case ValueType::uint16: return static_cast<std::uint16_t>(number);
    case ValueType::uint32: return static_cast<std::uint32_t>(number);
    case ValueType::int8: return static_cast<std::int8_t>(number);
    case ValueType::int16: return static_cast<std::int16_t>(number);
    case ValueType::int32: return static_cast<std::int32_t>(number);
    default: return number;
    }
}

Value to_decimal(const sessionq::Decimal& decimal) {
    using Width = sessionq::Decimal::Width;
    const std::uint8_t code = decimal.width() == Width::bits32   ? 0x74
                              : decimal.width() == Width::bits64 ? 0x84
                                                                 : 0x94;
    return Decimal{code, std::string{view_of(decimal.bytes())}};
}

PropertyValue to_wide(std::int64_t number, ValueType type) { return {number, type}; }

// Converting a NaN may change its bits.
constexpr unsigned more_mantissa = 52 - 23;

double widened(float number) noexcept {
    if (!std::isnan(number)) {
        return static_cast<double>(number);
    }
    const auto bits = std::bit_cast<std::uint32_t>(number);
    return std::bit_cast<double>(std::uint64_t{bits >> 31U} << 63U | std::uint64_t{0x7ff} << 52U |
                                 std::uint64_t{bits & 0x7fffffU} << more_mantissa);
}

float narrowed(double number) noexcept {
    if (!std::isnan(number)) {
        return static_cast<float>(number);
    }
    const auto bits = std::bit_cast<std::uint64_t>(number);
    const auto mantissa = static_cast<std::uint32_t>(bits >> more_mantissa & 0x7fffffU);
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 63U) << 31U | 0x7f800000U |
                                (mantissa != 0 ? mantissa : 0x400000U));
}

PropertyValue to_time(Timestamp timestamp) {
    const WallTime time = timestamp.time();
    return is_beyond(time)
               ? PropertyValue{FarTime{std::chrono::milliseconds{timestamp.milliseconds}}}
               : PropertyValue{time};
}

/// Whether a value is kept as it is encoded. Such values may be large, so no tree is built.
bool stays_encoded(std::string_view encoded) noexcept {
    const auto code = encoded.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(encoded[0]);
    return code == 0x45 || constructor::is_compound(code) || constructor::is_array(code);
}

/// Returns a value of .NET's client, or nothing.
std::optional<PropertyValue> of_dotnet(const Described& described) {
    const auto name = described.descriptor.text();
    if (name == time_span_name) {
        if (const auto* ticks = described.value.as<std::int64_t>()) {
            return TimeSpan{*ticks};
        }
    } else if (name == date_time_offset_name) {
        if (const auto* ticks = described.value.as<std::int64_t>()) {
            return DateTimeOffset{TimeSpan{*ticks}};
        }
    } else if (name == uri_name) {
        if (const auto* text = described.value.as<std::string>()) {
            return Uri{*text};
        }
    }
    return std::nullopt;
}

} // namespace

Value to_value(const PropertyValue& value) {
    const ValueType type = value.type();
    return std::visit(
        [type](const auto& held) -> Value {
            using Kind = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Kind, std::monostate>) {
                return {};
            } else if constexpr (std::is_same_v<Kind, std::int64_t>) {
                return to_integer(held, type);
            } else if constexpr (std::is_same_v<Kind, double>) {
                return type == ValueType::float32 ? Value{narrowed(held)} : Value{held};
            } else if constexpr (std::is_same_v<Kind, std::string>) {
                return type == ValueType::symbol ? Value{Symbol{held}} : Value{held};
            } else if constexpr (std::is_same_v<Kind, WallTime>) {
                return Timestamp::of(held);
            } else if constexpr (std::is_same_v<Kind, FarTime>) {
                return Timestamp{held.since.count()};
            } else if constexpr (std::is_same_v<Kind, std::vector<std::byte>>) {
                return Value::binary(view_of(held));
            } else if constexpr (std::is_same_v<Kind, Uuid>) {
                return core::Uuid{held.bytes};
            } else if constexpr (std::is_same_v<Kind, sessionq::Decimal>) {
                return to_decimal(held);
            } else if constexpr (std::is_same_v<Kind, TimeSpan>) {
                return Value::described(Value::symbol(time_span_name), held.count());
            } else if constexpr (std::is_same_v<Kind, DateTimeOffset>) {
                return Value::described(Value::symbol(date_time_offset_name), held.since.count());
            } else if constexpr (std::is_same_v<Kind, Uri>) {
                return Value::described(Value::symbol(uri_name), held.text);
            } else if constexpr (std::is_same_v<Kind, EncodedValue>) {
                return decode(held.bytes).value_or(Value{});
            } else {
                return held;
            }
        },
        value);
}

PropertyValue to_property(const Value& value) {
    return std::visit(
        [&value](const auto& held) -> PropertyValue {
            using Kind = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Kind, std::monostate>) {
                return {};
            } else if constexpr (std::is_same_v<Kind, std::uint8_t>) {
                return to_wide(held, ValueType::uint8);
            } else if constexpr (std::is_same_v<Kind, std::uint16_t>) {
                return to_wide(held, ValueType::uint16);
            } else if constexpr (std::is_same_v<Kind, std::uint32_t>) {
                return to_wide(held, ValueType::uint32);
            } else if constexpr (std::is_same_v<Kind, std::int8_t>) {
                return to_wide(held, ValueType::int8);
            } else if constexpr (std::is_same_v<Kind, std::int16_t>) {
                return to_wide(held, ValueType::int16);
            } else if constexpr (std::is_same_v<Kind, std::int32_t>) {
                return to_wide(held, ValueType::int32);
            } else if constexpr (std::is_same_v<Kind, float>) {
                return {widened(held), ValueType::float32};
            } else if constexpr (std::is_same_v<Kind, Symbol>) {
                return {held.text, ValueType::symbol};
            } else if constexpr (std::is_same_v<Kind, Timestamp>) {
                return to_time(held);
            } else if constexpr (std::is_same_v<Kind, core::Uuid>) {
                return Uuid{held.bytes};
            } else if constexpr (std::is_same_v<Kind, Decimal>) {
                return sessionq::Decimal::of_bytes(bytes_of(held.bytes))
                    .value_or(sessionq::Decimal{});
            } else if constexpr (std::is_same_v<Kind, Binary>) {
                const auto bytes = bytes_of(held.bytes);
                return std::vector<std::byte>{bytes.begin(), bytes.end()};
            } else if constexpr (std::is_same_v<Kind, List> || std::is_same_v<Kind, Map> ||
                                 std::is_same_v<Kind, Array>) {
                return EncodedValue{encode(value)};
            } else if constexpr (std::is_same_v<Kind, std::shared_ptr<const Described>>) {
                auto known = of_dotnet(*held);
                return known ? *std::move(known) : PropertyValue{EncodedValue{encode(value)}};
            } else {
                return held;
            }
        },
        value.held());
}

void write_property(const PropertyValue& value, Encoder& encoder) {
    const auto* encoded = std::get_if<EncodedValue>(&value);
    if (encoded != nullptr && decode(encoded->bytes)) {
        encoder.put_raw(encoded->bytes);
    } else {
        encoder.write(to_value(value));
    }
}

bool can_read_property(std::string_view encoded) {
    Decoder decoder{encoded};
    return decoder.check() && decoder.at_end();
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
    if (stays_encoded(encoded)) {
        return can_read_property(encoded)
                   ? std::optional<PropertyValue>{EncodedValue{std::string{encoded}}}
                   : std::nullopt;
    }
    const auto value = decode(encoded);
    auto made = value ? std::optional{to_property(*value)} : std::nullopt;
    if (made) {
        if (auto* kept = std::get_if<EncodedValue>(&*made)) {
            kept->bytes = encoded;
        }
    }
    return made;
}

} // namespace sessionq::amqp

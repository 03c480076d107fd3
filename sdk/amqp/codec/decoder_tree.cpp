// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "amqp/codec/constructor.hpp"
#include "amqp/codec/decoder.hpp"

// The part of Decoder that builds trees.
namespace sessionq::amqp {

using namespace constructor;

namespace {

template <typename To>
To signed_of(std::uint64_t bits) noexcept {
    return static_cast<To>(static_cast<std::make_unsigned_t<To>>(bits));
}

template <typename Float, typename Bits>
Float float_of(std::uint64_t bits) noexcept {
    return std::bit_cast<Float>(static_cast<Bits>(bits));
}

/// A value of at most eight bytes: `raw`, and as a number `bits`.
std::optional<Value> fixed_value(std::uint8_t code, std::uint64_t bits, std::string_view raw) {
    switch (code) {
    case 0x40: return Value{};
    case 0x41: return Value{true};
    case 0x42: return Value{false};
    case 0x56: return bits <= 1 ? std::optional{Value{bits == 1}} : std::nullopt;
    case 0x50: return Value{static_cast<std::uint8_t>(bits)};
    case 0x60: return Value{static_cast<std::uint16_t>(bits)};
    case 0x43:
    case 0x52:
    case 0x70: return Value{static_cast<std::uint32_t>(bits)};
    case 0x44:
    case 0x53:
    case 0x80: return Value{bits};
    case 0x51: return Value{signed_of<std::int8_t>(bits)};
    case 0x61: return Value{signed_of<std::int16_t>(bits)};
    case 0x54: return Value{std::int32_t{signed_of<std::int8_t>(bits)}};
    case 0x71: return Value{signed_of<std::int32_t>(bits)};
    case 0x55: return Value{std::int64_t{signed_of<std::int8_t>(bits)}};
    case 0x81: return Value{signed_of<std::int64_t>(bits)};
    case 0x72: return Value{float_of<float, std::uint32_t>(bits)};
    case 0x82: return Value{float_of<double, std::uint64_t>(bits)};
    case 0x73: return Value{static_cast<char32_t>(bits)};
    case 0x83: return Value{Timestamp{signed_of<std::int64_t>(bits)}};
    case 0x74:
    case 0x84: return Value{Decimal{code, std::string{raw}}};
    case 0x45: return Value{List{}};
    default: return std::nullopt;
    }
}

Value to_map(List items) {
    Map map;
    map.reserve(items.size() / 2);
    for (std::size_t i = 0; i < items.size(); i += 2) {
        map.emplace_back(std::move(items[i]), std::move(items[i + 1]));
    }
    return Value{std::move(map)};
}

/// Limits what is reserved ahead. The count is not trusted, and lists nest.
std::size_t reservation(std::uint32_t count) noexcept { return std::min<std::size_t>(count, 64); }

} // namespace

std::optional<Value> Decoder::read(std::uint32_t most_values) {
    const std::size_t start = at_;
    Allowance allowance{.values = most_values};
    auto value = read(0, allowance);
    if (!value) {
        at_ = start;
    }
    return value;
}

std::optional<Value> Decoder::read(int depth, Allowance& allowance) {
    const auto code = take_number(1);
    if (!code || depth > deepest || allowance.values == 0) {
        return std::nullopt;
    }
    --allowance.values;
    if (*code != 0) {
        return read_body(static_cast<std::uint8_t>(*code), depth, allowance);
    }
    auto descriptor = read(depth + 1, allowance);
    auto value = descriptor ? read(depth + 1, allowance) : std::nullopt;
    if (!value) {
        return std::nullopt;
    }
    return Value::described(std::move(*descriptor), std::move(*value));
}

std::optional<Value> Decoder::read_body(std::uint8_t code, int depth, Allowance& allowance) {
    if (is_sized(code)) {
        const auto bytes = take_sized(code);
        if (!bytes) {
            return std::nullopt;
        }
        switch (code & 0x0fU) {
        case 0x0: return Value::binary(*bytes);
        case 0x1: return Value{*bytes};
        case 0x3: return Value::symbol(*bytes);
        default: return std::nullopt;
        }
    }
    if (is_array(code)) {
        return read_array(code, depth, allowance);
    }
    if (is_compound(code)) {
        const auto compound = take_compound(code);
        const bool is_map = (code & 0x0fU) == 0x1;
        if (!compound || (code & 0x0fU) > 0x1 || (is_map && compound->count % 2 != 0) ||
            compound->count > std::min<std::size_t>(compound->items.size(), allowance.values)) {
            return std::nullopt;
        }
        Decoder inside{compound->items};
        List items;
        items.reserve(reservation(compound->count));
        for (std::uint32_t i = 0; i < compound->count; ++i) {
            auto item = inside.read(depth + 1, allowance);
            if (!item) {
                return std::nullopt;
            }
            items.push_back(std::move(*item));
        }
        if (!inside.at_end()) {
            return std::nullopt;
        }
        return is_map ? to_map(std::move(items)) : Value{std::move(items)};
    }
    const auto width = fixed_width(code);
    if (!width) {
        return std::nullopt;
    }
    if (code == 0x98 || code == 0x94) {
        const auto raw = take(16);
        if (!raw) {
            return std::nullopt;
        }
        if (code == 0x94) {
            return Value{Decimal{code, std::string{*raw}}};
        }
        core::Uuid uuid;
        std::memcpy(uuid.bytes.data(), raw->data(), 16);
        return Value{uuid};
    }
    const auto bits = *width <= 8 ? take_number(*width) : std::nullopt;
    if (!bits) {
        return std::nullopt;
    }
    return fixed_value(code, *bits, bytes_.substr(at_ - *width, *width));
}

std::optional<Value> Decoder::read_array(std::uint8_t code, int depth, Allowance& allowance) {
    const auto compound = take_compound(code);
    if (!compound) {
        return std::nullopt;
    }
    Decoder inside{compound->items};
    Array array;
    auto element = inside.take_number(1);
    if (element && *element == 0) {
        auto descriptor = inside.read(depth + 1, allowance);
        element = descriptor ? inside.take_number(1) : std::nullopt;
        if (element) {
            array.descriptor = std::make_shared<const Value>(std::move(*descriptor));
        }
    }
    if (!element || *element == 0) {
        return std::nullopt;
    }
    array.element = static_cast<std::uint8_t>(*element);
    if (fixed_width(array.element) == std::size_t{0}) {
        if (compound->count > allowance.empty_elements) {
            return std::nullopt;
        }
        allowance.empty_elements -= compound->count;
    } else if (compound->count > inside.rest().size()) {
        return std::nullopt;
    }
    if (compound->count > allowance.values) {
        return std::nullopt;
    }
    allowance.values -= compound->count;
    array.items.reserve(reservation(compound->count));
    for (std::uint32_t i = 0; i < compound->count; ++i) {
        auto item =
            depth < deepest ? inside.read_body(array.element, depth + 1, allowance) : std::nullopt;
        if (!item) {
            return std::nullopt;
        }
        array.items.push_back(std::move(*item));
    }
    if (!inside.at_end()) {
        return std::nullopt;
    }
    return Value{std::move(array)};
}

} // namespace sessionq::amqp

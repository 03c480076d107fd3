#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

// Constructor codes: the upper half says how a value is laid out (part 1, section 1.2 of the standard). For the encoder and the decoder.
namespace sessionq::amqp::constructor {

constexpr std::uint8_t layout_of(std::uint8_t code) noexcept { return code >> 4U; }

/// How many bytes follow, where the code alone says it.
constexpr std::optional<std::size_t> fixed_width(std::uint8_t code) noexcept {
    const std::uint8_t layout = layout_of(code);
    if (layout < 0x4 || layout > 0x9) {
        return std::nullopt;
    }
    return layout == 0x4 ? 0 : std::size_t{1} << (layout - 0x5U);
}

constexpr bool is_sized(std::uint8_t code) noexcept {
    return layout_of(code) == 0xa || layout_of(code) == 0xb;
}
constexpr bool is_compound(std::uint8_t code) noexcept {
    return layout_of(code) == 0xc || layout_of(code) == 0xd;
}
constexpr bool is_array(std::uint8_t code) noexcept { return code == 0xe0 || code == 0xf0; }

/// Of what says its size: whether in one byte rather than four.
constexpr bool has_short_size(std::uint8_t code) noexcept {
    return layout_of(code) % 2 == 0;
} // a, c, e

/// Binary, string or symbol, in either form.
constexpr bool is_bytes(std::uint8_t code) noexcept {
    const unsigned kind = code & 0x0fU;
    return is_sized(code) && (kind == 0x0 || kind == 0x1 || kind == 0x3);
}

/// ubyte, ushort, uint or ulong, in any form.
constexpr bool is_unsigned(std::uint8_t code) noexcept {
    switch (code) {
    case 0x50:
    case 0x60:
    case 0x43:
    case 0x52:
    case 0x70:
    case 0x44:
    case 0x53:
    case 0x80: return true;
    default: return false;
    }
}

/// byte, short, int, long or timestamp, in any form.
constexpr bool is_signed(std::uint8_t code) noexcept {
    switch (code) {
    case 0x51:
    case 0x61:
    case 0x54:
    case 0x71:
    case 0x55:
    case 0x81:
    case 0x83: return true;
    default: return false;
    }
}

} // namespace sessionq::amqp::constructor

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

// Constructor codes. The upper half of a code gives the layout of the value (AMQP 1.0 part 1,
// section 1.2).
namespace sessionq::amqp::constructor {

constexpr std::uint8_t layout_of(std::uint8_t code) noexcept { return code >> 4U; }

/// Returns the number of bytes that follow, if the code alone decides it.
constexpr std::optional<std::size_t> fixed_width(std::uint8_t code) noexcept {
    const std::uint8_t layout = layout_of(code);
    if (layout < 0x4 || layout > 0x9) {
        return std::nullopt;
    }
    return layout == 0x4 ? 0 : std::size_t{1} << (layout - 0x5U);
}

constexpr bool is_sized(std::uint8_t code) noexcept { return (code & 0xe0U) == 0xa0U; }
constexpr bool is_compound(std::uint8_t code) noexcept {
    return layout_of(code) == 0xc || layout_of(code) == 0xd;
}
constexpr bool is_array(std::uint8_t code) noexcept { return code == 0xe0 || code == 0xf0; }

/// For layouts with a size field: returns true if the field has one byte, not four.
constexpr bool has_short_size(std::uint8_t code) noexcept {
    return layout_of(code) % 2 == 0;
} // a, c, e

/// Returns true for binary, string and symbol in either form.
constexpr bool is_bytes(std::uint8_t code) noexcept {
    constexpr unsigned kinds = 1U << 0x0U | 1U << 0x1U | 1U << 0x3U;
    return is_sized(code) && (kinds >> (code & 0x0fU) & 1U) != 0;
}

/// Returns true for each code that alone decides how many bytes follow, and that there is.
constexpr bool is_known_fixed(std::uint8_t code) noexcept {
    constexpr std::array<std::uint16_t, 6> known{
        0b0000'0000'0011'1111,  // 4x: null, true, false, uint, ulong, list
        0b0000'0000'0111'1111,  // 5x: bytes, short forms, boolean
        0b0000'0000'0000'0011,  // 6x: ushort, short
        0b0000'0000'0001'1111,  // 7x: uint, int, float, char, decimal32
        0b0000'0000'0001'1111,  // 8x: ulong, long, double, timestamp, decimal64
        0b0000'0001'0001'0000}; // 9x: decimal128, uuid
    const std::uint8_t layout = layout_of(code);
    return layout >= 0x4 && layout <= 0x9 && (known[layout - 0x4U] >> (code & 0x0fU) & 1U) != 0;
}

/// By constructor codes: whether each value of this code can be read that is complete. Others need
/// a look inside.
inline constexpr std::array<bool, 256> simple = [] {
    std::array<bool, 256> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
        const auto code = static_cast<std::uint8_t>(i);
        made[i] = is_bytes(code) || (is_known_fixed(code) && code != 0x56);
    }
    return made;
}();

/// Returns true for ubyte, ushort, uint and ulong in any form.
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

/// Returns true for byte, short, int, long and timestamp in any form.
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

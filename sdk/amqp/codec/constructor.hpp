#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

// Constructor codes: the upper half says how a value is laid out (part 1, section 1.2 of the standard). For the encoder and the decoder.
namespace sessionq::amqp::constructor {

constexpr std::uint8_t layout_of(std::uint8_t code) noexcept { return code >> 4U; }

/// How many bytes follow, where the code alone says it.
constexpr std::optional<std::size_t> fixed_width(std::uint8_t code) noexcept {
    switch (layout_of(code)) {
    case 0x4: return 0;
    case 0x5: return 1;
    case 0x6: return 2;
    case 0x7: return 4;
    case 0x8: return 8;
    case 0x9: return 16;
    default: return std::nullopt;
    }
}

constexpr bool is_sized(std::uint8_t code) noexcept { return layout_of(code) == 0xa || layout_of(code) == 0xb; }
constexpr bool is_compound(std::uint8_t code) noexcept { return layout_of(code) == 0xc || layout_of(code) == 0xd; }
constexpr bool is_array(std::uint8_t code) noexcept { return code == 0xe0 || code == 0xf0; }

/// Binary, string or symbol, in either form.
constexpr bool is_bytes(std::uint8_t code) noexcept {
    const unsigned kind = code & 0x0fU;
    return is_sized(code) && (kind == 0x0 || kind == 0x1 || kind == 0x3);
}

} // namespace sessionq::amqp::constructor

// SPDX-License-Identifier: MIT
#pragma once

// Sizes of encoded values. Inline, because every frame and message needs them many times.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "amqp/codec/constructor.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {

using core::number_at;

namespace constructor {

inline constexpr std::uint8_t has_size = 0x80;           ///< the code is followed by a size
inline constexpr std::uint8_t has_size_and_count = 0xc0; ///< which includes a count

/// By constructor codes: the size of code and value, or a mark and the width of the size field.
/// Zero: the value is described, or there is no such code.
inline constexpr std::array<std::uint8_t, 256> extents = [] {
    std::array<std::uint8_t, 256> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
        const auto code = static_cast<std::uint8_t>(i);
        const unsigned width = has_short_size(code) ? 1 : 4;
        if (const auto fixed = fixed_width(code)) {
            made[i] = static_cast<std::uint8_t>(1 + *fixed);
        } else if (is_sized(code)) {
            made[i] = static_cast<std::uint8_t>(has_size | width);
        } else if (is_compound(code) || is_array(code)) {
            made[i] = static_cast<std::uint8_t>(has_size_and_count | width);
        }
    }
    return made;
}();

} // namespace constructor

inline constexpr char encoded_null = '\x40';

/// Returns the size of a described value.
[[nodiscard]] std::size_t described_size(std::string_view bytes, int deepest) noexcept;

/// Returns the size of the first value in `bytes`, judged by its outermost constructor alone.
/// Returns zero if it is incomplete, invalid, or described in more than `deepest` layers.
[[nodiscard]] inline std::size_t encoded_size(std::string_view bytes, int deepest) noexcept {
    using namespace constructor;
    if (bytes.empty()) {
        return 0;
    }
    const auto code = static_cast<std::uint8_t>(bytes.front());
    const std::size_t extent = extents[code];
    if (extent < has_size) {
        if (extent == 0) {
            return code == 0 ? described_size(bytes, deepest) : 0;
        }
        return extent <= bytes.size() ? extent : 0;
    }
    const std::size_t width = extent & 0x7U;
    if (bytes.size() <= width) {
        return 0;
    }
    const std::size_t size =
        width == 1 ? number_at<1>(bytes.data() + 1) : number_at<4>(bytes.data() + 1);
    const std::size_t least = extent >= has_size_and_count ? width : 0; // the count is inside
    return size >= least && size < bytes.size() - width ? 1 + width + size : 0;
}

/// The bytes that a complete binary, string or symbol holds. Returns nothing for another value.
[[nodiscard]] inline std::optional<std::string_view> bytes_in(std::string_view value) noexcept {
    using namespace constructor;
    const std::uint8_t code = value.empty() ? 0 : static_cast<std::uint8_t>(value.front());
    if (!is_bytes(code)) {
        return std::nullopt;
    }
    const std::size_t head = has_short_size(code) ? 2 : 5;
    return std::string_view{value.data() + head, value.size() - head};
}

} // namespace sessionq::amqp

// SPDX-License-Identifier: MIT
#pragma once

// Sizes of encoded values. Inline, because every frame and message needs them many times.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "amqp/codec/constructor.hpp"
#include "core/byte_order.hpp"

namespace sessionq::amqp {

using core::number_at;

namespace constructor {

/// Size of code and value by the upper half of the code, or zero if the code alone does not decide
/// it.
inline constexpr std::array<std::uint8_t, 16> fixed_sizes = [] {
    std::array<std::uint8_t, 16> sizes{};
    for (std::size_t layout = 0; layout < sizes.size(); ++layout) {
        const auto width = fixed_width(static_cast<std::uint8_t>(layout << 4U));
        sizes[layout] = static_cast<std::uint8_t>(width ? 1 + *width : 0);
    }
    return sizes;
}();

} // namespace constructor

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
    if (const std::size_t fixed = fixed_sizes[layout_of(code)]; fixed != 0) {
        return fixed <= bytes.size() ? fixed : 0;
    }
    if (code < 0xa0) {
        return code == 0 ? described_size(bytes, deepest) : 0;
    }
    const std::size_t width = has_short_size(code) ? 1 : 4;
    if (bytes.size() <= width) {
        return 0;
    }
    const std::size_t size =
        width == 1 ? number_at<1>(bytes.data() + 1) : number_at<4>(bytes.data() + 1);
    // a compound value contains its count
    const bool is_sound =
        is_sized(code) || (size >= width && (is_compound(code) || is_array(code)));
    return is_sound && size < bytes.size() - width ? 1 + width + size : 0;
}

} // namespace sessionq::amqp

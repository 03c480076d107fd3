#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sessionq::core {

/// The maximum length of a session id or message id, in characters. Documented by Azure Service
/// Bus.
inline constexpr std::size_t max_id_length = 128;

/// The number of UTF-8 characters in `text`.
[[nodiscard]] inline std::size_t characters(std::string_view text) noexcept {
    const auto begins_character = [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
    };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

/// Whether `text` is short enough to be an id.
[[nodiscard]] inline bool is_id(std::string_view text) noexcept {
    return text.size() <= max_id_length || characters(text) <= max_id_length;
}

} // namespace sessionq::core

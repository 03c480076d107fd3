// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/utf8.hpp"

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

/// The fault that keeps `text` from being an id, as the rest of a sentence. Empty: none. A text
/// that is not UTF-8 has no form in AMQP.
[[nodiscard]] inline std::string_view id_fault(std::string_view text) noexcept {
    if (text.empty()) {
        return {};
    }
    if (!is_utf8(text)) {
        return "is not valid UTF-8";
    }
    return text.size() <= max_id_length || characters(text) <= max_id_length
               ? std::string_view{}
               : "is longer than 128 characters";
}

[[nodiscard]] inline bool is_id(std::string_view text) noexcept { return id_fault(text).empty(); }

} // namespace sessionq::core

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sessionq::core {

struct Utf8Character {
    std::uint32_t code{0};
    std::size_t size{0}; ///< in bytes
};

/// Decodes the first character of a text that is not empty. Nothing if it is not UTF-8, also in a
/// longer form than needed.
[[nodiscard]] std::optional<Utf8Character> first_character(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// The text with U+FFFD in place of each byte that is not UTF-8.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// The first characters of a UTF-8 text, at most so many.
[[nodiscard]] std::string_view first_characters(std::string_view text, std::size_t most) noexcept;

/// Encodes a character. One that is none becomes U+FFFD.
[[nodiscard]] std::string utf8_of(char32_t character);

} // namespace sessionq::core

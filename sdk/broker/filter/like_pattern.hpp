// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sessionq::broker::filter {

/// An invalid byte is a character of its own, which no valid text has.
[[nodiscard]] constexpr char32_t character_of_invalid(unsigned char byte) noexcept {
    return byte < 0x80 ? byte : 0xdc00U + byte;
}

/// Takes the next UTF-8 character.
inline char32_t next_character(std::string_view& text) noexcept {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length == 1 || length > text.size()) {
        text.remove_prefix(1);
        return character_of_invalid(first);
    }
    char32_t character = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xc0U) != 0x80U) {
            text.remove_prefix(1);
            return character_of_invalid(first);
        }
        character = character << 6U | (byte & 0x3fU);
    }
    text.remove_prefix(length);
    return character;
}

/// Whether it is none of those that stand for invalid bytes.
[[nodiscard]] constexpr bool is_valid(char32_t character) noexcept {
    return character < 0xdc80U || character > 0xdcffU;
}

/// A character of a pattern.
struct LikeElement {
    enum class Kind : std::uint8_t { exact, any_one, any_run };
    Kind kind{Kind::exact};
    char32_t character{0};
    std::string_view bytes{}; // of an exact element's character

    [[nodiscard]] bool takes(char32_t given) const noexcept {
        return kind == Kind::any_one || (kind == Kind::exact && character == given);
    }
};

[[nodiscard]] std::vector<LikeElement> read_pattern(std::string_view pattern,
                                                    std::optional<char32_t> escape);

} // namespace sessionq::broker::filter

#include "core/peer_words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace sessionq::core {
namespace {

struct Character {
    std::uint32_t code{0};
    std::size_t size{0};
};

std::uint8_t byte(std::string_view text, std::size_t at) noexcept {
    return static_cast<std::uint8_t>(text[at]);
}

/// Decodes the first character. Nothing if it is not UTF-8, also in a longer form than needed.
std::optional<Character> first_of(std::string_view text) noexcept {
    const std::uint8_t lead = byte(text, 0);
    if (lead < 0x80) {
        return Character{lead, 1};
    }
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < size) {
        return std::nullopt;
    }
    std::uint32_t code = lead & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(text, i) & 0xc0U) != 0x80) {
            return std::nullopt;
        }
        code = code << 6U | (byte(text, i) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    if (code < least[size] || code > 0x10ffff || is_surrogate) {
        return std::nullopt;
    }
    return Character{code, size};
}

bool is_harmful(std::uint32_t code) noexcept {
    const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool is_line_end = code == 0x2028 || code == 0x2029;
    const bool is_direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                              (code >= 0x202a && code <= 0x202e) ||
                              (code >= 0x2066 && code <= 0x2069);
    return is_control || is_line_end || is_direction;
}

} // namespace

std::string peer_words(std::string_view text, std::size_t longest) {
    std::string words;
    words.reserve(std::min(text.size(), longest));
    while (!text.empty()) {
        const auto next = first_of(text);
        const std::size_t size = next ? next->size : 1;
        if (words.size() + size > longest) {
            return words + "...";
        }
        if (next && !is_harmful(next->code)) {
            words.append(text.substr(0, size));
        } else {
            words += '?';
        }
        text.remove_prefix(size);
    }
    return words;
}

std::string escape_peer_words(std::string_view json) {
    std::string words;
    words.reserve(json.size());
    while (!json.empty()) {
        const Character next = first_of(json).value_or(Character{.code = '?', .size = 1});
        if (is_harmful(next.code)) { // all of them have four digits
            std::array<char, 7> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", next.code & 0xffffU);
            words += escape.data();
        } else {
            words.append(json.substr(0, next.size));
        }
        json.remove_prefix(next.size);
    }
    return words;
}

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const auto next = first_of(text);
        if (!next) {
            return false;
        }
        text.remove_prefix(next->size);
    }
    return true;
}

} // namespace sessionq::core

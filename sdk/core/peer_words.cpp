// SPDX-License-Identifier: MIT
#include "core/peer_words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "core/utf8.hpp"

namespace sessionq::core {
namespace {

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
        const auto next = first_character(text);
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

std::string escape_peer_words(std::string json) {
    const auto next_in = [](std::string_view text) {
        return first_character(text).value_or(Utf8Character{.code = '?', .size = 1});
    };
    std::string_view left = json;
    while (!left.empty()) {
        const Utf8Character next = next_in(left);
        if (is_harmful(next.code)) {
            break;
        }
        left.remove_prefix(next.size);
    }
    if (left.empty()) {
        return json; // mostly; a large text is not copied
    }
    std::string words{json, 0, json.size() - left.size()};
    while (!left.empty()) {
        const Utf8Character next = next_in(left);
        if (is_harmful(next.code)) { // all of them have four digits
            std::array<char, 7> escape{};
            std::snprintf(escape.data(), escape.size(), "\\u%04x", next.code & 0xffffU);
            words += escape.data();
        } else {
            words.append(left.substr(0, next.size));
        }
        left.remove_prefix(next.size);
    }
    return words;
}

} // namespace sessionq::core

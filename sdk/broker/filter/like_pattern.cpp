// SPDX-License-Identifier: MIT
#include "broker/filter/like_pattern.hpp"

namespace sessionq::broker::filter {

namespace {

LikeElement next_exact(std::string_view& pattern) noexcept {
    const std::string_view from = pattern;
    const char32_t character = next_character(pattern);
    return {.character = character, .bytes = from.substr(0, from.size() - pattern.size())};
}

} // namespace

std::vector<LikeElement> read_pattern(std::string_view pattern, std::optional<char32_t> escape) {
    std::vector<LikeElement> elements;
    while (!pattern.empty()) {
        const LikeElement next = next_exact(pattern);
        if (escape && next.character == *escape && !pattern.empty()) {
            elements.push_back(next_exact(pattern));
        } else if (next.character == '%') {
            elements.push_back({.kind = LikeElement::Kind::any_run});
        } else if (next.character == '_') {
            elements.push_back({.kind = LikeElement::Kind::any_one});
        } else {
            elements.push_back(next);
        }
    }
    return elements;
}

} // namespace sessionq::broker::filter

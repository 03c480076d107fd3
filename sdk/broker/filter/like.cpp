// SPDX-License-Identifier: MIT
#include "broker/filter/like.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "broker/filter/like_pattern.hpp"
#include "broker/filter/like_search.hpp"

namespace sessionq::broker::filter {
namespace {

constexpr std::uint64_t steps_a_pattern_character = 24;

// Moves `text` behind the part if the text begins with it.
bool skip_start(std::span<const LikeElement> part, std::string_view& text) noexcept {
    return std::ranges::all_of(part, [&text](const LikeElement& element) {
        return !text.empty() && element.takes(next_character(text));
    });
}

} // namespace

bool is_like(std::string_view text, std::string_view pattern, std::optional<char32_t> escape,
             Work& work) {
    const std::vector<LikeElement> elements = read_pattern(pattern, escape);
    work.add(elements.size() * (steps_a_pattern_character + steps_of_part(elements.size())));
    std::span<const LikeElement> rest{elements};
    const auto take_part = [&rest] {
        const auto end = std::ranges::find(rest, LikeElement::Kind::any_run, &LikeElement::kind);
        const auto part = rest.first(static_cast<std::size_t>(end - rest.begin()));
        rest = rest.subspan(part.size());
        return part;
    };
    if (!skip_start(take_part(), text)) {
        return false;
    }
    if (rest.empty()) {
        return text.empty();
    }
    // `rest` begins with `%`. The leftmost match of a part leaves the most text to those behind it.
    for (;;) {
        rest = rest.subspan(1);
        const auto part = take_part();
        if (rest.empty()) {
            return part.empty() || find_part(part, text, Until::end, work);
        }
        if (!part.empty() && !find_part(part, text, Until::first_match, work)) {
            return false;
        }
    }
}

std::uint64_t most_like_steps(std::size_t text, std::size_t pattern) noexcept {
    return (text + pattern) * (1 + steps_of_part(pattern)) + pattern * steps_a_pattern_character;
}

std::optional<char32_t> single_character(std::string_view text) noexcept {
    if (text.empty()) {
        return std::nullopt;
    }
    const char32_t character = next_character(text);
    return text.empty() ? std::optional{character} : std::nullopt;
}

} // namespace sessionq::broker::filter

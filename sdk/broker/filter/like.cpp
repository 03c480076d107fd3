#include "broker/filter/like.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sessionq::broker::filter {
namespace {

// Takes the next UTF-8 character. An invalid byte stands for itself.
char32_t next_character(std::string_view& text) noexcept {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length == 1 || length > text.size()) {
        text.remove_prefix(1);
        return first;
    }
    char32_t character = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if ((byte & 0xc0U) != 0x80U) {
            text.remove_prefix(1);
            return first;
        }
        character = character << 6U | (byte & 0x3fU);
    }
    text.remove_prefix(length);
    return character;
}

struct Element {
    enum class Kind : std::uint8_t { exact, any_one, any_run };
    Kind kind{Kind::exact};
    char32_t character{0};

    [[nodiscard]] bool takes(char32_t given) const noexcept {
        return kind == Kind::any_one || (kind == Kind::exact && character == given);
    }
};

std::vector<Element> read_pattern(std::string_view pattern, std::optional<char32_t> escape) {
    std::vector<Element> elements;
    while (!pattern.empty()) {
        const char32_t character = next_character(pattern);
        if (escape && character == *escape && !pattern.empty()) {
            elements.push_back({.character = next_character(pattern)});
        } else if (character == '%') {
            elements.push_back({.kind = Element::Kind::any_run});
        } else if (character == '_') {
            elements.push_back({.kind = Element::Kind::any_one});
        } else {
            elements.push_back({.character = character});
        }
    }
    return elements;
}

} // namespace

bool is_like(std::string_view text, std::string_view pattern, std::optional<char32_t> escape) {
    const std::vector<Element> elements = read_pattern(pattern, escape);
    std::size_t at = 0;
    // Where to continue if the last `%` must match more; beyond the end if there was none.
    std::size_t after_run = elements.size() + 1;
    std::string_view run_end{};
    for (;;) {
        if (at < elements.size() && elements[at].kind == Element::Kind::any_run) {
            after_run = ++at;
            run_end = text;
            continue;
        }
        if (text.empty() && at == elements.size()) {
            return true;
        }
        std::string_view rest = text;
        if (!text.empty() && at < elements.size() && elements[at].takes(next_character(rest))) {
            text = rest;
            ++at;
            continue;
        }
        if (after_run > elements.size() || run_end.empty()) {
            return false;
        }
        next_character(run_end);
        text = run_end;
        at = after_run;
    }
}

std::optional<char32_t> single_character(std::string_view text) noexcept {
    if (text.empty()) {
        return std::nullopt;
    }
    const char32_t character = next_character(text);
    return text.empty() ? std::optional{character} : std::nullopt;
}

} // namespace sessionq::broker::filter

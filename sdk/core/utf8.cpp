// SPDX-License-Identifier: MIT
#include "core/utf8.hpp"

#include <array>
#include <cstring>

namespace sessionq::core {
namespace {

std::uint8_t byte(std::string_view text, std::size_t at) noexcept {
    return static_cast<std::uint8_t>(text[at]);
}

template <typename Word>
bool is_ascii_word(const char* at) noexcept {
    Word word = 0;
    std::memcpy(&word, at, sizeof word);
    return (word & static_cast<Word>(0x8080808080808080)) == 0;
}

/// Most texts are ASCII: they are looked at in words, of which the last may overlap the one before.
template <typename Word>
bool is_ascii(std::string_view text) noexcept {
    for (std::size_t at = 0; at + sizeof(Word) < text.size(); at += sizeof(Word)) {
        if (!is_ascii_word<Word>(text.data() + at)) {
            return false;
        }
    }
    return is_ascii_word<Word>(text.data() + text.size() - sizeof(Word));
}

bool is_ascii(std::string_view text) noexcept {
    if (text.size() >= sizeof(std::uint64_t)) {
        return is_ascii<std::uint64_t>(text);
    }
    if (text.size() >= sizeof(std::uint32_t)) {
        return is_ascii<std::uint32_t>(text);
    }
    return text.empty() || is_ascii<std::uint8_t>(text);
}

} // namespace

std::optional<Utf8Character> first_character(std::string_view text) noexcept {
    const std::uint8_t lead = byte(text, 0);
    if (lead < 0x80) {
        return Utf8Character{lead, 1};
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
    return Utf8Character{code, size};
}

std::string valid_utf8(std::string_view text) {
    if (is_utf8(text)) {
        return std::string{text};
    }
    std::string valid;
    valid.reserve(text.size());
    while (!text.empty()) {
        const auto character = first_character(text);
        const std::size_t size = character ? character->size : 1;
        valid.append(character ? text.substr(0, size) : std::string_view{"\xef\xbf\xbd"});
        text.remove_prefix(size);
    }
    return valid;
}

std::string_view first_characters(std::string_view text, std::size_t most) noexcept {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool begins_character = (byte(text, at) & 0xc0U) != 0x80U;
        if (begins_character && most-- == 0) {
            return text.substr(0, at);
        }
    }
    return text;
}

bool is_utf8(std::string_view text) noexcept {
    if (is_ascii(text)) {
        return true;
    }
    while (!text.empty()) {
        if (byte(text, 0) < 0x80) {
            text.remove_prefix(1);
            continue;
        }
        const auto next = first_character(text);
        if (!next) {
            return false;
        }
        text.remove_prefix(next->size);
    }
    return true;
}

std::string utf8_of(char32_t character) {
    const auto part = [character](unsigned mark, unsigned shift) {
        return static_cast<char>(mark | ((character >> shift) & 0x3fU));
    };
    const bool is_surrogate = character >= 0xd800 && character <= 0xdfff;
    if (character < 0x80) {
        return {static_cast<char>(character)};
    }
    if (character < 0x800) {
        return {part(0xc0, 6), part(0x80, 0)};
    }
    if (character < 0x10000 && !is_surrogate) {
        return {static_cast<char>(0xe0U | character >> 12U), part(0x80, 6), part(0x80, 0)};
    }
    if (character >= 0x10000 && character < 0x110000) {
        return {static_cast<char>(0xf0U | character >> 18U), part(0x80, 12), part(0x80, 6),
                part(0x80, 0)};
    }
    return "\xef\xbf\xbd";
}

} // namespace sessionq::core

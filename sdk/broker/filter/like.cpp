// SPDX-License-Identifier: MIT
#include "broker/filter/like.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sessionq::broker::filter {
namespace {

// An invalid byte is a character of its own, which no valid text has.
constexpr char32_t character_of_invalid(unsigned char byte) noexcept {
    return byte < 0x80 ? byte : 0xdc00U + byte;
}

constexpr bool is_valid(char32_t character) noexcept {
    return character < 0xdc80U || character > 0xdcffU;
}

// Takes the next UTF-8 character.
char32_t next_character(std::string_view& text) noexcept {
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

struct Element {
    enum class Kind : std::uint8_t { exact, any_one, any_run };
    Kind kind{Kind::exact};
    char32_t character{0};
    std::string_view bytes{}; // of an exact element's character

    [[nodiscard]] bool takes(char32_t given) const noexcept {
        return kind == Kind::any_one || (kind == Kind::exact && character == given);
    }
};

Element next_exact(std::string_view& pattern) noexcept {
    const std::string_view from = pattern;
    const char32_t character = next_character(pattern);
    return {.character = character, .bytes = from.substr(0, from.size() - pattern.size())};
}

std::vector<Element> read_pattern(std::string_view pattern, std::optional<char32_t> escape) {
    std::vector<Element> elements;
    while (!pattern.empty()) {
        const Element next = next_exact(pattern);
        if (escape && next.character == *escape && !pattern.empty()) {
            elements.push_back(next_exact(pattern));
        } else if (next.character == '%') {
            elements.push_back({.kind = Element::Kind::any_run});
        } else if (next.character == '_') {
            elements.push_back({.kind = Element::Kind::any_one});
        } else {
            elements.push_back(next);
        }
    }
    return elements;
}

constexpr std::size_t word_bits = 64;
constexpr std::uint64_t steps_a_pattern_character = 24;

constexpr std::size_t words_for(std::size_t elements) noexcept {
    return (elements + word_bits - 1) / word_bits;
}

// Looks for a part of a pattern, which has no `%`, with the Shift-And algorithm: bit i of `state_`
// says that the first i + 1 elements match the characters read last.
class ShiftAndSearch {
public:
    // At least one element.
    explicit ShiftAndSearch(std::span<const Element> elements)
        : words_{words_for(elements.size())},
          last_bit_{std::uint64_t{1} << ((elements.size() - 1) % word_bits)},
          state_(words_) {
        for (const Element& element : elements) {
            if (element.kind == Element::Kind::exact) {
                characters_.push_back(element.character);
            }
        }
        std::ranges::sort(characters_);
        characters_.erase(std::unique(characters_.begin(), characters_.end()), characters_.end());
        takers_.resize((characters_.size() + 1) * words_);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            if (elements[i].kind == Element::Kind::any_one) {
                mark(0, i);
            }
        }
        for (std::size_t at = words_; at < takers_.size(); ++at) {
            takers_[at] = takers_[at - words_];
        }
        for (std::size_t i = 0; i < elements.size(); ++i) {
            if (elements[i].kind == Element::Kind::exact) {
                mark(row_of(elements[i].character), i);
            }
        }
        for (std::size_t i = 0; i < characters_.size() && characters_[i] < near_.size(); ++i) {
            near_[characters_[i]] = static_cast<std::uint16_t>(i + 1);
        }
    }

    // Returns true if the part matches the characters up to this one.
    bool read(char32_t character) noexcept {
        const std::uint64_t* const takers = takers_.data() + row_of_near(character) * words_;
        std::uint64_t carry = 1;
        for (std::size_t word = 0; word < words_; ++word) {
            const std::uint64_t moved = state_[word] << 1U | carry;
            carry = state_[word] >> (word_bits - 1);
            state_[word] = moved & takers[word];
        }
        return (state_[words_ - 1] & last_bit_) != 0;
    }

    [[nodiscard]] std::size_t steps_a_character() const noexcept { return words_; }

private:
    void mark(std::size_t row, std::size_t element) noexcept {
        takers_[row * words_ + element / word_bits] |= std::uint64_t{1} << (element % word_bits);
    }
    // Row 0 is that of characters that no exact element takes.
    [[nodiscard]] std::size_t row_of_near(char32_t character) const noexcept {
        return character < near_.size() ? near_[character] : row_of(character);
    }
    [[nodiscard]] std::size_t row_of(char32_t character) const noexcept {
        const auto found = std::ranges::lower_bound(characters_, character);
        return found != characters_.end() && *found == character
                   ? static_cast<std::size_t>(found - characters_.begin()) + 1
                   : 0;
    }

    std::size_t words_;
    std::uint64_t last_bit_; // of the last word
    std::vector<std::uint64_t> state_;
    std::vector<char32_t> characters_{};  // those of exact elements, sorted
    std::vector<std::uint64_t> takers_{}; // by row: a bit for each element that takes the character
    std::array<std::uint16_t, 256> near_{}; // the rows of the first characters
};

// Looks for a part that has no `_` either, with the algorithm of Knuth, Morris and Pratt: however
// long the part is, a character costs the same.
class ExactSearch {
public:
    // At least one element.
    explicit ExactSearch(std::span<const Element> elements)
        : elements_{elements}, borders_(elements.size()) {
        for (std::size_t i = 1; i < elements.size(); ++i) {
            borders_[i] = longest_match(borders_[i - 1], elements[i].character);
        }
    }

    // Returns true if the part matches the characters up to this one.
    bool read(char32_t character) noexcept {
        matched_ = longest_match(matched_, character);
        return matched_ == elements_.size();
    }

    [[nodiscard]] static std::size_t steps_a_character() noexcept { return 2; }

private:
    // How many elements match once this character follows `matched` that do.
    [[nodiscard]] std::size_t longest_match(std::size_t matched, char32_t next) const noexcept {
        if (matched == elements_.size()) {
            matched = borders_[matched - 1];
        }
        while (matched > 0 && elements_[matched].character != next) {
            matched = borders_[matched - 1];
        }
        return elements_[matched].character == next ? matched + 1 : 0;
    }

    std::span<const Element> elements_;
    // of the first i + 1 elements: how many at their end are also their beginning
    std::vector<std::size_t> borders_;
    std::size_t matched_{0};
};

enum class Until : std::uint8_t { first_match, end };

// Moves `text` behind the first match, or to its end. Returns true if the part matches there.
template <typename Search>
bool find(Search search, std::string_view& text, Until until, Work& work) {
    std::uint64_t steps = 0;
    bool is_match = false;
    while (!text.empty() && (until == Until::end || !is_match)) {
        is_match = search.read(next_character(text));
        steps += search.steps_a_character();
    }
    work.add(steps);
    return is_match;
}

// Looks for a part of valid characters without `_` as bytes: no UTF-8 character matches within
// another. Finds a byte that the part has least often, and compares the part there.
class ByteSearch {
public:
    explicit ByteSearch(std::span<const Element> part) {
        std::array<std::size_t, 256> counts{};
        for (const Element& element : part) {
            bytes_ += element.bytes;
        }
        for (const char byte : bytes_) {
            ++counts[static_cast<unsigned char>(byte)];
        }
        const auto rarest = std::ranges::min_element(
            bytes_, {}, [&counts](char byte) { return counts[static_cast<unsigned char>(byte)]; });
        rarest_at_ = static_cast<std::size_t>(rarest - bytes_.begin());
    }

    enum class Answer : std::uint8_t { found, not_there, unknown };

    // Moves `text` behind the first match, or to its end. The answer is unknown where the byte is
    // so frequent that comparing takes longer than reading; no match begins before what is left.
    Answer find(std::string_view& text, Work& work) const {
        const std::uint64_t steps_a_candidate = 8 + bytes_.size() / Work::text_bytes_a_step;
        const std::uint64_t paid_by_pattern = 16 + bytes_.size();
        const std::size_t whole = text.size();
        std::uint64_t steps = 0;
        Answer answer = Answer::unknown;
        while (answer == Answer::unknown &&
               steps + steps_a_candidate <= whole - text.size() + paid_by_pattern) {
            const auto at = text.find(bytes_[rarest_at_], rarest_at_);
            if (at == std::string_view::npos) {
                answer = Answer::not_there;
                text = {};
            } else {
                text.remove_prefix(at - rarest_at_);
                steps += steps_a_candidate;
                const bool is_match = text.starts_with(bytes_);
                answer = is_match ? Answer::found : Answer::unknown;
                text.remove_prefix(is_match ? bytes_.size() : 1);
            }
        }
        work.add(steps - std::min(steps, paid_by_pattern));
        work.add_text(whole - text.size());
        return answer;
    }

    // Whether the part is at the end of `text`, of which nothing is left.
    bool is_at_end(std::string_view& text, Work& work) const {
        work.add_text(bytes_.size());
        return std::exchange(text, {}).ends_with(bytes_);
    }

private:
    std::string bytes_{};
    std::size_t rarest_at_;
};

bool find_part(std::span<const Element> part, std::string_view& text, Until until, Work& work) {
    const bool is_exact = std::ranges::all_of(
        part, [](const Element& element) { return element.kind == Element::Kind::exact; });
    if (is_exact && std::ranges::all_of(part, is_valid, &Element::character)) {
        const ByteSearch search{part};
        if (until == Until::end) {
            return search.is_at_end(text, work);
        }
        const ByteSearch::Answer answer = search.find(text, work);
        if (answer != ByteSearch::Answer::unknown) {
            return answer == ByteSearch::Answer::found;
        }
    }
    if (is_exact && words_for(part.size()) > ExactSearch::steps_a_character()) {
        return find(ExactSearch{part}, text, until, work);
    }
    return find(ShiftAndSearch{part}, text, until, work);
}

// Moves `text` behind the part if the text begins with it.
bool skip_start(std::span<const Element> part, std::string_view& text) noexcept {
    return std::ranges::all_of(part, [&text](const Element& element) {
        return !text.empty() && element.takes(next_character(text));
    });
}

} // namespace

bool is_like(std::string_view text, std::string_view pattern, std::optional<char32_t> escape,
             Work& work) {
    const std::vector<Element> elements = read_pattern(pattern, escape);
    work.add(elements.size() * (steps_a_pattern_character + words_for(elements.size())));
    std::span<const Element> rest{elements};
    const auto take_part = [&rest] {
        const auto end = std::ranges::find(rest, Element::Kind::any_run, &Element::kind);
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
    return (text + pattern) * (1 + words_for(pattern)) + pattern * steps_a_pattern_character;
}

std::optional<char32_t> single_character(std::string_view text) noexcept {
    if (text.empty()) {
        return std::nullopt;
    }
    const char32_t character = next_character(text);
    return text.empty() ? std::optional{character} : std::nullopt;
}

} // namespace sessionq::broker::filter

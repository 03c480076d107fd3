// SPDX-License-Identifier: MIT
#include "broker/filter/like_search.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sessionq::broker::filter {

namespace {

// Looks for a part of a pattern, which has no `%`, with the Shift-And algorithm: bit i of `state_`
// says that the first i + 1 elements match the characters read last.
class ShiftAndSearch {
public:
    // At least one element.
    explicit ShiftAndSearch(std::span<const LikeElement> elements)
        : words_{steps_of_part(elements.size())},
          last_bit_{std::uint64_t{1} << ((elements.size() - 1) % word_bits)},
          state_(words_) {
        for (const LikeElement& element : elements) {
            if (element.kind == LikeElement::Kind::exact) {
                characters_.push_back(element.character);
            }
        }
        std::ranges::sort(characters_);
        characters_.erase(std::unique(characters_.begin(), characters_.end()), characters_.end());
        takers_.resize((characters_.size() + 1) * words_);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            if (elements[i].kind == LikeElement::Kind::any_one) {
                mark(0, i);
            }
        }
        for (std::size_t at = words_; at < takers_.size(); ++at) {
            takers_[at] = takers_[at - words_];
        }
        for (std::size_t i = 0; i < elements.size(); ++i) {
            if (elements[i].kind == LikeElement::Kind::exact) {
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
    explicit ExactSearch(std::span<const LikeElement> elements)
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

    std::span<const LikeElement> elements_;
    // of the first i + 1 elements: how many at their end are also their beginning
    std::vector<std::size_t> borders_;
    std::size_t matched_{0};
};

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
    explicit ByteSearch(std::span<const LikeElement> part) {
        std::array<std::size_t, 256> counts{};
        for (const LikeElement& element : part) {
            bytes_ += element.bytes;
        }
        for (const char byte : bytes_) {
            ++counts[static_cast<unsigned char>(byte)];
        }
        const auto rarest = std::ranges::min_element(
            bytes_, {}, [&counts](char byte) { return counts[static_cast<unsigned char>(byte)]; });
        rarest_at_ = static_cast<std::size_t>(rarest - bytes_.begin());
    }

    // Moves `text` behind the first match and returns true, or to its end. Where the byte is so
    // frequent that comparing takes longer than reading, it gives up; no match begins before the
    // text that is left then.
    bool find(std::string_view& text, Work& work) const {
        const std::uint64_t steps_a_candidate = 8 + bytes_.size() / Work::text_bytes_a_step;
        // the cost of the part's characters pays for the first comparisons
        const std::uint64_t paid_by_pattern = 16 + bytes_.size();
        const std::size_t whole = text.size();
        std::uint64_t steps = 0;
        bool is_match = false;
        while (!is_match && !text.empty() &&
               steps + steps_a_candidate <= whole - text.size() + paid_by_pattern) {
            const auto at = text.find(bytes_[rarest_at_], rarest_at_);
            if (at == std::string_view::npos) {
                text = {};
            } else {
                text.remove_prefix(at - rarest_at_);
                steps += steps_a_candidate;
                is_match = text.starts_with(bytes_);
                text.remove_prefix(is_match ? bytes_.size() : 1);
            }
        }
        work.add(steps - std::min(steps, paid_by_pattern));
        work.add_text(whole - text.size());
        return is_match;
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

} // namespace

bool find_part(std::span<const LikeElement> part, std::string_view& text, Until until, Work& work) {
    const bool is_exact = std::ranges::all_of(
        part, [](const LikeElement& element) { return element.kind == LikeElement::Kind::exact; });
    if (is_exact && std::ranges::all_of(part, is_valid, &LikeElement::character)) {
        const ByteSearch search{part};
        if (until == Until::end) {
            return search.is_at_end(text, work);
        }
        if (search.find(text, work)) {
            return true;
        }
        if (text.empty()) {
            return false;
        }
    }
    if (is_exact && steps_of_part(part.size()) > ExactSearch::steps_a_character()) {
        return find(ExactSearch{part}, text, until, work);
    }
    return find(ShiftAndSearch{part}, text, until, work);
}

} // namespace sessionq::broker::filter

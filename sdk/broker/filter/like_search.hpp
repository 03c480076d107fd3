// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "broker/filter/like_pattern.hpp"
#include "broker/filter/work.hpp"

namespace sessionq::broker::filter {

inline constexpr std::size_t word_bits = 64;

/// The steps that a character of the text takes in the slowest search for a part of so many
/// elements.
[[nodiscard]] constexpr std::size_t steps_of_part(std::size_t elements) noexcept {
    return (elements + word_bits - 1) / word_bits;
}

enum class Until : std::uint8_t { first_match, end };

/// Looks for a part of a pattern, which has an element or more and no `%`. Moves `text` behind the
/// first match, or to its end. Returns true if the part matches there.
[[nodiscard]] bool find_part(std::span<const LikeElement> part, std::string_view& text, Until until,
                             Work& work);

} // namespace sessionq::broker::filter

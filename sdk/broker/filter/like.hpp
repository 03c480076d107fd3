// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "broker/filter/work.hpp"

namespace sessionq::broker::filter {

/// Whether the whole of `text` matches `pattern`, case-sensitively. `%` matches any characters and
/// `_` matches one UTF-8 character. Behind the escape character both stand for themselves.
///
/// A character of the text costs at most a step, and one more for each 64 characters of the part
/// between two `%` that is being looked for, or three steps in all if that part is long and has no
/// `_`. Parts without `_` usually cost much less. So the steps are at most the characters of the
/// text times one more than 1/64 of the pattern's, plus a few for each character of the pattern.
[[nodiscard]] bool is_like(std::string_view text, std::string_view pattern,
                           std::optional<char32_t> escape, Work& work);

/// The most steps that `is_like` can take for texts and patterns of these lengths.
[[nodiscard]] std::uint64_t most_like_steps(std::size_t text, std::size_t pattern) noexcept;

/// The only character of `text`; nothing if it has none or several.
[[nodiscard]] std::optional<char32_t> single_character(std::string_view text) noexcept;

} // namespace sessionq::broker::filter

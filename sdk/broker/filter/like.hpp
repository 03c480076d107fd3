#pragma once

#include <optional>
#include <string_view>

namespace sessionq::broker::filter {

/// Whether the whole of `text` matches `pattern`, case-sensitively. `%` matches any characters and
/// `_` matches one UTF-8 character. Behind the escape character both stand for themselves. Takes at
/// most as many steps as the product of the lengths.
[[nodiscard]] bool is_like(std::string_view text, std::string_view pattern,
                           std::optional<char32_t> escape);

/// The only character of `text`; nothing if it has none or several.
[[nodiscard]] std::optional<char32_t> single_character(std::string_view text) noexcept;

} // namespace sessionq::broker::filter

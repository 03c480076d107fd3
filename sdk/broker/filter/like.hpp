#pragma once

#include <optional>
#include <string_view>

namespace sessionq::broker::filter {

/// Whether a text is like a pattern, whole and with regard to case: `%` is any characters, `_` any
/// one (of UTF-8), and either is itself behind the escape character. Takes at most as many steps as
/// the product of the lengths.
[[nodiscard]] bool is_like(std::string_view text, std::string_view pattern,
                           std::optional<char32_t> escape);

/// The only character of a text; nothing: it has none or several.
[[nodiscard]] std::optional<char32_t> single_character(std::string_view text) noexcept;

} // namespace sessionq::broker::filter

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/message.hpp>

#include "core/result.hpp"

namespace sessionq::broker::filter {

enum class TokenKind : std::uint8_t { word, name, constant, symbol, end };

struct Token {
    TokenKind kind{TokenKind::end};
    std::string text{};    ///< a word as written, a name without quotes, or a symbol
    PropertyValue value{}; ///< of a constant
    std::size_t at{0};     ///< its position, from zero
};

/// The tokens of an expression; the last one is of kind `end`. A word begins with a letter, and is
/// a name unless it is a keyword. Names may also stand in brackets or double quotes. Constants are
/// numbers and texts in single quotes. Fails with invalid_argument, naming the position.
[[nodiscard]] core::Result<std::vector<Token>> read_tokens(std::string_view text);

} // namespace sessionq::broker::filter

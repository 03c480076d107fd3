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
    std::string text{};    ///< a word as it is written, a name without its quotes, a symbol
    PropertyValue value{}; ///< of a constant
    std::size_t at{0};     ///< where it begins, from zero
};

/// The tokens of an expression, the last of kind `end`. Words begin with a letter, and are names
/// unless the grammar knows them; names are in brackets or double quotes; constants are text in
/// single quotes and numbers. Fails with invalid_argument and where.
[[nodiscard]] core::Result<std::vector<Token>> read_tokens(std::string_view text);

} // namespace sessionq::broker::filter

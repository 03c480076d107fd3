// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "broker/filter/properties.hpp"
#include "broker/filter/sql_token.hpp"

namespace sessionq::broker::filter {

/// A fault of an expression, and its place. `parse_condition` and `parse_action` catch it, so it
/// never leaves this folder.
struct SyntaxError {
    std::string what;
    std::size_t at; ///< from zero
};

/// A position among the tokens of an expression. Keywords are recognised in any case.
class TokenCursor {
public:
    /// `tokens` must end with a token of kind `end`. The cursor never moves past it.
    explicit TokenCursor(std::vector<Token> tokens) : tokens_{std::move(tokens)} {}

    [[nodiscard]] const Token& next() const noexcept { return tokens_[at_]; }
    [[nodiscard]] bool is_at_end() const noexcept { return next().kind == TokenKind::end; }
    [[nodiscard]] bool is_word(std::string_view word) const noexcept;
    [[nodiscard]] bool is_symbol(std::string_view symbol) const noexcept;

    /// Whether the next tokens are a word and an opening parenthesis.
    [[nodiscard]] bool is_call() const noexcept;

    // Skip the next token if it is this one.
    bool accept_word(std::string_view word) noexcept;
    bool accept_symbol(std::string_view symbol) noexcept;

    // Skip the next token, or throw `SyntaxError` if it is another one.
    void expect_word(std::string_view word);
    void expect_symbol(std::string_view symbol);
    void expect_end() const;
    PropertyName expect_property(); ///< with its scope, `sys.` or `user.`, if there is one
    Token take();                   ///< any token but the end

    /// Throws `SyntaxError` at the next token.
    [[noreturn]] void fail(std::string what) const;

private:
    Token expect_name();

    std::vector<Token> tokens_;
    std::size_t at_{0};
};

} // namespace sessionq::broker::filter

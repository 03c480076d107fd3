#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "broker/filter/properties.hpp"
#include "broker/filter/sql_token.hpp"

namespace sessionq::broker::filter {

/// What is wrong with an expression, and where. Thrown within this part only: `parse_condition` and
/// `parse_action` catch it.
struct SyntaxError {
    std::string what;
    std::size_t at; ///< from zero
};

/// A place among the tokens of an expression, and the steps from there. Words of the language are
/// recognised in any case.
class TokenCursor {
public:
    /// `tokens` end with one of kind `end`, which is never stepped over.
    explicit TokenCursor(std::vector<Token> tokens) : tokens_{std::move(tokens)} {}

    [[nodiscard]] const Token& next() const noexcept { return tokens_[at_]; }
    [[nodiscard]] bool is_at_end() const noexcept { return next().kind == TokenKind::end; }
    [[nodiscard]] bool is_word(std::string_view word) const noexcept;
    [[nodiscard]] bool is_symbol(std::string_view symbol) const noexcept;

    /// Whether a word with an opening parenthesis behind it is next.
    [[nodiscard]] bool is_call() const noexcept;

    // Step over the next token if it is this one.
    bool accept_word(std::string_view word) noexcept;
    bool accept_symbol(std::string_view symbol) noexcept;

    // Step over the next token, or throw `SyntaxError`.
    void expect_word(std::string_view word);
    void expect_symbol(std::string_view symbol);
    void expect_end() const;
    PropertyName expect_property(); ///< with its scope, `sys.` or `user.`, if it has one
    Token take();                   ///< whichever it is; not the end

    /// Throws `SyntaxError` about the next token.
    [[noreturn]] void fail(std::string what) const;

private:
    Token expect_name();

    std::vector<Token> tokens_;
    std::size_t at_{0};
};

} // namespace sessionq::broker::filter

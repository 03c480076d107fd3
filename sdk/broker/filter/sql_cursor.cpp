// SPDX-License-Identifier: MIT
#include "broker/filter/sql_cursor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/ascii_case.hpp"

namespace sessionq::broker::filter {
namespace {

constexpr std::array<std::string_view, 13> reserved{"AND",    "OR",  "NOT",   "IN",     "LIKE",
                                                    "ESCAPE", "IS",  "NULL",  "EXISTS", "TRUE",
                                                    "FALSE",  "SET", "REMOVE"};

bool is_reserved(std::string_view text) noexcept {
    return std::ranges::any_of(
        reserved, [&](std::string_view word) { return core::equal_ignoring_case(word, text); });
}

} // namespace

bool TokenCursor::is_word(std::string_view word) const noexcept {
    return next().kind == TokenKind::word && core::equal_ignoring_case(next().text, word);
}

bool TokenCursor::is_symbol(std::string_view symbol) const noexcept {
    return next().kind == TokenKind::symbol && next().text == symbol;
}

bool TokenCursor::is_call() const noexcept {
    return next().kind == TokenKind::word && at_ + 1 < tokens_.size() &&
           tokens_[at_ + 1].kind == TokenKind::symbol && tokens_[at_ + 1].text == "(";
}

bool TokenCursor::accept_word(std::string_view word) noexcept {
    const bool is_there = is_word(word);
    at_ += is_there ? 1 : 0;
    return is_there;
}

bool TokenCursor::accept_symbol(std::string_view symbol) noexcept {
    const bool is_there = is_symbol(symbol);
    at_ += is_there ? 1 : 0;
    return is_there;
}

void TokenCursor::expect_word(std::string_view word) {
    if (!accept_word(word)) {
        fail("expected " + std::string{word});
    }
}

void TokenCursor::expect_symbol(std::string_view symbol) {
    if (!accept_symbol(symbol)) {
        fail("expected '" + std::string{symbol} + "'");
    }
}

void TokenCursor::expect_end() const {
    if (!is_at_end()) {
        fail("expected the end");
    }
}

Token TokenCursor::take() { return tokens_[at_++]; }

Token TokenCursor::expect_name() {
    if (next().kind != TokenKind::name &&
        (next().kind != TokenKind::word || is_reserved(next().text))) {
        fail("expected a value or the name of a property");
    }
    return take();
}

PropertyName TokenCursor::expect_property() {
    Token first = expect_name();
    const bool is_own =
        first.kind == TokenKind::word && core::equal_ignoring_case(first.text, "sys");
    const bool is_scope =
        is_own || (first.kind == TokenKind::word && core::equal_ignoring_case(first.text, "user"));
    if (!accept_symbol(".")) {
        return {.name = std::move(first.text)};
    }
    if (!is_scope) {
        throw SyntaxError{"unknown scope '" + first.text + "'; use sys or user", first.at};
    }
    Token second = expect_name();
    if (!is_own) {
        return {.name = std::move(second.text)};
    }
    const auto system = find_system_property(second.text);
    if (!system) {
        throw SyntaxError{"sys." + second.text + " is not supported; use one of " +
                              list_system_properties(),
                          second.at};
    }
    return {.system = system, .name = std::move(second.text)};
}

void TokenCursor::fail(std::string what) const { throw SyntaxError{std::move(what), next().at}; }

} // namespace sessionq::broker::filter

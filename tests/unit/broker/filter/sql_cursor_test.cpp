// SPDX-License-Identifier: MIT
#include "broker/filter/sql_cursor.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::broker::filter;

namespace {

TokenCursor at(const char* text) { return TokenCursor{read_tokens(text).take_or_throw()}; }

/// The error and its position; empty if there is none.
template <typename Step>
std::string complaint(TokenCursor cursor, Step step) {
    try {
        step(cursor);
        return {};
    } catch (const SyntaxError& error) {
        return error.what + " at " + std::to_string(error.at);
    }
}

PropertyName property(const char* text) { return at(text).expect_property(); }

std::string wrong_property(const char* text) {
    return complaint(at(text),
                     [](TokenCursor& cursor) { static_cast<void>(cursor.expect_property()); });
}

} // namespace

TEST_CASE("token cursor: moves past an expected token and stays at any other") {
    TokenCursor cursor = at("not ( x");
    CHECK_FALSE(cursor.accept_word("AND"));
    CHECK_FALSE(cursor.accept_symbol("("));
    CHECK(cursor.accept_word("NOT")); // in any case
    CHECK(cursor.accept_symbol("("));
    CHECK(cursor.take().text == "x");
    CHECK(cursor.is_at_end());
    cursor.expect_end();
}

TEST_CASE("token cursor: a quoted word is a name, not a keyword") {
    TokenCursor cursor = at("[not]");
    CHECK_FALSE(cursor.is_word("NOT"));
    CHECK(cursor.expect_property() == PropertyName{.name = "not"});
}

TEST_CASE("token cursor: a call is a word followed by a parenthesis") {
    CHECK(at("newid()").is_call());
    CHECK_FALSE(at("newid").is_call());
    CHECK_FALSE(at("[newid]()").is_call());
    CHECK_FALSE(at("newid + 1").is_call());
}

TEST_CASE("token cursor: a property is the application's unless its scope is sys") {
    CHECK(property("color") == PropertyName{.name = "color"});
    CHECK(property("USER.color") == PropertyName{.name = "color"});
    CHECK(property("sys.Label") == PropertyName{.system = TextField::subject, .name = "Label"});
    CHECK(property("[sys]") == PropertyName{.name = "sys"});
}

TEST_CASE("token cursor: an error names its position") {
    CHECK(complaint(at("a b"), [](TokenCursor& cursor) { cursor.expect_symbol("="); }) ==
          "expected '=' at 0");
    CHECK(complaint(at("a b"), [](TokenCursor& cursor) { cursor.expect_word("NULL"); }) ==
          "expected NULL at 0");
    CHECK(complaint(at("a b"), [](TokenCursor& cursor) {
              static_cast<void>(cursor.take());
              cursor.expect_end();
          }) == "expected the end at 2");
    CHECK(wrong_property("  and") == "expected a value or the name of a property at 2");
    CHECK(wrong_property("other.color") == "unknown scope 'other'; use sys or user at 0");
    CHECK(wrong_property("sys.color").starts_with("sys.color is not supported; use one of "));
}

// SPDX-License-Identifier: MIT
#include "core/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace std::literals;
using sessionq::core::first_character;
using sessionq::core::first_characters;
using sessionq::core::is_utf8;
using sessionq::core::utf8_of;
using sessionq::core::valid_utf8;

TEST_CASE("UTF-8: characters of one to four bytes are decoded") {
    CHECK(first_character("x y")->code == 'x');
    CHECK(first_character("\xc3\xbcx")->code == 0xfc);
    CHECK(first_character("\xe2\x82\xac")->code == 0x20ac);
    CHECK(first_character("\xf0\x9f\x98\x80")->code == 0x1f600);
    CHECK(first_character("\xf0\x9f\x98\x80")->size == 4);
    CHECK(is_utf8("a\0b \xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"s));
    CHECK(is_utf8(""));
}

TEST_CASE("UTF-8: what is cut, too long, a surrogate or out of range is not UTF-8") {
    for (const std::string& wrong :
         {"\xff"s, "a\xc3"s, "\xc3x"s, "\x80"s, "\xc0\x80"s, "\xe0\x80\xaf"s, "\xed\xa0\x80"s,
          "\xf4\x90\x80\x80"s, "\xf0\x9f\x98"s}) {
        CHECK_FALSE(is_utf8(wrong));
    }
}

TEST_CASE("UTF-8: text stays, each bad byte becomes U+FFFD") {
    CHECK(valid_utf8("").empty());
    CHECK(valid_utf8("ada \xC3\xA4 \xE2\x82\xAC") == "ada \xC3\xA4 \xE2\x82\xAC");
    CHECK(valid_utf8("a\xFF\xFE"
                     "b\xC3") == "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                 "b\xEF\xBF\xBD");
}

TEST_CASE("UTF-8: a text is cut between characters") {
    CHECK(first_characters("", 0).empty());
    CHECK(first_characters("ab", 0).empty());
    CHECK(first_characters("ab", 2) == "ab");
    CHECK(first_characters("abc", 2) == "ab");
    CHECK(first_characters("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 2) == "\xC3\xA4\xE2\x82\xAC");
    CHECK(first_characters("a\xE2\x82\xAC", 2) == "a\xE2\x82\xAC");
}

TEST_CASE("UTF-8: a wrong byte is found at each place of a longer text") {
    const std::string text = "twenty-five characters ...";
    for (std::size_t at = 0; at < text.size(); ++at) {
        CAPTURE(at);
        std::string wrong = text;
        wrong[at] = '\xff';
        CHECK_FALSE(is_utf8(wrong));
        std::string right = text;
        right.replace(at, 1, "\xe2\x82\xac");
        CHECK(is_utf8(right));
    }
}

TEST_CASE("UTF-8: utf8_of encodes each character, and U+FFFD for what is none") {
    CHECK(utf8_of(U'a') == "a");
    CHECK(utf8_of(U'\u00e4') == "\xc3\xa4");
    CHECK(utf8_of(U'\u20ac') == "\xe2\x82\xac");
    CHECK(utf8_of(U'\U0001f600') == "\xf0\x9f\x98\x80");
    CHECK(utf8_of(U'\0') == std::string(1, '\0'));
    for (const char32_t none : {char32_t{0xd800}, char32_t{0xdfff}, char32_t{0x110000}}) {
        CHECK(utf8_of(none) == "\xef\xbf\xbd");
    }
}

TEST_CASE("UTF-8: a wrong byte is found anywhere in a text of any length") {
    for (std::size_t size = 0; size < 40; ++size) {
        std::string text(size, 'x');
        CHECK(is_utf8(text));
        for (char& character : text) {
            character = '\x80';
            CHECK_FALSE(is_utf8(text));
            character = 'x';
        }
    }
}

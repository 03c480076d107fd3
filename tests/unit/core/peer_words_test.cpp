// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "core/peer_words.hpp"

using sessionq::core::escape_peer_words;
using sessionq::core::longest_peer_words;
using sessionq::core::peer_words;

TEST_CASE("peer_words: keeps text as it is") {
    for (const char* text : {"", "plain", "Grüße", "日本語", "👋 hello", "~ !"}) {
        CHECK(peer_words(text) == text);
    }
}

TEST_CASE("peer_words: replaces what could deceive a terminal") {
    CHECK(peer_words("\x1b[31mred\x1b[0m") == "?[31mred?[0m");
    CHECK(peer_words("line\r\nline\t\x7f") == "line??line??");
    CHECK(peer_words(std::string_view{"a\0b", 3}) == "a?b");
    CHECK(peer_words("\xc2\x9b[2J") == "?[2J"); // CSI as one character
    CHECK(peer_words("a\xe2\x80\xae"
                     "b\xe2\x81\xa6"
                     "c\xd8\x9c") == "a?b?c?"); // directions
    CHECK(peer_words("\xe2\x80\xa8") == "?");   // a line separator
}

TEST_CASE("peer_words: replaces each byte that is not UTF-8") {
    CHECK(peer_words("\xff\xfe") == "??");
    CHECK(peer_words("\x80") == "?");
    CHECK(peer_words("\xc0\x9b") == "??");           // escape in two bytes
    CHECK(peer_words("\xe0\x80\x9b") == "???");      // and in three
    CHECK(peer_words("\xed\xa0\x80") == "???");      // half of a pair
    CHECK(peer_words("\xf4\x90\x80\x80") == "????"); // beyond the last character
    CHECK(peer_words("a\xe6\x97") == "a??");         // cut
}

TEST_CASE("peer_words: cuts what is too long, and no character in two") {
    CHECK(peer_words(std::string(longest_peer_words, 'a')) == std::string(longest_peer_words, 'a'));
    CHECK(peer_words(std::string(longest_peer_words + 1, 'a')) ==
          std::string(longest_peer_words, 'a') + "...");
    const std::string almost(longest_peer_words - 1, 'a');
    CHECK(peer_words(almost + "\xc3\xbc") == almost + "...");
}

TEST_CASE("peer_words: the longest text may be chosen") {
    CHECK(peer_words("abcd", 3) == "abc...");
    CHECK(peer_words("abc\n", 4) == "abc?");
}

TEST_CASE("escape_peer_words: JSON loses no character") {
    CHECK(escape_peer_words(R"({"a":"Grüße 👋 \u001b"})") == R"({"a":"Grüße 👋 \u001b"})");
    CHECK(escape_peer_words("\xc2\x9b[2J\x7f") == R"(\u009b[2J\u007f)");
    CHECK(escape_peer_words("a\xe2\x80\xae"
                            "b") == R"(a\u202eb)");
}

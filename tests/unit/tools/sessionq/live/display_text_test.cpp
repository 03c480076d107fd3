// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/live/display_text.hpp"

using namespace sessionq::cli;

TEST_CASE("display text: nothing in it controls a terminal") {
    CHECK(DisplayText{"a\x1b[2Jb\x07\n\t\x7f"}.text() == "a?[2Jb????");
    CHECK(DisplayText{"\xc2\x9b"
                      "2J"}
              .text() == "?2J"); // a control sequence in one character
    CHECK(DisplayText{"\xe2\x80\xae"
                      "abc"}
              .text() == "?abc"); // writes from right to left
    CHECK(DisplayText{"\xff\xc3"}.text() == "??");
    CHECK(DisplayText{std::string{"a\0b", 3}}.text() == "a?b");
}

TEST_CASE("display text: columns, not bytes") {
    CHECK(DisplayText{""}.columns() == 0);
    CHECK(DisplayText{"abc"}.columns() == 3);
    CHECK(DisplayText{"\xc3\xa4"}.columns() == 1);
    CHECK(DisplayText{"a\xcc\x88"}.columns() == 1);                // an accent of its own
    CHECK(DisplayText{"\xe6\x97\xa5\xe6\x9c\xac"}.columns() == 4); // two ideographs
    CHECK(DisplayText{"\xf0\x9f\x98\x80"}.columns() == 2);         // emoji
    CHECK(DisplayText{"\x1b\xff"}.columns() == 2);
}

TEST_CASE("display text: what is cut shows that") {
    CHECK(DisplayText{"abcdef"}.cut(6).text() == "abcdef");
    CHECK(DisplayText{"abcdef"}.cut(4).text() == "abc~");
    CHECK(DisplayText{"abcdef"}.cut(1).text() == "~");
    CHECK(DisplayText{"abcdef"}.cut(0).text().empty());
    const DisplayText wide = DisplayText{"\xe6\x97\xa5\xe6\x9c\xac"}.cut(3);
    CHECK(wide.text() == "\xe6\x97\xa5~");
    CHECK(wide.columns() == 3);
    const DisplayText half = DisplayText{"\xe6\x97\xa5\xe6\x9c\xac"}.cut(2);
    CHECK(half.text() == "~");
    CHECK(half.columns() == 1);
}

TEST_CASE("display text: a beginning and the rest") {
    const DisplayText text{"ab\xe6\x97\xa5"};
    CHECK(text.first(3).text() == "ab");
    CHECK(text.first(4).text() == text.text());
    CHECK(text.without(2).columns() == 2);
    CHECK(text.without(99).text().empty());
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/live/layout.hpp"

using namespace sessionq::cli;

namespace {

Table fruit() {
    return {.columns = {{.title = "name", .least = 4}, {.title = "count", .is_number = true}},
            .rows = {{{.text = "pear"}, {.text = "7", .order = 7}},
                     {{.text = "Apple tree"}, {.text = "1,000", .order = 1000}},
                     {{.text = "fig"}, {.text = "7", .order = 7}}}};
}

std::vector<std::string> texts_of(const std::vector<StyledLine>& lines) {
    std::vector<std::string> texts;
    for (const StyledLine& line : lines) {
        texts.push_back(text_of(line));
    }
    return texts;
}

} // namespace

TEST_CASE("layout: rows are sorted by a column, numbers downwards first") {
    CHECK(rows_of(fruit(), {}, "") == std::vector<std::size_t>{0, 1, 2});
    CHECK(rows_of(fruit(), {.is_reversed = true}, "") == std::vector<std::size_t>{2, 1, 0});
    CHECK(rows_of(fruit(), {.column = 0}, "") == std::vector<std::size_t>{1, 2, 0});
    CHECK(rows_of(fruit(), {.column = 0, .is_reversed = true}, "") ==
          std::vector<std::size_t>{0, 2, 1});
    CHECK(rows_of(fruit(), {.column = 1}, "") == std::vector<std::size_t>{1, 0, 2});
    CHECK(rows_of(fruit(), {.column = 1, .is_reversed = true}, "") ==
          std::vector<std::size_t>{0, 2, 1});
    CHECK(rows_of(fruit(), {.column = 9}, "") == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("layout: a filter ignores the case and looks at every cell") {
    CHECK(rows_of(fruit(), {}, "apple") == std::vector<std::size_t>{1});
    CHECK(rows_of(fruit(), {}, "7") == std::vector<std::size_t>{0, 2});
    CHECK(rows_of(fruit(), {}, "nothing").empty());
    CHECK(contains("abc", ""));
    CHECK_FALSE(contains("abc", "abcd"));
}

TEST_CASE("layout: a table takes the room that it needs, and shrinks where it may") {
    const std::vector<std::size_t> rows{0, 1, 2};
    CHECK(texts_of(table_lines(fruit(), rows, 0)) ==
          std::vector<std::string>{"name        count", "pear            7", "Apple tree  1,000",
                                   "fig             7"});
    CHECK(texts_of(table_lines(fruit(), rows, 12)) ==
          std::vector<std::string>{"name   count", "pear       7", "Apple~ 1,000", "fig        7"});
    CHECK(columns_of(table_lines(fruit(), rows, 1)[0]) == 10); // no narrower: the screen cuts it
    CHECK(texts_of(table_lines(fruit(), {2}, 0)) ==
          std::vector<std::string>{"name  count", "fig       7"});
    CHECK(table_lines({}, {}, 10).empty());
}

TEST_CASE("layout: the widest column shrinks first, and none below its least width") {
    const std::string eight(8, 'a');
    const std::string six(6, 'b');
    const Table table{.columns = {{.title = "a", .least = 2}, {.title = "b", .least = 4}},
                      .rows = {{{.text = eight}, {.text = six}}}};
    CHECK(texts_of(table_lines(table, {0}, 13))[1] == "aaaaa~ bbbbbb");
    CHECK(texts_of(table_lines(table, {0}, 11))[1] == "aaaa~ bbbb~");
    CHECK(texts_of(table_lines(table, {0}, 7))[1] == "a~ bbb~");
    CHECK(texts_of(table_lines(table, {0}, 3))[1] == "a~ bbb~");
}

TEST_CASE("layout: wide characters keep columns aligned") {
    const Table table{
        .columns = {{.title = "a"}, {.title = "b"}},
        .rows = {{{.text = "\xe6\x97\xa5"}, {.text = "x"}}, {{.text = "zz"}, {.text = "y"}}}};
    const auto lines = texts_of(table_lines(table, {0, 1}, 0));
    CHECK(lines[1] == "\xe6\x97\xa5  x");
    CHECK(lines[2] == "zz  y");
}

TEST_CASE("layout: bars are as long as their counts") {
    const Bars bars{.title = "time",
                    .bars = {{"<= 1s", 0}, {"<= 10s", 1}, {"<= 20s", 50}, {"<= 30s", 100}}};
    CHECK(texts_of(bar_lines(bars, 23)) ==
          std::vector<std::string>{"time", "   <= 1s              0", "  <= 10s #            1",
                                   "  <= 20s #####       50", "  <= 30s ########## 100"});
    CHECK(texts_of(bar_lines(bars, 10))[4] == "  <= 30s  100"); // no room for bars
    CHECK(bar_lines({.title = "empty"}, 80).size() == 1);
}

TEST_CASE("layout: lines are broken between words") {
    const StyledLine line{{"one two three", Style::strong}, {" four fifths and six", Style::dim}};
    CHECK(texts_of(wrapped(line, 20)) ==
          std::vector<std::string>{"one two three four", "  fifths and six"});
    CHECK(wrapped(line, 100).size() == 1);
    CHECK(texts_of(wrapped({{std::string(45, 'x'), Style::plain}}, 20)) ==
          std::vector<std::string>{std::string(20, 'x'), "  " + std::string(18, 'x'),
                                   "  " + std::string(7, 'x')});
    CHECK(wrapped(line, 19).size() == 1); // too narrow: it is cut later
    const std::string ten(10, 'x');
    CHECK(texts_of(wrapped({{ten + " " + std::string(9, 'y') + " z", Style::plain}}, 20)) ==
          std::vector<std::string>{ten + " " + std::string(9, 'y'), "  z"}); // it just fits
    for (const StyledLine& each : wrapped(line, 20)) {
        CHECK(columns_of(each) <= 20);
    }
}

TEST_CASE("layout: cut keeps styles") {
    const StyledLine line{{"abc", Style::strong}, {"def", Style::dim}};
    CHECK(text_of(cut(line, 6)) == "abcdef");
    const StyledLine shown = cut(line, 5);
    CHECK(text_of(shown) == "abcd~");
    CHECK(shown[0].style == Style::strong);
    CHECK(shown[1].style == Style::dim);
    CHECK(text_of(cut(line, 3)) == "abc");
    CHECK(columns_of(cut(line, 0)) == 0);
}

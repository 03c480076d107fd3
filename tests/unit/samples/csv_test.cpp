// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "replay/csv.hpp"
#include "replay/input_error.hpp"

using namespace replay;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text) {
    std::stringbuf source{text};
    CsvRows rows{source};
    Rows all;
    std::vector<std::string> fields;
    while (rows.next(fields)) {
        all.push_back(fields);
    }
    return all;
}

/// "LINE: TEXT" of the complaint.
std::string complaint_about(const std::string& text) {
    try {
        (void)rows_of(text);
        return "none";
    } catch (const BrokenLine& broken) {
        return std::to_string(broken.line()) + ": " + broken.what();
    }
}

} // namespace

TEST_CASE("csv: plain rows, with and without a last line end") {
    CHECK(rows_of("a,b\n1,2\n") == Rows{{"a", "b"}, {"1", "2"}});
    CHECK(rows_of("a,b\r\n1,2") == Rows{{"a", "b"}, {"1", "2"}});
    CHECK(rows_of("") == Rows{});
}

TEST_CASE("csv: empty fields count, blank lines do not") {
    CHECK(rows_of(",\n\n\r\n,,x\n\n") == Rows{{"", ""}, {"", "", "x"}});
    CHECK(rows_of("a,") == Rows{{"a", ""}});
}

TEST_CASE("csv: quoted fields hold commas, quotes and line ends") {
    CHECK(rows_of("\"a,b\",\"say \"\"hi\"\"\"\n") == Rows{{"a,b", "say \"hi\""}});
    CHECK(rows_of("\"two\r\nlines\",x\r\n\"\",y\r\n") == Rows{{"two\r\nlines", "x"}, {"", "y"}});
}

TEST_CASE("csv: a carriage return inside a line belongs to the field") {
    CHECK(rows_of("a\rb,c\n") == Rows{{"a\rb", "c"}});
}

TEST_CASE("csv: a row says on which line it began") {
    std::stringbuf source{"\n\"two\nlines\"\nlast\n"};
    CsvRows rows{source};
    std::vector<std::string> fields;
    REQUIRE(rows.next(fields));
    CHECK(rows.line() == 2);
    REQUIRE(rows.next(fields));
    CHECK(rows.line() == 4);
}

TEST_CASE("csv: broken rows are refused with their line") {
    CHECK(complaint_about("a\nb\"c\n") == "2: a quote in an unquoted field; quote the whole field");
    CHECK(complaint_about("a\n\"b\"c\n") == "2: text after the closing quote of a field");
    CHECK(complaint_about("a\n\"b\nc\n") == "2: a quoted field has no end");
    CHECK(complaint_about("\"x\ny\"\nb\"\n") ==
          "3: a quote in an unquoted field; quote the whole field");
}

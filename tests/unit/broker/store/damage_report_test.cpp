// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/store/damage_report.hpp"

using namespace sessionq::broker;

TEST_CASE("DamageReport: counts all damages, keeps the first ones and shows fewer") {
    DamageReport report;
    CHECK(report.empty());
    CHECK(report.text().empty());
    report.add("a");
    CHECK(report.text() == "a");
    report.add("two\nlines");
    CHECK(report.text() == "a; two lines");
    CHECK(report.text(1) == "a; and 1 more");
    for (std::size_t i = 2; i < DamageReport::most_named + 1; ++i) {
        report.add("more");
    }
    CHECK(report.count() == DamageReport::most_named + 1);
    CHECK(report.named().size() == DamageReport::most_named);
    CHECK(report.text(2) == "a; two lines; and 99 more");
}

TEST_CASE("in_quotes: no control characters, and no more than 80 bytes") {
    CHECK(in_quotes("orders") == "'orders'");
    CHECK(in_quotes("a\x1b[31m\nb\x7f") == "'a?[31m?b?'");
    CHECK(in_quotes(std::string(80, 'x')) == "'" + std::string(80, 'x') + "'");
    CHECK(in_quotes(std::string(81, 'x')) == "'" + std::string(80, 'x') + "...'");
}

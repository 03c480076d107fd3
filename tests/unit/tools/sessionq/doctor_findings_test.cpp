// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/doctor_findings.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

TEST_CASE("doctor findings: a time is told in the unit that fits") {
    CHECK(time_words(Duration{0}) == "0 ms");
    CHECK(time_words(microseconds{50}) == "0.05 ms");
    CHECK(time_words(microseconds{1500}) == "1.5 ms");
    CHECK(time_words(milliseconds{120}) == "120 ms");
    CHECK(time_words(milliseconds{1500}) == "1.5 s");
    CHECK(time_words(seconds{100}) == "100 s");
    CHECK(time_words(minutes{10}) == "10 min");
    CHECK(time_words(-minutes{10}) == "10 min");
    CHECK(time_words(hours{3}) == "3 h");
    CHECK(time_words(hours{24 * 14}) == "14 days");
}

TEST_CASE("doctor findings: figures are rounded") {
    CHECK(milliseconds_of(nanoseconds{1234567}) == 1.235);
    CHECK(seconds_of(nanoseconds{59999971300}) == 60.0);
}

TEST_CASE("doctor findings: a skipped check says why, and stops nothing") {
    const Finding finding = skipped("clock", "nobody tells the time");
    CHECK(std::string_view{word_of(finding.verdict)} == "skipped");
    CHECK(finding.found == "nobody tells the time");
    CHECK_FALSE(finding.stops);
}

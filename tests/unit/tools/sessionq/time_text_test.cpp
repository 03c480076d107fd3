// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/time_text.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono;

TEST_CASE("parse_duration: a number and a unit") {
    CHECK(parse_duration("0") == Duration::zero());
    CHECK(parse_duration("0s") == Duration::zero());
    CHECK(parse_duration("200ms") == 200ms);
    CHECK(parse_duration("1.5s") == 1500ms);
    CHECK(parse_duration("2m") == 2min);
    CHECK(parse_duration("1h") == 1h);
    CHECK(parse_duration("7d") == 7 * 24h);
    CHECK(parse_duration("36525d") == 36'525 * 24h);
    for (const char* wrong : {"", "5", "s", "-1s", "1 s", "1S", "1e3s", "nan", "inf", "infs",
                              "nans", "0x1s", "1us", "1s1s", "36526d", "99999999999999999999d"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_duration(wrong));
    }
}

TEST_CASE("duration_text: parse_duration reads it") {
    for (const milliseconds each : {0ms, 1ms, 1000ms, 1500ms, 86'400'000ms}) {
        CHECK(parse_duration(duration_text(each)) == each);
    }
    CHECK(duration_text(90s) == "90s");
    CHECK(duration_text(1500ms) == "1500ms");
}

TEST_CASE("parse_time: RFC 3339, in any zone") {
    const WallTime noon = sys_days{2026y / January / 31} + 12h;
    CHECK(parse_time("2026-01-31T12:00:00Z") == noon);
    CHECK(parse_time("2026-01-31t12:00:00z") == noon);
    CHECK(parse_time("2026-01-31 12:00:00Z") == noon);
    CHECK(parse_time("2026-01-31T12:00:00.5Z") == noon + 500ms);
    CHECK(parse_time("2026-01-31T12:00:00.0000000019Z") == noon + 1ns);
    CHECK(parse_time("2026-01-31T13:30:00+01:30") == noon);
    CHECK(parse_time("2026-01-31T07:00:00-05:00") == noon);
    for (const char* wrong :
         {"", "now", "2026-01-31", "2026-01-31T12:00:00", "2026-02-29T12:00:00Z",
          "2026-13-01T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
          "2026-01-31T12:00:60Z", "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00Zx",
          "2026-01-31T12:00:00+1:00", "1600-01-01T00:00:00Z", "9999-01-01T00:00:00Z",
          "+026-01-31T12:00:00Z", "2026/01/31T12:00:00Z"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_time(wrong));
    }
}

TEST_CASE("time_text: UTC, with milliseconds if there are any; parse_time reads it") {
    const WallTime noon = sys_days{2026y / January / 31} + 12h;
    CHECK(time_text(noon) == "2026-01-31T12:00:00Z");
    CHECK(time_text(noon + 7ms) == "2026-01-31T12:00:00.007Z");
    CHECK(time_text(WallTime{} - 1ms) == "1969-12-31T23:59:59.999Z");
    for (const WallTime each : {noon, noon + 999ms, WallTime{} - 1ms}) {
        CHECK(parse_time(time_text(each)) == each);
    }
}

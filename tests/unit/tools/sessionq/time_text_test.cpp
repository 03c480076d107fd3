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
          "2026-01-31T12:00:00+1:00", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z",
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

TEST_CASE("parse_time: a year that WallTime cannot hold is beyond") {
    CHECK(parse_time("9999-12-31T23:59:59.9999999Z") == WallTime::max());
    CHECK(parse_time("2262-04-12T00:00:00Z") == WallTime::max());
    CHECK(parse_time("1600-01-01T00:00:00Z") == WallTime::min());
    CHECK(parse_time("0001-01-01T00:00:00Z") == WallTime::min());
    CHECK(time_text(WallTime::max()) == "9999-12-31T23:59:59.999Z");
    CHECK(time_text(WallTime::min()) == "0001-01-01T00:00:00Z");
    CHECK(parse_time(time_text(WallTime::max())) == WallTime::max());
}

TEST_CASE("parse_instant: the years 1 to 9999, in units of 100 ns") {
    CHECK(parse_instant("0001-01-01T00:00:00Z") == DateTimeOffset{TimeSpan{0}});
    CHECK(parse_instant("9999-12-31T23:59:59.9999999Z") ==
          DateTimeOffset{TimeSpan{3'155'378'975'999'999'999}});
    CHECK(parse_instant("2026-01-02T04:03:05+01:00") ==
          parse_instant("2026-01-02T03:03:05.0000000Z"));
    CHECK_FALSE(parse_instant("0001-01-01T00:00:00+01:00"));
    for (const std::int64_t ticks :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{10'000},
          std::int64_t{639'029'197'850'000'001}, std::int64_t{3'155'378'975'999'999'999}}) {
        const DateTimeOffset instant{TimeSpan{ticks}};
        CHECK(parse_instant(instant_text(instant).value()) == instant);
    }
    CHECK_FALSE(instant_text(DateTimeOffset{TimeSpan{-1}}));
    CHECK_FALSE(instant_text(DateTimeOffset{TimeSpan::max()}));
}

TEST_CASE("parse_time_span: as .NET writes it, to both ends") {
    CHECK(parse_time_span("00:00:05.5") == TimeSpan{55'000'000});
    CHECK(parse_time_span("-1.02:03:04") == -TimeSpan{24h + 2h + 3min + 4s});
    CHECK(parse_time_span("10675199.02:48:05.4775807") == TimeSpan::max());
    CHECK(parse_time_span("-10675199.02:48:05.4775808") == TimeSpan::min());
    for (const TimeSpan span : {TimeSpan{0}, TimeSpan{1}, TimeSpan{-1}, TimeSpan::max(),
                                TimeSpan::min(), TimeSpan{36h}, TimeSpan{5500ms}}) {
        CHECK(parse_time_span(time_span_text(span)) == span);
    }
    CHECK(time_span_text(5500ms) == "00:00:05.5000000");
    for (const char* wrong :
         {"", "5", "00:00", "24:00:00", "00:60:00", "1.2.00:00:00", "x.00:00:00",
          "10675199.02:48:05.4775808", "99999999.00:00:00", "00:00:00."}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_time_span(wrong));
    }
}

TEST_CASE("parse_milliseconds: of any length") {
    CHECK(parse_milliseconds("200ms") == 200ms);
    CHECK(parse_milliseconds("1.5s") == 1500ms);
    CHECK(parse_milliseconds(duration_text(milliseconds{251'702'300'799'999})) ==
          milliseconds{251'702'300'799'999});
    CHECK_FALSE(parse_milliseconds("99999999999999999999d"));
    CHECK_FALSE(parse_milliseconds("5"));
}

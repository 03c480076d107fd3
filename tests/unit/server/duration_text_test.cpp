// SPDX-License-Identifier: MIT
#include "server/duration_text.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using sessionq::server::parse_duration;

TEST_CASE("durations: parses the ISO 8601 format") {
    CHECK(parse_duration("PT1M") == 60s);
    CHECK(parse_duration("PT1H30M5S") == 5405s);
    CHECK(parse_duration("P1D") == 24h);
    CHECK(parse_duration("P1Y2M1W3DT4H") == std::chrono::hours{24 * (365 + 60 + 7 + 3) + 4});
    CHECK(parse_duration("PT0S") == 0s);
    CHECK(parse_duration("PT0.25S") == 250ms);
    CHECK(parse_duration("PT1.0009S") == 1000ms);
    CHECK(parse_duration("P10675199DT2H48M5.4775807S") ==
          std::chrono::hours{24} * 10675199LL + 2h + 48min + 5477ms);
}

TEST_CASE("durations: rejects malformed durations") {
    for (const char* text : {"",
                             "P",
                             "PT",
                             "1M",
                             "PT1",
                             "PTM",
                             "P1H",
                             "PT1D",
                             "PT1M1H",
                             "PT1M1M",
                             "P1DT",
                             "PT1.5M",
                             "PT.5S",
                             "PT1.S",
                             "-PT1S",
                             "PT-1S",
                             "PT1S ",
                             "pt1s",
                             "P99999999999999999999D",
                             "P9999999999999999D",
                             "P106751991167D P1D",
                             "PT9223372036854775807S"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_duration(text));
    }
}

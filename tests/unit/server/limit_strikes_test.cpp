// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "server/limit_strikes.hpp"

using namespace sessionq;
using std::chrono::seconds;

TEST_CASE("LimitStrikes: logs the first strike of a bound, and then at most once a minute") {
    server::LimitStrikes strikes;
    const TimePoint start{};
    CHECK(strikes.describe().empty());
    CHECK(strikes.note("a is full", start) == "a limit was met: a is full");
    CHECK_FALSE(strikes.note("a is full", start + seconds{1}));
    CHECK(strikes.note("b is full", start + seconds{1}) == "a limit was met: b is full");
    CHECK_FALSE(strikes.note("a is full", start + seconds{59}));
    CHECK(strikes.note("a is full", start + seconds{60}) ==
          "a limit was met: a is full (3 times since the last such line)");
    CHECK(strikes.describe() == "4 times: a is full\n1 times: b is full\n");
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>

#include "tools/sessionq/live/look_pace.hpp"

using namespace sessionq::cli;
using namespace std::chrono_literals;

TEST_CASE(
    "look pace: looks begin an interval apart, and a slow one is followed by as long a rest") {
    CHECK(pause_after(0s, 1s) == 1s);
    CHECK(pause_after(200ms, 1s) == 800ms);
    CHECK(pause_after(500ms, 1s) == 500ms);
    CHECK(pause_after(900ms, 1s) == 900ms);
    CHECK(pause_after(10s, 1s) == 10s);
}

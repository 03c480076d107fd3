// SPDX-License-Identifier: MIT
#include "core/rfc3339.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("rfc3339: an instant in UTC to the microsecond, also one before 1970") {
    CHECK(core::rfc3339(WallTime{}) == "1970-01-01T00:00:00.000000Z");
    CHECK(core::rfc3339(WallTime{1'772'355'600s + 1'234us}) == "2026-03-01T09:00:00.001234Z");
    CHECK(core::rfc3339(WallTime{-1us}) == "1969-12-31T23:59:59.999999Z");
}

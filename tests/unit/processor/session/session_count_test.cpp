// SPDX-License-Identifier: MIT
#include "processor/session/session_count.hpp"

#include <doctest/doctest.h>

using sessionq::detail::processor::SessionCount;

TEST_CASE("session count: as many as the limit allows, also after it changed") {
    SessionCount count;
    CHECK_FALSE(count.try_take());
    count.limit(2);
    CHECK(count.try_take());
    CHECK(count.try_take());
    CHECK_FALSE(count.try_take());
    count.limit(1);
    count.release();
    CHECK_FALSE(count.try_take());
    count.release();
    CHECK(count.try_take());
}

// SPDX-License-Identifier: MIT
#include "processor/first_renewals.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::FirstRenewals;

TEST_CASE("first renewals: a quarter of the lock is too much, and is told") {
    FirstRenewals renewals;
    CHECK(renewals.judge("fine", 1249ms, 5s).empty());
    CHECK(renewals.judge("orders", 1250ms, 5s) ==
          "the locks of 'orders' last 5000 ms, and the broker took 1250 ms to renew one: they end "
          "whenever an answer is late; give the entity a longer lock");
}

TEST_CASE("first renewals: only the first of an entity counts") {
    FirstRenewals renewals;
    CHECK(renewals.judge("orders", 10ms, 5s).empty());
    CHECK(renewals.judge("orders", 4s, 5s).empty()); // the broker stood still
    CHECK_FALSE(renewals.judge("short", 4s, 5s).empty());
    CHECK(renewals.judge("short", 4s, 5s).empty());
}

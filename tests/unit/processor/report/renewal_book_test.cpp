// SPDX-License-Identifier: MIT
#include "processor/report/renewal_book.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::RenewalBook;

namespace {

const core::Result<ports::LockGrant> five{ports::LockGrant{.length = 5s}};

} // namespace

TEST_CASE("renewal book: a quarter of the lock is too much, and is told") {
    RenewalBook renewals;
    CHECK(renewals.judge("fine", 1249ms, five).empty());
    CHECK(renewals.judge("orders", 1250ms, five) ==
          "the locks of 'orders' last 5000 ms, and the broker took 1250 ms to renew one: they end "
          "whenever an answer is late; give the entity a longer lock");
}

TEST_CASE("renewal book: only the first of an entity counts") {
    RenewalBook renewals;
    CHECK(renewals.judge("orders", 10ms, five).empty());
    CHECK(renewals.judge("orders", 4s, five).empty()); // the broker stood still
    CHECK_FALSE(renewals.judge("short", 4s, five).empty());
    CHECK(renewals.judge("short", 4s, five).empty());
}

TEST_CASE("renewal book: a renewal that failed and a lock without end measure nothing") {
    RenewalBook renewals;
    CHECK(renewals.judge("orders", 4s, Failure{.code = Errc::server_busy}).empty());
    CHECK(renewals.judge("orders", 4s, ports::LockGrant{}).empty());
    CHECK_FALSE(renewals.judge("orders", 4s, five).empty());
}

// SPDX-License-Identifier: MIT
#include "servicebus/claim.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::servicebus::Claim;

namespace {

constexpr TimePoint start{1000s};

} // namespace

TEST_CASE("claim: gives no right before a token was granted") {
    Claim claim;
    CHECK_FALSE(claim.is_valid(start));
    CHECK_FALSE(claim.is_due(start));
    claim.asked();
    CHECK_FALSE(claim.is_valid(start));
    CHECK(claim.due() == TimePoint::max());
}

TEST_CASE("claim: is renewed before the token in force expires, and stays good meanwhile") {
    Claim claim;
    claim.asked();
    claim.granted(start, 1h);
    CHECK(claim.is_valid(start + 59min));
    CHECK_FALSE(claim.is_valid(start + 1h));
    CHECK_FALSE(claim.is_due(start + 44min));
    CHECK(claim.is_due(start + 45min));
    claim.asked();
    CHECK_FALSE(claim.is_due(start + 45min)); // once
    CHECK(claim.is_valid(start + 59min));
}

TEST_CASE("R17: claim: failed renewals wait longer and longer, and end with the token") {
    core::Random random{7};
    Claim claim;
    claim.granted(start, 10min);
    TimePoint now = claim.due();
    int tries = 0;
    Duration last{};
    while (claim.is_valid(now)) {
        claim.asked();
        claim.failed(now, random);
        REQUIRE(claim.due() > now);
        last = claim.due() - now;
        CHECK(last <= 30s);
        now = claim.due();
        ++tries;
    }
    CHECK(last >= 15s);
    CHECK(tries >= 6);
    CHECK(tries <= 20);
    claim.asked();
    claim.failed(now, random);
    CHECK(claim.due() == TimePoint::max()); // whoever needs it asks
}

TEST_CASE("claim: a success starts the waits anew") {
    core::Random random{7};
    Claim claim;
    claim.granted(start, 1h);
    for (int i = 0; i < 8; ++i) {
        claim.failed(start, random);
    }
    claim.granted(start, 1h);
    claim.failed(start, random);
    CHECK(claim.due() <= start + 1s);
}

TEST_CASE("R17: claim: a token without life left by this side's clock is not put in a loop") {
    Claim claim;
    claim.granted(start, -5min);
    CHECK(claim.is_valid(start + 59s));
    CHECK(claim.due() >= start + 45s);
    claim.granted(start, 1ms);
    CHECK(claim.due() >= start + 1s);
}

TEST_CASE("claim: one that lasts for ever is looked after once a day") {
    Claim claim;
    claim.granted(start, 24h * 365);
    CHECK(claim.due() == start + 18h);
}

TEST_CASE("claim: what the broker took away is of no use any more") {
    Claim claim;
    claim.granted(start, 1h);
    claim.reject();
    CHECK_FALSE(claim.is_valid(start));
    CHECK(claim.due() == TimePoint::max());
}

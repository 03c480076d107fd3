// SPDX-License-Identifier: MIT
#include "core/backoff.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using core::Backoff;

TEST_CASE("backoff: R17: doubles from min and stays at max") {
    const BackoffOptions options{.min = 100ms, .max = 1s};
    CHECK(Backoff::at(options, 0) == 100ms);
    CHECK(Backoff::at(options, 1) == 200ms);
    CHECK(Backoff::at(options, 3) == 800ms);
    CHECK(Backoff::at(options, 4) == 1s);
    CHECK(Backoff::at(options, 4'000'000'000U) == 1s);
}

TEST_CASE("backoff: the longest maximum does not overflow") {
    CHECK(Backoff::at({.min = 1h, .max = Duration::max()}, 1000) == Duration::max());
    CHECK(Backoff::at({.min = Duration::max(), .max = Duration::max()}, 5) == Duration::max());
}

TEST_CASE("backoff: half of a delay is random, so that many do not knock at once") {
    core::Random random{7};
    Duration least = Duration::max();
    Duration most{};
    for (int i = 0; i < 1000; ++i) {
        const Duration delay = Backoff::jittered(100ms, random);
        REQUIRE(delay >= 50ms);
        REQUIRE(delay <= 100ms);
        least = std::min(least, delay);
        most = std::max(most, delay);
    }
    CHECK(least < 55ms);
    CHECK(most > 95ms);
}

TEST_CASE("backoff: R17: grows with each failure in a row, attempts in a minute are bounded") {
    Backoff backoff{{.min = 100ms, .max = 30s}};
    core::Random random{1};
    Duration passed{};
    int attempts = 0;
    for (; passed < 60s; ++attempts) {
        const Duration delay = backoff.next(random);
        CHECK(delay > Duration::zero());
        passed += delay;
    }
    CHECK(attempts <= 12);
    CHECK(backoff.failures() == static_cast<unsigned>(attempts));
}

TEST_CASE("backoff: starts over after a reset") {
    Backoff backoff{{.min = 100ms, .max = 30s}};
    core::Random random{1};
    for (int i = 0; i < 8; ++i) {
        static_cast<void>(backoff.next(random));
    }
    CHECK(backoff.next(random) > 10s);
    backoff.reset();
    CHECK(backoff.failures() == 0);
    CHECK(backoff.next(random) <= 100ms);
}

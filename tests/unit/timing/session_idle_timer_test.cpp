// SPDX-License-Identifier: MIT
#include "timing/session_idle_timer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace sessionq;
using namespace sessionq::timing;
using namespace std::chrono_literals;

namespace {
constexpr TimePoint accepted{1h};
}

TEST_CASE("session idle timer: R1: the clock starts at accept") {
    SessionIdleTimer timer{5s};
    CHECK_FALSE(timer.is_idle(0));
    CHECK_FALSE(timer.fire(0));
    const auto arming = timer.start(accepted);
    CHECK(arming.due == accepted + 5s);
    CHECK(timer.is_idle(arming.epoch));
    CHECK(timer.fire(arming.epoch));
    CHECK(timer.fired());
}

TEST_CASE("session idle timer: R1: it stands still while something is in flight and restarts when "
          "the last one ends") {
    SessionIdleTimer timer{5s};
    const auto at_accept = timer.start(accepted);
    CHECK(timer.begin());
    CHECK(timer.begin());
    CHECK(timer.in_flight() == 2);
    CHECK_FALSE(timer.is_idle(at_accept.epoch));
    CHECK_FALSE(timer.fire(at_accept.epoch));
    CHECK_FALSE(timer.end(accepted + 60s));
    CHECK_FALSE(timer.fire(at_accept.epoch));
    const auto after_last = timer.end(accepted + 90s);
    REQUIRE(after_last);
    CHECK(after_last->due == accepted + 95s);
    CHECK(timer.in_flight() == 0);
    CHECK(timer.is_idle(after_last->epoch));
}

TEST_CASE("session idle timer: R1: there is one clock, an older arming can not fire") {
    SessionIdleTimer timer{5s};
    const auto first = timer.start(accepted);
    CHECK(timer.begin());
    const auto second = timer.end(accepted + 1s);
    CHECK(timer.begin());
    const auto third = timer.end(accepted + 2s);
    CHECK_FALSE(timer.fire(first.epoch));
    CHECK_FALSE(timer.fire(second.value().epoch));
    CHECK(timer.fire(third.value().epoch));
}

TEST_CASE("session idle timer: R2: nothing begins once it has fired, and it fires once") {
    SessionIdleTimer timer{5s};
    const auto arming = timer.start(accepted);
    CHECK(timer.fire(arming.epoch));
    CHECK_FALSE(timer.fire(arming.epoch));
    CHECK_FALSE(timer.begin());
    CHECK(timer.in_flight() == 1); // counted all the same, until it was given back
    CHECK_FALSE(timer.end(accepted + 10s));
    CHECK(timer.in_flight() == 0);
    CHECK_FALSE(timer.is_idle(arming.epoch));
}

TEST_CASE(
    "session idle timer: disposed, it refuses what arrives, lets the rest end and never fires") {
    SessionIdleTimer timer{5s};
    const auto arming = timer.start(accepted);
    CHECK(timer.begin());
    CHECK_FALSE(timer.disposed());
    timer.dispose();
    timer.dispose();
    CHECK(timer.disposed());
    CHECK_FALSE(timer.begin());
    CHECK(timer.in_flight() == 2);
    CHECK_FALSE(timer.end(accepted + 1s));
    CHECK_FALSE(timer.end(accepted + 1s));
    CHECK_FALSE(timer.fire(arming.epoch));
    CHECK_FALSE(timer.fired());
}

TEST_CASE("session idle timer: disposed after firing, it has still fired") {
    SessionIdleTimer timer{5s};
    CHECK(timer.fire(timer.start(accepted).epoch));
    timer.dispose();
    CHECK(timer.fired());
    CHECK(timer.disposed());
}

TEST_CASE(
    "session idle timer: what arrives before start keeps the clock from running until it ends") {
    SessionIdleTimer timer{5s};
    CHECK(timer.begin());
    const auto at_accept = timer.start(accepted);
    CHECK_FALSE(timer.fire(at_accept.epoch));
    const auto after_last = timer.end(accepted + 1s);
    REQUIRE(after_last);
    CHECK(timer.fire(after_last->epoch));

    SessionIdleTimer late{5s};
    CHECK(late.begin());
    CHECK_FALSE(late.end(accepted)); // no session yet, so no clock
    CHECK(late.fire(late.start(accepted).epoch));
}

TEST_CASE("session idle timer: zero is due at once, the longest timeout never") {
    SessionIdleTimer at_once{Duration::zero()};
    CHECK(at_once.start(accepted).due == accepted);
    SessionIdleTimer never{Duration::max()};
    CHECK(never.start(accepted).due == TimePoint::max());
    SessionIdleTimer nearly{Duration::max() - 1s};
    CHECK(nearly.start(accepted).due == TimePoint::max());
    CHECK(never.start(TimePoint::min()).due == TimePoint::max());
}

TEST_CASE(
    "session idle timer: R1, R2 under threads: the count is right and one of many fires wins") {
    for (int round = 0; round < 50; ++round) {
        SessionIdleTimer timer{Duration::zero()};
        std::atomic<std::uint32_t> latest{timer.start(accepted).epoch};
        std::atomic<int> running{0};
        std::atomic<int> fired{0};
        std::atomic<bool> overlapped{false};
        const auto handle = [&] {
            bool begun = true;
            for (int k = 0; k < 1'000 && begun; ++k) {
                begun = timer.begin();
                if (begun) {
                    running.fetch_add(1);
                    if (fired.load() != 0) {
                        overlapped = true;
                    }
                    running.fetch_sub(1);
                }
                if (const auto arming = timer.end(accepted)) {
                    latest.store(arming->epoch);
                }
            }
        };
        const auto fire = [&] {
            for (int k = 0; k < 1'000; ++k) {
                if (timer.fire(latest.load())) {
                    fired.fetch_add(1);
                    if (running.load() != 0) {
                        overlapped = true;
                    }
                }
            }
        };
        {
            const std::jthread threads[] = {std::jthread{handle}, std::jthread{handle},
                                            std::jthread{fire}, std::jthread{fire}};
        }
        CHECK_FALSE(overlapped);
        CHECK(fired.load() == (timer.fired() ? 1 : 0));
        CHECK(timer.in_flight() == 0);
        CHECK(timer.begin() != timer.fired());
    }
}

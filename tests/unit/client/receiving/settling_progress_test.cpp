// SPDX-License-Identifier: MIT
#include "client/receiving/settling_progress.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::SettlingProgress;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};

} // namespace

TEST_CASE("settling progress: slow once a message is unsettled for the limit") {
    SettlingProgress progress{10s};
    CHECK_FALSE(progress.is_slow(t0 + 1h)); // no message was received
    progress.received(0, t0);
    CHECK_FALSE(progress.is_slow(t0 + 1h));
    progress.received(2, t0);
    progress.received(1, t0 + 9s); // does not restart the clock
    CHECK_FALSE(progress.is_slow(t0 + 10s - 1ns));
    CHECK(progress.is_slow(t0 + 10s));
}

TEST_CASE("settling progress: a settlement restarts the clock, the last one stops it") {
    SettlingProgress progress{10s};
    progress.received(2, t0);
    progress.settled(t0 + 20s);
    CHECK_FALSE(progress.is_slow(t0 + 29s));
    CHECK(progress.is_slow(t0 + 30s));
    progress.settled(t0 + 31s);
    CHECK_FALSE(progress.is_slow(t0 + 1h));
    progress.settled(t0 + 32s); // one more than was received: the count stays zero
    progress.received(1, t0 + 1h);
    CHECK_FALSE(progress.is_slow(t0 + 1h + 9s));
    CHECK(progress.is_slow(t0 + 1h + 10s));
}

TEST_CASE("settling progress: without a limit nothing is slow") {
    SettlingProgress progress{Duration::zero()};
    progress.received(1, t0);
    CHECK_FALSE(progress.is_slow(t0 + 1000h));
}

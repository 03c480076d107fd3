// SPDX-License-Identifier: MIT
#include "processor/message/gather_clock.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::GatherClock;

namespace {

constexpr TimePoint t0{1h};

GatherClock clock_of(const BatchOptions& options) {
    return {options, Duration::max(), TimePoint::max()};
}

} // namespace

TEST_CASE("gather clock: without a wait it is not used") {
    CHECK_FALSE(clock_of({.max_messages = 100}).is_used());
    CHECK(clock_of({.max_messages = 100, .max_wait = 1ns}).is_used());
}

TEST_CASE("gather clock: the wait is as long as the first message has waited, or until all came") {
    GatherClock clock = clock_of({.max_messages = 3, .max_wait = 1s});
    CHECK(clock.until() == TimePoint::max());
    CHECK_FALSE(clock.is_over(t0, false));
    clock.arrived(t0);
    clock.arrived(t0 + 900ms);
    CHECK(clock.until() == t0 + 1s);
    CHECK_FALSE(clock.is_over(t0 + 999ms, true));
    CHECK(clock.is_over(t0 + 1s, true));
    clock.arrived(t0 + 950ms);
    CHECK(clock.is_over(t0 + 950ms, true));

    clock.gone();
    CHECK(clock.count() == 0);
    CHECK(clock.until() == TimePoint::max());
    clock.arrived(t0 + 2s);
    CHECK(clock.until() == t0 + 3s);
}

TEST_CASE("gather clock: nothing waits for what cannot come") {
    GatherClock clock = clock_of({.max_messages = 3, .max_wait = 1s});
    clock.arrived(t0);
    CHECK(clock.is_over(t0, false));
}

TEST_CASE("gather clock: the wait has bounds of its own") {
    const BatchOptions options{.max_messages = 3, .max_wait = 1s};
    GatherClock lock{options, 300ms, TimePoint::max()};
    lock.arrived(t0);
    CHECK(lock.until() == t0 + 300ms);
    GatherClock hold{options, Duration::max(), t0 + 500ms};
    hold.arrived(t0 + 400ms);
    CHECK(hold.until() == t0 + 500ms);
    hold.gone();
    hold.arrived(t0 + 600ms);
    CHECK(hold.is_over(t0 + 600ms, true));
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/store/room_watch.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint start{1h};

/// How long a disk that is full at `now` is not looked at. Then it has room.
Duration wait_of(RoomWatch& watch, TimePoint& now) {
    watch.on_full(now);
    const TimePoint full = now;
    while (!watch.is_due(now)) {
        now += 500ms;
    }
    watch.on_room(now);
    return now - full;
}

} // namespace

TEST_CASE("RoomWatch: a full disk is looked at every second") {
    RoomWatch watch;
    watch.on_full(start);
    CHECK_FALSE(watch.is_due(start)); // the reserve was just given up
    CHECK_FALSE(watch.is_due(start + 999ms));
    CHECK(watch.is_due(start + 1s));
    CHECK_FALSE(watch.is_due(start + 1s));
    CHECK(watch.is_due(start + 2s));
}

TEST_CASE("RoomWatch: one that is soon full again is looked at less often, up to a bound") {
    RoomWatch watch;
    TimePoint now = start;
    for (const Duration wait : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        CHECK(wait_of(watch, now) == wait);
        now += 59s;
    }
    now += 1s;
    CHECK(wait_of(watch, now) == 1s); // it had room for a minute
}

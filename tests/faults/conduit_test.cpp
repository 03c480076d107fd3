// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "faults/conduit.hpp"

using namespace sessionq;
using namespace sessionq::faults;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint start{1000s};

/// Forwards all that is possible at `now`. Returns the number of bytes.
std::size_t flush(Conduit& conduit, TimePoint now) {
    std::size_t all = 0;
    for (Conduit::Next next = conduit.next(now); next.bytes != 0; next = conduit.next(now)) {
        conduit.gone(next.bytes, now);
        all += next.bytes;
    }
    return all;
}

} // namespace

TEST_CASE("Conduit: without faults bytes pass at once, followed by the end") {
    Conduit conduit{1};
    CHECK(conduit.next(start).at == TimePoint::max());
    conduit.arrived(100, start);
    conduit.ended();
    CHECK_FALSE(conduit.next(start).end);
    CHECK(conduit.next(start).bytes == 100);
    CHECK(flush(conduit, start) == 100);
    CHECK(conduit.next(start).end);
}

TEST_CASE("Conduit: a stall holds all bytes and the end, and releases them later") {
    Conduit conduit{1};
    conduit.stall(start + 1s);
    conduit.arrived(10, start);
    conduit.ended();
    CHECK(conduit.next(start).bytes == 0);
    CHECK(conduit.next(start).at == start + 1s);
    CHECK(flush(conduit, start + 1s) == 10);
    CHECK(conduit.next(start + 1s).end);
}

TEST_CASE("Conduit: delayed bytes stay in order with any jitter") {
    Conduit conduit{7};
    conduit.delay(50ms, 100ms, start + 1s);
    TimePoint before = start;
    for (int i = 0; i < 20; ++i) {
        conduit.arrived(1, start + i * 1ms);
    }
    for (int i = 0; i < 20; ++i) {
        const TimePoint due = std::max(before, conduit.next(start).at);
        CHECK(due >= start + 50ms + i * 1ms);
        CHECK(due <= start + 150ms + 19ms);
        conduit.gone(1, due);
        before = due;
    }
    conduit.arrived(1, start + 1s); // the delay is over
    CHECK(conduit.next(start + 1s).bytes == 1);
}

TEST_CASE("Conduit: a throttle forwards at its rate") {
    Conduit conduit{1};
    conduit.throttle(1000, start + 10s);
    conduit.arrived(100'000, start);
    std::size_t passed = 0;
    for (TimePoint now = start; now < start + 5s; now += 1ms) {
        passed += flush(conduit, now);
    }
    CHECK(passed >= 4900);
    CHECK(passed <= 5040);
    CHECK(flush(conduit, start + 10s) == 100'000 - passed);
}

TEST_CASE("Conduit: a trickle forwards one byte a segment") {
    Conduit conduit{1};
    conduit.trickle(start + 1s);
    conduit.arrived(3, start);
    CHECK(conduit.next(start).bytes == 1);
    conduit.gone(1, start);
    CHECK(conduit.next(start).bytes == 0);
    CHECK(conduit.next(start).at == start + Conduit::trickle_pace);
    CHECK(conduit.next(start + 1s).bytes == 2);
}

TEST_CASE("Conduit: a black hole forwards nothing and reads a bounded number of bytes") {
    Conduit conduit{1};
    conduit.swallow();
    conduit.arrived(Conduit::most_held, start);
    conduit.ended();
    conduit.heal();
    CHECK_FALSE(conduit.wants_more());
    CHECK(conduit.next(start + 24h).bytes == 0);
    CHECK_FALSE(conduit.next(start + 24h).end);
    CHECK(conduit.next(start).at == TimePoint::max());
}

TEST_CASE("Conduit: heal ends stalls and delays") {
    Conduit conduit{1};
    conduit.delay(1h, 0ms, start + 1s);
    conduit.arrived(5, start);
    conduit.stall(start + 2h);
    conduit.heal();
    CHECK(conduit.next(start).bytes == 5);
}

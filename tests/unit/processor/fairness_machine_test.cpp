// SPDX-License-Identifier: MIT
#include "processor/fairness_machine.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using processor::FairnessMachine;

namespace {

using Phase = processor::SessionState::Phase;

constexpr TimePoint start{1h};

/// Two slots that hold sessions.
FairnessMachine::Slots held(std::optional<std::size_t> ready = std::nullopt) {
    return {.here = 2, .all = 2, .free = 0, .held = 2, .ready = ready};
}

} // namespace

TEST_CASE(
    "fairness machine: R14: as many sessions are left as wait, those held for longest first") {
    FairnessMachine machine{true};
    machine.look(held(1), start);
    CHECK(machine.hold() == 5s * 2 / 3);
    CHECK(machine.bound() == 5s);
    CHECK(machine.leaves("a", Phase::working, start - 10s, start));
    CHECK_FALSE(machine.leaves("b", Phase::working, start - 10s, start));
    machine.look(held(1), start);
    CHECK_FALSE(machine.leaves("a", Phase::draining, start - 10s, start)); // it makes room
    CHECK_FALSE(machine.leaves("b", Phase::working, start - 10s, start));
    machine.look(held(1), start);
    CHECK_FALSE(machine.leaves("a", Phase::working, start, start)); // its turn is not over
    CHECK(machine.next() == start + 250ms);
    machine.look(held(0), start);
    CHECK(machine.hold() == Duration::zero());
    CHECK_FALSE(machine.leaves("a", Phase::working, start - 1h, start));
}

TEST_CASE(
    "fairness machine: R14: the more wait the shorter the turns, and a round keeps its pace") {
    FairnessMachine machine{true};
    machine.look(held(98), start);
    CHECK(machine.hold() == 100ms);
    machine.look(held(8), start + 4s);
    CHECK(machine.hold() == 100ms);
    machine.look(held(8), start + 5s); // the next round
    CHECK(machine.hold() == 1s);
    machine.look(held(100'000), start + 5s);
    CHECK(machine.hold() == FairnessMachine::least);
    CHECK(machine.bound() > 2000s);
}

TEST_CASE("fairness machine: what is parked keeps its slot, and a free slot takes what waits") {
    FairnessMachine machine{true};
    machine.look(held(1), start);
    CHECK_FALSE(machine.leaves("a", Phase::parked, start - 1h, start));
    machine.look({.here = 2, .all = 2, .free = 1, .held = 1, .ready = 1}, start);
    CHECK_FALSE(machine.leaves("a", Phase::working, start - 1h, start));
    CHECK(machine.next() == TimePoint::max());
}

TEST_CASE(
    "fairness machine: where nobody tells one session is left, and the next try comes later") {
    FairnessMachine machine{true};
    TimePoint now = start;
    for (const Duration rest : {10s, 20s, 40s, 60s, 60s}) {
        machine.look(held(), now);
        REQUIRE(machine.leaves("a", Phase::working, now - 5s, now));
        CHECK_FALSE(machine.leaves("b", Phase::working, now - 5s, now));
        machine.granted("a", now, true, now + 1ms); // nobody else was ready
        machine.look(held(), now + rest);
        CHECK_FALSE(machine.leaves("a", Phase::working, now, now + rest));
        CHECK(machine.next() == now + rest + 1ms);
        now += rest + 1ms;
    }
}

TEST_CASE("fairness machine: where nobody tells others that come at once have more left") {
    FairnessMachine machine{true};
    machine.look(held(), start);
    REQUIRE(machine.leaves("a", Phase::working, start - 5s, start));
    CHECK_FALSE(machine.leaves("b", Phase::working, start - 5s, start));
    machine.granted("c", start, true, start + 1ms);
    CHECK(machine.next() == start + 1ms);
    machine.look(held(), start + 1ms);
    CHECK(machine.leaves("b", Phase::working, start - 5s, start + 1ms));
    CHECK_FALSE(machine.leaves("c", Phase::working, start + 1ms, start + 1ms));
    machine.granted("d", start + 1ms, true, start + 1001ms); // it came later: nobody waited
    machine.look(held(), start + 5001ms);
    CHECK_FALSE(machine.leaves("c", Phase::working, start + 1ms, start + 5001ms));
}

TEST_CASE("fairness machine: unused, nothing is left") {
    FairnessMachine machine{false};
    machine.granted("a", start, true, start);
    machine.look(held(5), start);
    CHECK_FALSE(machine.leaves("a", Phase::working, start - 1h, start));
    CHECK(machine.next() == TimePoint::max());
    CHECK(machine.hold() == Duration::zero());
}

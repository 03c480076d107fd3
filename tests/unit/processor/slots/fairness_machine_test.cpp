// SPDX-License-Identifier: MIT
#include "processor/slots/fairness_machine.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::FairnessMachine;

namespace {

using Phase = detail::processor::SessionMachine::Phase;

constexpr TimePoint began{1h};

/// Two slots that hold sessions.
FairnessMachine::Slots both_held(std::optional<std::size_t> ready = std::nullopt) {
    return {.here = 2, .all = 2, .free = 0, .held = 2, .ready = ready};
}

} // namespace

TEST_CASE(
    "fairness machine: R14: as many sessions are left as wait, those held for longest first") {
    FairnessMachine machine{true};
    machine.look(both_held(1), began);
    CHECK(machine.hold() == FairnessMachine::turn * 2 / 3);
    CHECK(machine.bound() == 5s);
    CHECK(machine.leaves("a", Phase::working, began - 10s, began));
    CHECK_FALSE(machine.leaves("b", Phase::working, began - 10s, began));
    machine.look(both_held(1), began);
    CHECK_FALSE(machine.leaves("a", Phase::draining, began - 10s, began)); // it makes room
    CHECK_FALSE(machine.leaves("b", Phase::working, began - 10s, began));
    machine.look(both_held(1), began);
    CHECK_FALSE(machine.leaves("a", Phase::working, began, began)); // its turn is not over
    CHECK(machine.next() == began + 250ms);
    machine.look(both_held(0), began);
    CHECK(machine.hold() == Duration::zero());
    CHECK_FALSE(machine.leaves("a", Phase::working, began - 1h, began));
}

TEST_CASE(
    "fairness machine: R14: the more wait the shorter the turns, and a round keeps its pace") {
    FairnessMachine machine{true};
    machine.look(both_held(98), began);
    CHECK(machine.hold() == 100ms);
    machine.look(both_held(8), began + 4s);
    CHECK(machine.hold() == 100ms);
    machine.look(both_held(8), began + 5s); // the next round
    CHECK(machine.hold() == 1s);
    machine.look(both_held(100'000), began + 5s);
    CHECK(machine.hold() == FairnessMachine::least);
    CHECK(machine.bound() > 2000s);
}

TEST_CASE("fairness machine: what is parked keeps its slot, and a free slot takes what waits") {
    FairnessMachine machine{true};
    machine.look(both_held(1), began);
    CHECK_FALSE(machine.leaves("a", Phase::parked, began - 1h, began));
    machine.look({.here = 2, .all = 2, .free = 1, .held = 1, .ready = 1}, began);
    CHECK_FALSE(machine.leaves("a", Phase::working, began - 1h, began));
    CHECK(machine.next() == TimePoint::max());
}

TEST_CASE(
    "fairness machine: where nobody tells one session is left, and the next try comes later") {
    FairnessMachine machine{true};
    TimePoint now = began;
    for (const Duration rest : {10s, 20s, 40s, 60s, 60s}) {
        machine.look(both_held(), now);
        REQUIRE(machine.leaves("a", Phase::working, now - 5s, now));
        CHECK_FALSE(machine.leaves("b", Phase::working, now - 5s, now));
        machine.granted("a", now, true, now + 1ms); // nobody else was ready
        machine.look(both_held(), now + rest);
        CHECK_FALSE(machine.leaves("a", Phase::working, now, now + rest));
        CHECK(machine.next() == now + rest + 1ms);
        now += rest + 1ms;
    }
}

TEST_CASE("fairness machine: where nobody tells many sessions are looked at together") {
    FairnessMachine machine{true};
    machine.look({.here = 1000, .all = 1000, .free = 0, .held = 1000}, began);
    REQUIRE(machine.leaves("a", Phase::working, began - 5s, began));
    for (int i = 1; i < 1000; ++i) { // they came one after another, so their turns end so
        CHECK_FALSE(machine.leaves("b", Phase::working, began - 5s + i * 1ms, began));
    }
    CHECK(machine.next() == began + FairnessMachine::turn); // the next try
}

TEST_CASE("fairness machine: where nobody tells others that come at once have more left") {
    FairnessMachine machine{true};
    machine.look(both_held(), began);
    REQUIRE(machine.leaves("a", Phase::working, began - 5s, began));
    CHECK_FALSE(machine.leaves("b", Phase::working, began - 5s, began));
    machine.granted("c", began, true, began + 1ms);
    CHECK(machine.next() == began + 1ms);
    machine.look(both_held(), began + 1ms);
    CHECK(machine.leaves("b", Phase::working, began - 5s, began + 1ms));
    CHECK_FALSE(machine.leaves("c", Phase::working, began + 1ms, began + 1ms));
    machine.granted("d", began + 1ms, true, began + 1001ms); // it came later: nobody waited
    machine.look(both_held(), began + 5001ms);
    CHECK_FALSE(machine.leaves("c", Phase::working, began + 1ms, began + 5001ms));
}

TEST_CASE("fairness machine: unused, nothing is left") {
    FairnessMachine machine{false};
    machine.granted("a", began, true, began);
    machine.look(both_held(5), began);
    CHECK_FALSE(machine.leaves("a", Phase::working, began - 1h, began));
    CHECK(machine.next() == TimePoint::max());
    CHECK(machine.hold() == Duration::zero());
}

// SPDX-License-Identifier: MIT
#include "groups/entity_link_machine.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using groups::EntityLinkMachine;
using Phase = EntityLinkMachine::Phase;
using Action = EntityLinkMachine::Action;

namespace {

const TimePoint now{1h};

EntityLinkMachine in(Phase phase) {
    EntityLinkMachine machine;
    if (phase == Phase::attaching) {
        return machine;
    }
    machine.attached();
    if (phase == Phase::leaving || phase == Phase::closing) {
        REQUIRE(machine.close(now) == Action::drain);
    }
    if (phase == Phase::closing) {
        REQUIRE(machine.drained(true) == Action::detach);
    } else if (phase == Phase::over) {
        REQUIRE(machine.lose() == Phase::held);
    }
    REQUIRE(machine.phase() == phase);
    return machine;
}

} // namespace

TEST_CASE("entity link machine: every input in every phase") {
    enum Input : std::size_t { attached, drain, close, drained, answered, on_time, lose };
    test::PhaseTable table{
        "entity link machine",
        {"attaching", "held", "leaving", "closing", "over"},
        {"attached", "drain", "close", "drained", "answered", "on_time", "lose"}};
    struct Row {
        Phase before;
        Input input;
        Action action;
        Phase after;
    };
    using enum Phase;
    const std::vector<Row> rows{
        {attaching, attached, Action::none, held},
        {attaching, drain, Action::none, attaching},
        {attaching, close, Action::none, attaching},
        {attaching, drained, Action::none, attaching},
        {attaching, answered, Action::none, attaching},
        {attaching, on_time, Action::none, attaching},
        {attaching, lose, Action::none, over},
        {held, attached, Action::none, held},
        {held, drain, Action::drain, held},
        {held, close, Action::drain, leaving},
        {held, drained, Action::none, held},
        {held, answered, Action::none, held},
        {held, on_time, Action::none, held},
        {held, lose, Action::none, over},
        {leaving, attached, Action::none, leaving},
        {leaving, drain, Action::none, leaving},
        {leaving, close, Action::none, leaving},
        {leaving, drained, Action::detach, closing},
        {leaving, answered, Action::none, leaving},
        {leaving, on_time, Action::repeat_drain, leaving},
        {leaving, lose, Action::none, over},
        {closing, attached, Action::none, closing},
        {closing, drain, Action::none, closing},
        {closing, close, Action::none, closing},
        {closing, drained, Action::none, closing},
        {closing, answered, Action::none, closing},
        {closing, on_time, Action::none, closing},
        {closing, lose, Action::none, over},
        {over, attached, Action::none, over},
        {over, drain, Action::none, over},
        {over, close, Action::none, over},
        {over, drained, Action::none, over},
        {over, answered, Action::none, over},
        {over, on_time, Action::none, over},
        {over, lose, Action::none, over},
    };
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.before));
        CAPTURE(static_cast<int>(row.input));
        EntityLinkMachine machine = in(row.before);
        Action action = Action::none;
        switch (row.input) {
        case attached: machine.attached(); break;
        case drain: action = machine.drain(now); break;
        case close: action = machine.close(now); break;
        case drained: action = machine.drained(true); break;
        case answered: action = machine.answered(true); break;
        case on_time: action = machine.on_time(now + groups::DrainRepeat::patience); break;
        case lose: CHECK(machine.lose() == row.before); break;
        }
        CHECK(action == row.action);
        CHECK(machine.phase() == row.after);
        table.reached(static_cast<std::size_t>(row.before), row.input);
    }
    table.check();
}

TEST_CASE("entity link machine: a drain is repeated until it is answered, and then given up") {
    EntityLinkMachine machine = in(Phase::held);
    CHECK(machine.due() == TimePoint::max());
    CHECK(machine.drain(now) == Action::drain);
    CHECK_FALSE(machine.add_credit(1));
    CHECK(machine.drain(now) == Action::none); // its answer is the answer to both
    CHECK(machine.due() == now + groups::DrainRepeat::patience);
    CHECK(machine.on_time(now) == Action::none);
    CHECK(machine.on_time(now + 300ms) == Action::repeat_drain);
    CHECK(machine.due() == now + 600ms);
    CHECK(machine.on_time(now + 9900ms) == Action::repeat_drain);
    CHECK(machine.on_time(now + 10200ms) == Action::abandon);
    CHECK(machine.drained(true) == Action::tell_drained);
    CHECK(machine.add_credit(1));
    CHECK(machine.due() == TimePoint::max());
}

TEST_CASE("entity link machine: it detaches after the drain and the last answer, in any order") {
    EntityLinkMachine machine = in(Phase::held);
    CHECK(machine.close(now) == Action::drain);
    CHECK(machine.answered(true) == Action::none);
    CHECK(machine.drained(false) == Action::none);
    CHECK(machine.phase() == Phase::leaving);
    CHECK(machine.due() == TimePoint::max());
    CHECK(machine.answered(false) == Action::none);
    CHECK(machine.answered(true) == Action::detach);
    CHECK(machine.phase() == Phase::closing);
}

TEST_CASE("entity link machine: a drain under way is the one that a close waits for") {
    EntityLinkMachine machine = in(Phase::held);
    CHECK(machine.drain(now) == Action::drain);
    CHECK(machine.close(now) == Action::none);
    CHECK(machine.drained(true) == Action::detach);
}

TEST_CASE("entity link machine: gives what its owner asked for, and nothing after a drain") {
    EntityLinkMachine machine = in(Phase::held);
    CHECK_FALSE(machine.gives());
    CHECK(machine.add_credit(2));
    CHECK(machine.gives());
    CHECK(machine.drain(now) == Action::drain);
    CHECK(machine.gives()); // it was on its way
    CHECK_FALSE(machine.gives());
    CHECK(machine.drained(true) == Action::tell_drained);
    CHECK_FALSE(machine.gives()); // a repeated drain brought it
    CHECK(machine.add_credit(1));
    CHECK(machine.close(now) == Action::drain);
    CHECK_FALSE(machine.gives());
}

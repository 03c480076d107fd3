// SPDX-License-Identifier: MIT
#include "groups/group_link_machine.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/phase_table.hpp"

using namespace sessionq;
using groups::GroupLinkMachine;
using Phase = GroupLinkMachine::Phase;

namespace {

GroupLinkMachine in(Phase phase) {
    GroupLinkMachine machine;
    machine.add_credit(2);
    if (phase == Phase::closing) {
        REQUIRE(machine.close());
    } else if (phase == Phase::over) {
        REQUIRE(machine.lose() == Phase::held);
    }
    REQUIRE(machine.phase() == phase);
    return machine;
}

} // namespace

TEST_CASE("group link machine: every input in every phase") {
    enum Input : std::size_t { add_credit, drain, drained, unanswered, answered, close, lose };
    test::PhaseTable table{
        "group link machine",
        {"held", "closing", "over"},
        {"add_credit", "drain", "drained", "unanswered", "answered", "close", "lose"}};
    // What the input answered, the phase after it, and whether the session may be left then.
    struct Row {
        Phase before;
        Input input;
        bool answer;
        Phase after;
        bool leaves;
    };
    using enum Phase;
    const std::vector<Row> rows{
        {held, add_credit, true, held, false},
        {held, drain, true, held, false},
        {held, drained, true, held, false},
        {held, unanswered, true, held, false},
        {held, answered, true, held, false},
        {held, close, true, closing, false},
        {held, lose, true, over, false},
        {closing, add_credit, false, closing, false},
        {closing, drain, false, closing, false},
        {closing, drained, false, closing, false},
        {closing, unanswered, false, closing, false},
        {closing, answered, false, closing, true},
        {closing, close, false, closing, false},
        {closing, lose, false, over, false},
        {over, add_credit, false, over, false},
        {over, drain, false, over, false},
        {over, drained, false, over, false},
        {over, unanswered, false, over, false},
        {over, answered, false, over, false},
        {over, close, false, over, false},
        {over, lose, false, over, false},
    };
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.before));
        CAPTURE(static_cast<int>(row.input));
        GroupLinkMachine machine = in(row.before);
        bool answer = false;
        switch (row.input) {
        case add_credit:
            machine.add_credit(3);
            answer = machine.may_give() && machine.credit() == 5;
            break;
        case drain: answer = machine.drain() && machine.is_draining(); break;
        case drained:
            static_cast<void>(machine.drain());
            answer = machine.drained();
            CHECK_FALSE(machine.drained()); // once
            break;
        case unanswered: // a settlement, when the session could be left
        case answered: answer = machine.may_give(); break;
        case close: answer = machine.close(); break;
        case lose: answer = machine.lose() == held; break;
        }
        CHECK(answer == row.answer);
        CHECK(machine.phase() == row.after);
        CHECK(machine.leave(row.input == answered) == row.leaves);
        table.reached(static_cast<std::size_t>(row.before), row.input);
    }
    table.check();
}

TEST_CASE("group link machine: credit is used up by what is given, and ends with a drain") {
    GroupLinkMachine machine;
    CHECK_FALSE(machine.may_give());
    machine.add_credit(2);
    machine.gave();
    CHECK(machine.may_give());
    machine.gave();
    CHECK_FALSE(machine.may_give());
    machine.gave();
    CHECK(machine.credit() == 0);
    machine.add_credit(4);
    CHECK_FALSE(machine.drained()); // nobody asked
    REQUIRE(machine.drain());
    CHECK(machine.may_give()); // until the answer
    CHECK(machine.drained());
    CHECK_FALSE(machine.may_give());
}

TEST_CASE("group link machine: a session is left once, when all its settlements are answered") {
    GroupLinkMachine machine;
    CHECK_FALSE(machine.leave(true));
    REQUIRE(machine.close());
    CHECK_FALSE(machine.leave(false));
    CHECK(machine.leave(true));
    CHECK_FALSE(machine.leave(true));
}

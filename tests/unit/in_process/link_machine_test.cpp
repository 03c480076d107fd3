// SPDX-License-Identifier: MIT
#include "in_process/link_machine.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/phase_table.hpp"

using namespace sessionq;
using in_process::LinkMachine;
using Phase = LinkMachine::Phase;
using Kind = LinkMachine::Action::Kind;

namespace {

/// What the machine asks for in one turn, when each pull brings `available` messages.
std::string turn(LinkMachine& machine, std::uint32_t available = 0) {
    std::string done;
    machine.begin_turn();
    for (;;) {
        const LinkMachine::Action action = machine.next();
        switch (action.kind) {
        case Kind::none: return done;
        case Kind::later: return done + "later";
        case Kind::pull:
            done += "pull" + std::to_string(action.count) + " ";
            machine.pulled(std::min(available, action.count));
            break;
        case Kind::withdraw: done += "withdraw "; break;
        case Kind::drained: done += "drained "; break;
        case Kind::lost: done += "lost "; break;
        case Kind::closed: done += "closed "; break;
        }
    }
}

/// With messages held back in phase losing, and a settlement unconfirmed in phase closing.
LinkMachine in(Phase phase) {
    LinkMachine machine;
    switch (phase) {
    case Phase::open: break;
    case Phase::losing:
        machine.hold(1);
        machine.lose();
        break;
    case Phase::lost: machine.lose(); break;
    case Phase::closing:
        machine.confirming();
        machine.close();
        break;
    case Phase::closed: machine.close(); break;
    }
    static_cast<void>(turn(machine));
    REQUIRE(machine.phase() == phase);
    return machine;
}

} // namespace

TEST_CASE("link machine: every input in every phase, and the turn after it") {
    enum Input : std::size_t { add_credit, drain, work, lose, close, committed, confirmed };
    test::PhaseTable table{
        "in-process link machine",
        {"open", "losing", "lost", "closing", "closed"},
        {"add_credit", "drain", "work", "lose", "close", "committed", "confirmed"}};
    struct Row {
        Phase before;
        Input input;
        Phase after;
        std::string done;
    };
    using enum Phase;
    const std::vector<Row> rows{
        {open, add_credit, open, "pull7 "},
        {open, drain, open, "drained "},
        {open, work, open, ""},
        {open, lose, lost, "lost "},
        {open, close, closed, "closed "},
        {open, committed, open, ""},
        {open, confirmed, open, ""},
        {losing, add_credit, losing, ""},
        {losing, drain, losing, ""},
        {losing, work, losing, ""},
        {losing, lose, losing, ""},
        {losing, close, closed, "closed "},
        {losing, committed, lost, "lost "},
        {losing, confirmed, losing, ""},
        {lost, add_credit, lost, ""},
        {lost, drain, lost, ""},
        {lost, work, lost, ""},
        {lost, lose, lost, ""},
        {lost, close, closed, "closed "},
        {lost, committed, lost, ""},
        {lost, confirmed, lost, ""},
        {closing, add_credit, closing, ""},
        {closing, drain, closing, ""},
        {closing, work, closing, ""},
        {closing, lose, closing, ""},
        {closing, close, closing, ""},
        {closing, committed, closing, ""},
        {closing, confirmed, closed, "closed "},
        {closed, add_credit, closed, ""},
        {closed, drain, closed, ""},
        {closed, work, closed, ""},
        {closed, lose, closed, ""},
        {closed, close, closed, ""},
        {closed, committed, closed, ""},
        {closed, confirmed, closed, ""},
    };
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.before));
        CAPTURE(static_cast<int>(row.input));
        LinkMachine machine = in(row.before);
        switch (row.input) {
        case add_credit: machine.add_credit(7); break;
        case drain: machine.drain(); break;
        case work: machine.work(); break;
        case lose: machine.lose(); break;
        case close: machine.close(); break;
        case committed:
            static_cast<void>(machine.begin_commit());
            machine.committed();
            break;
        case confirmed:
            if (row.before != closing) { // one is unconfirmed there already
                machine.confirming();
            }
            machine.confirmed();
            break;
        }
        CHECK(turn(machine) == row.done);
        CHECK(machine.phase() == row.after);
        CHECK(machine.delivers_held() == (row.after <= lost));
        table.reached(static_cast<std::size_t>(row.before), row.input);
    }
    table.check();
}

TEST_CASE("link machine: a turn pulls once; what is left is for later turns") {
    LinkMachine machine;
    machine.add_credit(600);
    CHECK(turn(machine, 1000) == "pull256 later");
    CHECK(turn(machine, 1000) == "pull256 later");
    CHECK(turn(machine, 1000) == "pull88 ");
    CHECK(turn(machine, 1000).empty());
}

TEST_CASE("link machine: after a pull that found the end, the next follows news or credit") {
    LinkMachine machine;
    machine.add_credit(10);
    CHECK(turn(machine, 3) == "pull10 ");
    CHECK(turn(machine, 3).empty());
    machine.work();
    CHECK(turn(machine, 3) == "pull7 ");
    machine.add_credit(1);
    CHECK(turn(machine, 5) == "pull5 "); // all of it
    machine.work();
    CHECK(turn(machine).empty()); // no credit
}

TEST_CASE("link machine: a drain uses the credit up or withdraws it, and is answered once") {
    LinkMachine machine;
    machine.add_credit(10);
    machine.drain();
    CHECK(turn(machine, 10) == "pull10 drained ");
    machine.add_credit(10);
    machine.drain();
    CHECK(turn(machine, 4) == "pull10 withdraw drained ");
    CHECK(turn(machine, 4).empty());
    machine.work();
    CHECK(turn(machine, 4).empty()); // the credit is gone
    machine.add_credit(300);
    machine.drain();
    CHECK(turn(machine, 1000) == "pull256 later"); // not before the end is found
    CHECK(turn(machine, 0) == "pull44 withdraw drained ");
}

TEST_CASE("link machine: messages held back come before the answer to a drain and before a loss") {
    LinkMachine machine;
    machine.hold(2);
    machine.drain();
    CHECK(machine.begin_commit() == 2);
    machine.hold(3);
    CHECK(machine.begin_commit() == 0); // one at a time
    CHECK(turn(machine).empty());
    machine.committed();
    CHECK(turn(machine).empty());
    CHECK(machine.begin_commit() == 3);
    machine.committed();
    CHECK(turn(machine) == "drained ");
    CHECK(machine.begin_commit() == 0);
    machine.hold(1);
    machine.lose();
    CHECK(turn(machine).empty());
    CHECK(machine.begin_commit() == 1);
    machine.committed();
    CHECK(turn(machine) == "lost ");
}

TEST_CASE("link machine: a close waits for all settlements to be confirmed") {
    LinkMachine machine;
    machine.confirming();
    machine.confirming();
    machine.close();
    machine.confirmed();
    CHECK(turn(machine).empty());
    machine.confirmed();
    CHECK(turn(machine) == "closed ");
}

TEST_CASE("link machine: settlements that wait to be confirmed are answered before a loss") {
    LinkMachine machine;
    machine.confirming();
    machine.hold(1);
    machine.lose();
    CHECK(turn(machine).empty());
    CHECK(machine.begin_commit() == 1);
    machine.committed();
    CHECK(turn(machine).empty());
    machine.confirmed();
    CHECK(turn(machine) == "lost ");
}

// SPDX-License-Identifier: MIT
#include "servicebus/locked_session_machine.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/phase_table.hpp"

using namespace sessionq;
using detail::servicebus::LockedSessionMachine;
using Phase = LockedSessionMachine::Phase;
using Action = LockedSessionMachine::Action;
using End = LockedSessionMachine::End;
using Hearing = LockedSessionMachine::Hearing;

namespace {

/// What the machine asks for.
std::string rest(LockedSessionMachine& machine) {
    std::string done;
    for (;;) {
        switch (machine.next(false)) {
        case Action::none: return done;
        case Action::tell_kept: done += "kept "; break;
        case Action::note_lock_end: done += "note "; break;
        case Action::fail_settlements: done += "fail "; break;
        case Action::tell_lost: done += "lost "; break;
        case Action::tell_closed: done += "closed "; break;
        }
    }
}

/// With an owner, except in phase losing: nobody listened when the link ended.
LockedSessionMachine in(Phase phase) {
    LockedSessionMachine machine;
    if (phase != Phase::losing) {
        REQUIRE_FALSE(machine.listen(false));
    }
    switch (phase) {
    case Phase::held: break;
    case Phase::losing:
    case Phase::lost: machine.end(End::other); break;
    case Phase::closing: REQUIRE(machine.close(false)); break;
    case Phase::closed:
        machine.end(End::other);
        static_cast<void>(rest(machine));
        REQUIRE_FALSE(machine.close(true));
        break;
    }
    static_cast<void>(rest(machine));
    REQUIRE(machine.phase() == phase);
    return machine;
}

} // namespace

TEST_CASE("locked session machine: every input in every phase, and what follows") {
    enum Input : std::size_t {
        listen,
        use,
        use_gone,
        deliver,
        close,
        close_gone,
        lock_over,
        ended
    };
    test::PhaseTable table{
        "locked session machine",
        {"held", "losing", "lost", "closing", "closed"},
        {"listen", "use", "use, gone", "deliver", "close", "close, gone", "lock over", "ended"}};
    struct Row {
        Phase before;
        Input input;
        bool answer; // of inputs that answer
        Phase after;
        std::string done;
    };
    using enum Phase;
    const std::vector<Row> rows{
        {held, listen, false, held, ""},
        {held, use, true, held, ""},
        {held, use_gone, false, held, ""},
        {held, deliver, true, held, ""},
        {held, close, true, closing, ""},
        {held, close_gone, false, closed, ""},
        {held, lock_over, false, lost, "note fail lost "},
        {held, ended, false, lost, "fail lost "},
        {losing, listen, true, lost, "fail lost "},
        {losing, use, false, losing, ""},
        {losing, use_gone, false, losing, ""},
        {losing, deliver, false, losing, ""},
        {losing, close, false, closed, ""},
        {losing, close_gone, false, closed, ""},
        {losing, lock_over, false, losing, ""},
        {losing, ended, false, losing, ""},
        {lost, listen, false, lost, ""},
        {lost, use, false, lost, ""},
        {lost, use_gone, false, lost, ""},
        {lost, deliver, false, lost, ""},
        {lost, close, false, closed, ""},
        {lost, close_gone, false, closed, ""},
        {lost, lock_over, false, lost, "fail "},
        {lost, ended, false, lost, "fail "},
        {closing, listen, false, closing, ""},
        {closing, use, false, closing, ""},
        {closing, use_gone, false, closing, ""},
        {closing, deliver, false, closing, ""},
        {closing, close, false, closing, ""},
        {closing, close_gone, false, closing, ""},
        {closing, lock_over, false, closed, "fail closed "},
        {closing, ended, false, closed, "fail closed "},
        {closed, listen, false, closed, ""},
        {closed, use, false, closed, ""},
        {closed, use_gone, false, closed, ""},
        {closed, deliver, false, closed, ""},
        {closed, close, false, closed, ""},
        {closed, close_gone, false, closed, ""},
        {closed, lock_over, false, closed, "fail "},
        {closed, ended, false, closed, "fail "},
    };
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.before));
        CAPTURE(static_cast<int>(row.input));
        LockedSessionMachine machine = in(row.before);
        bool answer = false;
        switch (row.input) {
        case listen: answer = machine.listen(false); break;
        case use: answer = machine.may_use(false); break;
        case use_gone: answer = machine.may_use(true); break;
        case deliver: answer = machine.hearing(false) == Hearing::now; break;
        case close: answer = machine.close(false); break;
        case close_gone: answer = machine.close(true); break;
        case lock_over: machine.end(End::lock_over); break;
        case ended: machine.end(End::other); break;
        }
        CHECK(answer == row.answer);
        CHECK(rest(machine) == row.done);
        CHECK(machine.phase() == row.after);
        CHECK(rest(machine).empty());
        table.reached(static_cast<std::size_t>(row.before), row.input);
    }
    table.check();
}

TEST_CASE("locked session machine: what comes before its owner listens is kept, in its order") {
    LockedSessionMachine machine;
    CHECK(machine.hearing(false) == Hearing::later);
    CHECK(machine.next(true) == Action::none); // nobody to tell
    CHECK(machine.listen(true));
    CHECK(machine.hearing(true) == Hearing::later); // behind what is kept
    CHECK(machine.next(true) == Action::tell_kept);
    CHECK(machine.next(false) == Action::none);
    CHECK(machine.hearing(false) == Hearing::now);
    machine.end(End::other);
    CHECK(machine.hearing(true) == Hearing::never);
    CHECK(rest(machine) == "fail lost "); // the broker has the messages back
}

TEST_CASE("locked session machine: without an owner a loss waits") {
    LockedSessionMachine machine;
    CHECK(machine.may_use(false));
    machine.end(End::lock_over);
    CHECK(rest(machine) == "note ");
    CHECK(machine.phase() == Phase::losing);
    CHECK(machine.listen(false));
    CHECK(rest(machine) == "fail lost ");
}

TEST_CASE(
    "locked session machine: R19: closed before anybody listens, it tells that it is closed") {
    LockedSessionMachine machine;
    CHECK(machine.close(false));
    CHECK(rest(machine).empty());
    machine.end(End::other);
    CHECK(rest(machine) == "closed ");
    CHECK(machine.phase() == Phase::closed);
}

TEST_CASE("locked session machine: R13: who closes when settlements fail hears of no loss") {
    LockedSessionMachine machine = in(Phase::held);
    machine.end(End::other);
    CHECK(machine.next(false) == Action::fail_settlements);
    CHECK_FALSE(machine.close(true)); // answered by its own turn
    CHECK(rest(machine).empty());
    CHECK(machine.phase() == Phase::closed);
}

TEST_CASE("locked session machine: what is closed before it hears that its link is gone fails its "
          "settlements and hears of no loss") {
    LockedSessionMachine machine = in(Phase::held);
    CHECK_FALSE(machine.close(true));
    machine.end(End::other);
    CHECK(rest(machine) == "fail ");
    CHECK(machine.phase() == Phase::closed);
}

// SPDX-License-Identifier: MIT
#include "groups/receiver_machine.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using groups::ReceiverMachine;
using Phase = ReceiverMachine::Phase;
using Action = ReceiverMachine::Action;
using Use = ReceiverMachine::Use;

namespace {

constexpr TimePoint start{1000s};
constexpr Duration idle{1s};
constexpr Use unused{};
constexpr Use waited{.waited_for = true};
constexpr Use busy{.held = true, .has_groups = true};

ReceiverMachine in(Phase phase) {
    ReceiverMachine machine;
    if (phase == Phase::detached) {
        return machine;
    }
    REQUIRE(machine.wanted() == Action::connect);
    if (phase == Phase::connecting) {
        return machine;
    }
    machine.connected();
    if (phase == Phase::attaching) {
        return machine;
    }
    machine.attached(idle);
    if (phase == Phase::attached) {
        return machine;
    }
    REQUIRE(machine.want_drain(start) == Action::drain);
    if (phase == Phase::closing) {
        REQUIRE(machine.drained(unused) == Action::close);
    }
    REQUIRE(machine.phase() == phase);
    return machine;
}

/// Attached, has had a message, and its groups rest.
ReceiverMachine resting(bool dealt_anew = false) {
    ReceiverMachine machine = in(Phase::attached);
    machine.arrived(dealt_anew);
    static_cast<void>(machine.use_changed(waited, start));
    return machine;
}

} // namespace

TEST_CASE("receiver machine: every input in every phase") {
    enum Input : std::size_t {
        wanted,
        connected,
        attached,
        arrived,
        want_drain,
        drained,
        unused_now,
        used_now,
        on_time,
        lost,
    };
    test::PhaseTable table{
        "receiver machine",
        {"detached", "connecting", "attaching", "attached", "draining", "closing"},
        {"wanted", "connected", "attached", "arrived", "want_drain", "drained", "unused_now",
         "used_now", "on_time", "lost"}};
    struct Row {
        Phase before;
        Input input;
        Action action;
        Phase after;
    };
    using P = Phase;
    using A = Action;
    const std::vector<Row> rows{
        {P::detached, wanted, A::connect, P::connecting},
        {P::detached, connected, A::none, P::detached},
        {P::detached, attached, A::none, P::detached},
        {P::detached, arrived, A::none, P::detached},
        {P::detached, want_drain, A::none, P::detached},
        {P::detached, drained, A::none, P::detached},
        {P::detached, unused_now, A::finish, P::detached},
        {P::detached, used_now, A::none, P::detached},
        {P::detached, on_time, A::none, P::detached},
        {P::detached, lost, A::none, P::detached},
        {P::connecting, wanted, A::none, P::connecting},
        {P::connecting, connected, A::none, P::attaching},
        {P::connecting, attached, A::none, P::connecting},
        {P::connecting, arrived, A::none, P::connecting},
        {P::connecting, want_drain, A::none, P::connecting},
        {P::connecting, drained, A::none, P::connecting},
        {P::connecting, unused_now, A::none, P::connecting},
        {P::connecting, used_now, A::none, P::connecting},
        {P::connecting, on_time, A::none, P::connecting},
        {P::connecting, lost, A::none, P::detached},
        {P::attaching, wanted, A::none, P::attaching},
        {P::attaching, connected, A::none, P::attaching},
        {P::attaching, attached, A::none, P::attached},
        {P::attaching, arrived, A::none, P::attaching},
        {P::attaching, want_drain, A::none, P::attaching},
        {P::attaching, drained, A::none, P::attaching},
        {P::attaching, unused_now, A::none, P::attaching},
        {P::attaching, used_now, A::none, P::attaching},
        {P::attaching, on_time, A::none, P::attaching},
        {P::attaching, lost, A::none, P::detached},
        {P::attached, wanted, A::none, P::attached},
        {P::attached, connected, A::none, P::attached},
        {P::attached, attached, A::none, P::attached},
        {P::attached, arrived, A::none, P::attached},
        {P::attached, want_drain, A::drain, P::draining},
        {P::attached, drained, A::none, P::attached},
        {P::attached, unused_now, A::drain, P::draining},
        {P::attached, used_now, A::none, P::attached},
        {P::attached, on_time, A::none, P::attached},
        {P::attached, lost, A::none, P::detached},
        {P::draining, wanted, A::none, P::draining},
        {P::draining, connected, A::none, P::draining},
        {P::draining, attached, A::none, P::draining},
        {P::draining, arrived, A::none, P::draining},
        {P::draining, want_drain, A::none, P::draining},
        {P::draining, drained, A::flow, P::attached},
        {P::draining, unused_now, A::none, P::draining},
        {P::draining, used_now, A::none, P::draining},
        {P::draining, on_time, A::repeat_drain, P::draining},
        {P::draining, lost, A::none, P::detached},
        {P::closing, wanted, A::none, P::closing},
        {P::closing, connected, A::none, P::closing},
        {P::closing, attached, A::none, P::closing},
        {P::closing, arrived, A::none, P::closing},
        {P::closing, want_drain, A::none, P::closing},
        {P::closing, drained, A::none, P::closing},
        {P::closing, unused_now, A::none, P::closing},
        {P::closing, used_now, A::none, P::closing},
        {P::closing, on_time, A::none, P::closing},
        {P::closing, lost, A::none, P::detached},
    };
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.before));
        CAPTURE(static_cast<int>(row.input));
        ReceiverMachine machine = in(row.before);
        const TimePoint now = start + 1s;
        Action action = Action::none;
        switch (row.input) {
        case wanted: action = machine.wanted(); break;
        case connected: machine.connected(); break;
        case attached: machine.attached(idle); break;
        case arrived: machine.arrived(false); break;
        case want_drain: action = machine.want_drain(now); break;
        case drained: action = machine.drained(busy); break;
        case unused_now: action = machine.use_changed(unused, now); break;
        case used_now: action = machine.use_changed(busy, now); break;
        case on_time: action = machine.on_time(busy, now); break;
        case lost: machine.lost(); break;
        }
        CHECK(action == row.action);
        CHECK(machine.phase() == row.after);
        table.reached(static_cast<std::size_t>(row.before), row.input);
    }
    table.check();
}

TEST_CASE("receiver machine: a drain that is wanted while one is under way follows it") {
    ReceiverMachine machine = in(Phase::draining);
    CHECK(machine.want_drain(start) == Action::none);
    CHECK(machine.drained(busy) == Action::flow);
    CHECK(machine.drain_again(start) == Action::drain);
    CHECK(machine.drained(busy) == Action::flow);
    CHECK(machine.drain_again(start) == Action::none); // once
}

TEST_CASE("receiver machine: credit is given while attached, and not while a drain is under way") {
    CHECK(in(Phase::attached).may_flow());
    CHECK_FALSE(in(Phase::attaching).may_flow());
    CHECK_FALSE(in(Phase::draining).may_flow());
    CHECK_FALSE(in(Phase::closing).may_flow());
    CHECK(in(Phase::draining).is_attached());
    CHECK_FALSE(in(Phase::closing).is_attached());
}

TEST_CASE("receiver machine: R16: a drain without an answer is repeated, and after ten seconds the "
          "link is dropped") {
    ReceiverMachine machine = in(Phase::draining);
    int repeated = 0;
    TimePoint now = machine.due();
    CHECK(now == start + 300ms);
    CHECK(machine.on_time(busy, now - 1ns) == Action::none);
    while (machine.on_time(busy, now) == Action::repeat_drain) {
        ++repeated;
        now = machine.due();
    }
    CHECK(repeated == 33);
    CHECK(now >= start + 10s);
    machine.lost();
    CHECK(machine.due() == TimePoint::max());
}

TEST_CASE("receiver machine: a link whose groups have all been idle is drained and given up") {
    ReceiverMachine machine = resting();
    CHECK(machine.due() == start + idle);
    CHECK(machine.on_time(waited, start + idle) == Action::drain);
    CHECK(machine.drained(waited) == Action::close);
}

TEST_CASE("receiver machine: a drain on the way does not put off the idle time") {
    ReceiverMachine machine = resting();
    REQUIRE(machine.want_drain(start + 100ms) == Action::drain);
    REQUIRE(machine.drained(waited) == Action::flow);
    CHECK(machine.due() == start + idle);
}

TEST_CASE("receiver machine: a message ends the idle time, also while the link is drained for it") {
    ReceiverMachine machine = resting();
    machine.arrived(false);
    CHECK(machine.due() == TimePoint::max());
    machine = resting();
    REQUIRE(machine.on_time(waited, start + idle) == Action::drain);
    machine.arrived(false);
    CHECK(machine.drained(waited) == Action::flow);
    CHECK(machine.may_flow());
    machine = resting();
    CHECK(machine.on_time(busy, start + idle) == Action::none); // a group is here again
}

TEST_CASE("receiver machine: an idle link is kept where its return could deal groups anew, where "
          "nothing came, and where groups are not pinned") {
    CHECK(resting(true).due() == TimePoint::max());
    ReceiverMachine fresh = in(Phase::attached);
    static_cast<void>(fresh.use_changed(waited, start));
    CHECK(fresh.due() == TimePoint::max());
    ReceiverMachine loose = in(Phase::attaching);
    loose.attached(Duration::zero());
    loose.arrived(false);
    static_cast<void>(loose.use_changed(waited, start));
    CHECK(loose.due() == TimePoint::max());
    ReceiverMachine held = resting();
    held.arrived(false);
    static_cast<void>(held.use_changed(busy, start));
    CHECK(held.due() == TimePoint::max());
}

TEST_CASE("receiver machine: sessions have left when the link is back at the broker, or of use "
          "again") {
    CHECK(in(Phase::detached).has_left(unused));
    CHECK_FALSE(in(Phase::attached).has_left(unused));
    CHECK_FALSE(in(Phase::closing).has_left(unused));
    CHECK(in(Phase::attached).has_left(waited));
    CHECK(in(Phase::attached).has_left(busy));
}

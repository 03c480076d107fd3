// SPDX-License-Identifier: MIT
#include "processor/slots/slot_machine.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "processor/slots/accept_pace.hpp"
#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::AcceptPace;
using detail::processor::SlotActions;
using detail::processor::SlotMachine;
using SlotPhase = SlotMachine::Phase;

namespace {

void wanted(SlotMachine& slot) {
    const SlotActions actions = slot.follow(std::nullopt);
    CHECK_FALSE(actions.leave_session);
    CHECK_FALSE(actions.wait);
}

struct Fixture {
    core::Random random{3};
    SlotMachine slot{BackoffOptions{.min = 100ms, .max = 1s}, random};

    void holding() {
        wanted(slot);
        CHECK(slot.phase() == SlotPhase::free);
        slot.accepted();
        CHECK(slot.phase() == SlotPhase::holding);
    }
};

bool is_nothing(const SlotActions& actions) { return !actions.leave_session && !actions.wait; }

} // namespace

TEST_CASE_FIXTURE(Fixture, "slot machine: holds and rolls to the next session at once (R4)") {
    CHECK(slot.phase() == SlotPhase::stopped);
    holding();
    for (const CloseReason reason :
         {CloseReason::idle, CloseReason::released, CloseReason::max_hold,
          CloseReason::max_messages, CloseReason::parked, CloseReason::dead_lettered,
          CloseReason::open_failed}) {
        CAPTURE(to_string(reason));
        CHECK_FALSE(slot.session_left(reason, std::nullopt, Duration{}).wait);
        CHECK(slot.phase() == SlotPhase::free);
        slot.accepted();
    }
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(
    Fixture, "slot machine: R17: leaving by a fault waits before the next accept, also in a row") {
    holding();
    std::uint32_t failures = 0;
    for (const CloseReason reason :
         {CloseReason::lock_lost, CloseReason::connection_lost, CloseReason::unresponsive}) {
        CAPTURE(to_string(reason));
        CHECK(detail::processor::is_fault(reason));
        const SlotActions actions = slot.session_left(reason, std::nullopt, Duration{});
        CHECK(actions.wait);
        CHECK(actions.delay > Duration::zero());
        CHECK(slot.phase() == SlotPhase::backing_off);
        CHECK(slot.failures() == ++failures);
        slot.due();
        slot.accepted();
    }
    CHECK_FALSE(slot.session_left(CloseReason::idle, std::nullopt, Duration{}).wait);
    CHECK(slot.failures() == 0);
}

TEST_CASE_FIXTURE(
    Fixture, "slot machine: R18: stopping leaves the session, after which nothing is accepted") {
    holding();
    const SlotActions actions = slot.follow(CloseReason::stopped);
    CHECK(actions.leave_session);
    CHECK(slot.phase() == SlotPhase::holding);
    CHECK(is_nothing(slot.follow(CloseReason::stopped)));
    CHECK(is_nothing(slot.session_left(CloseReason::stopped, std::nullopt, Duration{})));
    CHECK(slot.phase() == SlotPhase::stopped);
    wanted(slot);
    CHECK(slot.phase() == SlotPhase::stopped);
}

TEST_CASE("slot machine: only faults are faults") {
    for (const CloseReason reason :
         {CloseReason::idle, CloseReason::released, CloseReason::stopped, CloseReason::max_hold,
          CloseReason::max_messages, CloseReason::limit_lowered, CloseReason::paused,
          CloseReason::parked, CloseReason::dead_lettered}) {
        CHECK_FALSE(detail::processor::is_fault(reason));
    }
}

TEST_CASE_FIXTURE(
    Fixture,
    "slot: R17: a session that brought no message is spaced like an answer without a session") {
    holding();
    const SlotActions soon = slot.session_left(CloseReason::idle, 1ms, 1ms);
    CHECK(soon.wait);
    CHECK(soon.delay == AcceptPace::min_interval - 1ms);
    CHECK(slot.failures() == 0);
    slot.due();
    slot.accepted();
    CHECK_FALSE(slot.session_left(CloseReason::idle, 1s, 1s).wait);
}

TEST_CASE("slot machine: R17: losses of sessions held for long do not add up, short ones do") {
    core::Random random{1};
    SlotMachine slot{{.min = 100ms, .max = 10s}, random};
    const auto lose_after = [&](Duration held) {
        wanted(slot);
        slot.due();
        slot.accepted();
        return slot.session_left(CloseReason::connection_lost, std::nullopt, held).delay;
    };
    for (int i = 0; i < 5; ++i) {
        CHECK(lose_after(10s) <= 100ms);
    }
    for (int i = 0; i < 5; ++i) { // long beside a wait of 100 ms
        CHECK(lose_after(2s) <= 100ms);
    }
    static_cast<void>(lose_after(900ms));
    static_cast<void>(lose_after(900ms));
    CHECK(lose_after(900ms) >= 200ms);
    CHECK(lose_after(2s) >= 400ms); // no longer long beside it
    CHECK(lose_after(10s) <= 100ms);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R17: a slot that is wanted again keeps its backoff") {
    holding();
    CHECK(slot.follow(CloseReason::limit_lowered).leave_session);
    wanted(slot); // while the session is on its way out
    CHECK(slot.phase() == SlotPhase::holding);
    CHECK(slot.session_left(CloseReason::connection_lost, std::nullopt, Duration{}).wait);
    CHECK(slot.phase() == SlotPhase::backing_off);

    CHECK(is_nothing(slot.follow(CloseReason::limit_lowered)));
    CHECK(slot.phase() == SlotPhase::stopped);
    wanted(slot);
    CHECK(slot.phase() == SlotPhase::free);
    CHECK(is_nothing(slot.follow(CloseReason::stopped)));
    wanted(slot); // for good
    CHECK(slot.phase() == SlotPhase::stopped);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: R18: stopping while the limit is lowered leaves once") {
    holding();
    const SlotActions lowered = slot.follow(CloseReason::limit_lowered);
    CHECK(lowered.leave_session);
    CHECK(lowered.reason == CloseReason::limit_lowered);
    CHECK(is_nothing(slot.follow(CloseReason::stopped)));
    wanted(slot);
    CHECK(is_nothing(slot.session_left(CloseReason::limit_lowered, std::nullopt, Duration{})));
    CHECK(slot.phase() == SlotPhase::stopped);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: paused, it leaves its session, and looks for no other") {
    holding();
    const SlotActions actions = slot.follow(CloseReason::paused);
    CHECK(actions.leave_session);
    CHECK(actions.reason == CloseReason::paused);
    CHECK(is_nothing(slot.follow(CloseReason::paused)));
    CHECK(is_nothing(slot.session_left(CloseReason::paused, std::nullopt, 1s)));
    CHECK(slot.phase() == SlotPhase::stopped);
    slot.accepted();
    CHECK(slot.phase() == SlotPhase::stopped);
    wanted(slot);
    CHECK(slot.phase() == SlotPhase::free);
}

TEST_CASE_FIXTURE(Fixture, "slot machine: resumed amid the leaving, it looks for the next session "
                           "once that has ended") {
    holding();
    CHECK(slot.follow(CloseReason::paused).leave_session);
    wanted(slot);
    CHECK(slot.phase() == SlotPhase::holding);
    CHECK(is_nothing(slot.session_left(CloseReason::paused, std::nullopt, 1s)));
    CHECK(slot.phase() == SlotPhase::free);
    CHECK(slot.failures() == 0); // it was no fault
}

TEST_CASE_FIXTURE(Fixture, "slot machine: paused amid a backoff, it asks at once when resumed, and "
                           "the next fault waits longer") {
    holding();
    static_cast<void>(slot.session_left(CloseReason::lock_lost, std::nullopt, Duration{}));
    CHECK(is_nothing(slot.follow(CloseReason::paused)));
    wanted(slot);
    CHECK(slot.phase() == SlotPhase::free);
    CHECK(slot.failures() == 1);
}

TEST_CASE("slot machine: every input in every phase") {
    core::Random random{1};
    const auto make = [&](int steps) {
        SlotMachine slot{BackoffOptions{.min = 100ms, .max = 1s}, random};
        if (steps >= 1) {
            wanted(slot);
        }
        if (steps >= 2) {
            slot.accepted();
        }
        if (steps >= 3) {
            CHECK(slot.session_left(CloseReason::lock_lost, std::nullopt, 0s).wait);
        }
        return slot;
    };
    const auto words = [](const SlotActions& actions) {
        return std::string{actions.leave_session ? "leave" : ""} + (actions.wait ? "wait" : "");
    };
    using Input = std::function<SlotActions(SlotMachine&)>;
    const auto silent = [](void (SlotMachine::*input)() noexcept) {
        return Input{[input](SlotMachine& slot) {
            (slot.*input)();
            return SlotActions{};
        }};
    };
    const std::vector<std::pair<std::string, Input>> inputs{
        {"wanted", [](SlotMachine& slot) { return slot.follow(std::nullopt); }},
        {"accepted", silent(&SlotMachine::accepted)},
        {"due", silent(&SlotMachine::due)},
        {"left idle",
         [](SlotMachine& slot) { return slot.session_left(CloseReason::idle, std::nullopt, 1s); }},
        {"left by fault",
         [](SlotMachine& slot) {
             return slot.session_left(CloseReason::lock_lost, std::nullopt, 0s);
         }},
        {"lowered", [](SlotMachine& slot) { return slot.follow(CloseReason::limit_lowered); }},
        {"paused", [](SlotMachine& slot) { return slot.follow(CloseReason::paused); }},
        {"stop", [](SlotMachine& slot) { return slot.follow(CloseReason::stopped); }},
    };
    struct Cell {
        SlotPhase phase;
        const char* actions;
    };
    constexpr auto free = SlotPhase::free;
    constexpr auto holding = SlotPhase::holding;
    constexpr auto backing_off = SlotPhase::backing_off;
    constexpr auto stopped = SlotPhase::stopped;
    const Cell expected[4][8] = {
        {{free, ""},
         {holding, ""},
         {free, ""},
         {free, ""},
         {free, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""}},
        {{holding, ""},
         {holding, ""},
         {holding, ""},
         {free, ""},
         {backing_off, "wait"},
         {holding, "leave"},
         {holding, "leave"},
         {holding, "leave"}},
        {{backing_off, ""},
         {backing_off, ""},
         {free, ""},
         {backing_off, ""},
         {backing_off, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""}},
        {{free, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""},
         {stopped, ""}},
    };
    std::vector<std::string> names;
    for (const auto& [name, input] : inputs) {
        names.push_back(name);
    }
    test::PhaseTable table{
        "slot machine", {"free", "holding", "backing_off", "stopped"}, std::move(names)};
    const int steps[] = {1, 2, 3, 0};
    for (std::size_t phase = 0; phase < std::size(steps); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(phase);
            CAPTURE(inputs[input].first);
            SlotMachine slot = make(steps[phase]);
            REQUIRE(static_cast<std::size_t>(slot.phase()) == phase);
            CHECK(words(inputs[input].second(slot)) == expected[phase][input].actions);
            CHECK(slot.phase() == expected[phase][input].phase);
            table.reached(phase, input);
        }
    }
    table.print();
    CHECK(table.missing().empty());
}

// SPDX-License-Identifier: MIT
#include "processor/stop_machine.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::StopActions;
using detail::processor::StopMachine;
using Phase = StopMachine::Phase;

namespace {

constexpr TimePoint t0{1h};

std::string words(const StopActions& actions) {
    std::string text;
    const std::pair<bool, const char*> rows[] = {
        {actions.stop_slots, "stop_slots"}, {actions.warn, "warn"},
        {actions.give_up, "give_up"},       {actions.tell, "tell"},
        {actions.complete, "complete"},     {actions.let_go, "let_go"},
    };
    for (const auto& [set, name] : rows) {
        if (set) {
            text.append(text.empty() ? "" : " ").append(name);
        }
    }
    return text;
}

StopMachine stopping(Duration length = 20s) {
    StopMachine stop;
    CHECK(words(stop.stop(Deadline::after(length, t0), t0)) == "stop_slots");
    return stop;
}

} // namespace

TEST_CASE("stop machine: R18: it has stopped once nothing is left") {
    StopMachine stop = stopping();
    CHECK(words(stop.changed({.sessions = true})).empty());
    CHECK(words(stop.changed({.accepts = true})).empty());
    CHECK(words(stop.changed({})) == "tell complete let_go");
    CHECK(stop.phase() == Phase::gone);
    CHECK(stop.next() == TimePoint::max());
}

TEST_CASE("stop machine: R18: handlers are warned before the deadline, a tenth of it or a second") {
    StopMachine stop = stopping(20s);
    CHECK(stop.next() == t0 + 19s);
    CHECK(words(stop.due(t0 + 19s - 1ns)).empty());
    CHECK(words(stop.due(t0 + 19s)) == "warn");
    CHECK(words(stop.due(t0 + 19s)).empty());
    CHECK(stop.next() == t0 + 20s);
    CHECK(stopping(5s).next() == t0 + 4500ms);
}

TEST_CASE("stop machine: R18: handlers are cancelled when the terms say so") {
    for (const Duration after : {0s, 7s, 20s}) {
        CAPTURE(after.count());
        StopMachine stop;
        CHECK(words(stop.stop({Deadline::at(t0 + 20s), t0 + after}, t0)) == "stop_slots");
        CHECK(stop.next() == t0 + after);
        CHECK(words(stop.due(t0 + after)) == (after == 20s ? "give_up tell" : "warn"));
    }
    StopMachine shortened = stopping(20s);
    CHECK(words(shortened.stop({Deadline::at(t0 + 10s), t0 + 1s}, t0 + 1s)).empty());
    CHECK(shortened.next() == t0 + 1s);
}

TEST_CASE("stop machine: R18: at the deadline it gives up, and lets go with the last handler") {
    StopMachine stop = stopping(20s);
    CHECK(words(stop.due(t0 + 20s)) == "give_up tell");
    CHECK(stop.next() == TimePoint::max());
    CHECK(words(stop.changed({.sessions = true})).empty());
    CHECK(words(stop.changed({.accepts = true})) == "let_go");
    CHECK(words(stop.changed({})).empty());
}

TEST_CASE("stop machine: R18: without a deadline it waits for as long as handlers take") {
    StopMachine stop;
    CHECK(stop.stop(Deadline::never(), t0).stop_slots);
    CHECK(stop.next() == TimePoint::max());
    CHECK(words(stop.due(t0 + 24h)).empty());
    CHECK(words(stop.stop(Deadline::after(10s, t0 + 24h), t0 + 24h)).empty());
    CHECK(stop.next() == t0 + 24h + 9s);
}

TEST_CASE("stop machine: R18: an earlier deadline counts, a later one does not") {
    StopMachine stop = stopping(20s);
    CHECK(words(stop.stop(Deadline::at(t0 + 60s), t0 + 1s)).empty());
    CHECK(stop.next() == t0 + 19s);
    CHECK(words(stop.stop(Deadline::at(t0 + 11s), t0 + 1s)).empty());
    CHECK(stop.next() == t0 + 10s);
    CHECK(words(stop.due(t0 + 10s)) == "warn");
    CHECK(words(stop.stop(Deadline::at(t0 + 10500ms), t0 + 10s)).empty());
    CHECK(words(stop.due(t0 + 10500ms)) == "give_up tell");
}

TEST_CASE("stop machine: every input in every phase") {
    const std::vector<std::function<StopMachine()>> reach{
        [] { return StopMachine{}; },
        [] { return stopping(); },
        [] {
            StopMachine stop = stopping();
            CHECK(stop.due(t0 + 19s).warn);
            return stop;
        },
        [] {
            StopMachine stop = stopping();
            CHECK(stop.due(t0 + 20s).tell);
            return stop;
        },
        [] {
            StopMachine stop = stopping();
            CHECK(stop.changed({}).let_go);
            return stop;
        },
    };
    const std::vector<std::pair<std::string, std::function<StopActions(StopMachine&)>>> inputs{
        {"stop", [](StopMachine& stop) { return stop.stop(Deadline::at(t0 + 30s), t0); }},
        {"stop sooner", [](StopMachine& stop) { return stop.stop(Deadline::at(t0 + 10s), t0); }},
        {"session left", [](StopMachine& stop) { return stop.changed({.sessions = true}); }},
        {"accept left", [](StopMachine& stop) { return stop.changed({.accepts = true}); }},
        {"nothing left", [](StopMachine& stop) { return stop.changed({}); }},
        {"warning due", [](StopMachine& stop) { return stop.due(t0 + 19s); }},
        {"deadline", [](StopMachine& stop) { return stop.due(t0 + 21s); }},
    };
    struct Cell {
        Phase phase;
        const char* actions;
    };
    const Cell expected[5][7] = {
        {{Phase::stopping, "stop_slots"},
         {Phase::stopping, "stop_slots"},
         {Phase::running, ""},
         {Phase::running, ""},
         {Phase::running, ""},
         {Phase::running, ""},
         {Phase::running, ""}},
        {{Phase::stopping, ""},
         {Phase::stopping, ""},
         {Phase::stopping, ""},
         {Phase::stopping, ""},
         {Phase::gone, "tell complete let_go"},
         {Phase::warned, "warn"},
         {Phase::told, "give_up tell"}},
        {{Phase::warned, ""},
         {Phase::warned, ""},
         {Phase::warned, ""},
         {Phase::warned, ""},
         {Phase::gone, "tell complete let_go"},
         {Phase::warned, ""},
         {Phase::told, "give_up tell"}},
        {{Phase::told, ""},
         {Phase::told, ""},
         {Phase::told, ""},
         {Phase::gone, "let_go"},
         {Phase::gone, "let_go"},
         {Phase::told, ""},
         {Phase::told, ""}},
        {{Phase::gone, ""},
         {Phase::gone, ""},
         {Phase::gone, ""},
         {Phase::gone, ""},
         {Phase::gone, ""},
         {Phase::gone, ""},
         {Phase::gone, ""}},
    };
    std::vector<std::string> names;
    for (const auto& [name, input] : inputs) {
        names.push_back(name);
    }
    test::PhaseTable table{
        "stop machine", {"running", "stopping", "warned", "told", "gone"}, std::move(names)};
    for (std::size_t phase = 0; phase < reach.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(phase);
            CAPTURE(inputs[input].first);
            StopMachine stop = reach[phase]();
            REQUIRE(static_cast<std::size_t>(stop.phase()) == phase);
            CHECK(words(inputs[input].second(stop)) == expected[phase][input].actions);
            CHECK(stop.phase() == expected[phase][input].phase);
            table.reached(phase, input);
        }
    }
    table.print();
    CHECK(table.missing().empty());
}

// SPDX-License-Identifier: MIT
#include "client/calls/pending_machine.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>

#include "support/phase_table.hpp"

using namespace sessionq;
using detail::client::PendingMachine;
using Phase = PendingMachine::Phase;

namespace {

constexpr std::array names{"open", "at_port", "given_up", "ended"};

PendingMachine in(Phase phase) {
    PendingMachine machine;
    if (phase == Phase::at_port || phase == Phase::given_up) {
        REQUIRE(machine.ask_port());
    }
    if (phase == Phase::given_up) {
        REQUIRE(machine.give_up(Errc::timeout) == PendingMachine::GiveUp::at_port);
    }
    if (phase == Phase::ended) {
        REQUIRE(machine.end());
    }
    REQUIRE(machine.phase() == phase);
    return machine;
}

std::string words(PendingMachine::GiveUp needed) {
    constexpr std::array texts{"nothing", "answer", "tell the port"};
    return texts.at(static_cast<std::size_t>(needed));
}

} // namespace

TEST_CASE("R15: pending machine: every input in every phase") {
    using Input = std::function<std::string(PendingMachine&)>;
    const std::array<std::pair<const char*, Input>, 3> inputs{{
        {"ask_port", [](PendingMachine& m) { return m.ask_port() ? "yes" : "no"; }},
        {"give_up", [](PendingMachine& m) { return words(m.give_up(Errc::cancelled)); }},
        {"end", [](PendingMachine& m) { return m.end() ? "yes" : "no"; }},
    }};
    struct Cell {
        const char* answer;
        Phase after;
    };
    // In the order of the inputs.
    const std::array<std::array<Cell, 3>, 4> expected{{
        {{{"yes", Phase::at_port}, {"answer", Phase::ended}, {"yes", Phase::ended}}},
        {{{"yes", Phase::at_port}, {"tell the port", Phase::given_up}, {"yes", Phase::ended}}},
        {{{"no", Phase::given_up}, {"nothing", Phase::given_up}, {"yes", Phase::ended}}},
        {{{"no", Phase::ended}, {"nothing", Phase::ended}, {"no", Phase::ended}}},
    }};
    test::PhaseTable table{"pending machine",
                           {names.begin(), names.end()},
                           {inputs[0].first, inputs[1].first, inputs[2].first}};
    for (std::size_t phase = 0; phase < names.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(names[phase]);
            CAPTURE(inputs[input].first);
            PendingMachine machine = in(static_cast<Phase>(phase));
            const Cell& cell = expected[phase][input];
            CHECK(inputs[input].second(machine) == cell.answer);
            CHECK(machine.phase() == cell.after);
            table.reached(phase, input);
        }
    }
    table.check();
}

TEST_CASE("pending machine: remembers why the port was told, and nothing later") {
    PendingMachine machine = in(Phase::at_port);
    CHECK_FALSE(machine.given_up_as());
    static_cast<void>(machine.give_up(Errc::timeout));
    static_cast<void>(machine.give_up(Errc::cancelled));
    CHECK(machine.end());
    CHECK(machine.given_up_as() == Errc::timeout);
}

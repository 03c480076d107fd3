// SPDX-License-Identifier: MIT
#include "client/receiving/receiver_machine.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::ReceiverActions;
using detail::client::ReceiverMachine;
using Phase = ReceiverMachine::Phase;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};
constexpr Duration bound = ReceiverMachine::close_timeout;
constexpr std::array names{"open", "draining", "detaching", "ended"};

std::string words(const ReceiverActions& actions) {
    std::string text;
    for (const auto& [set, name] :
         {std::pair{actions.refuse, "refuse"}, std::pair{actions.detach, "detach"},
          std::pair{actions.end, "end"}}) {
        if (set) {
            text.append(text.empty() ? "" : " ").append(name);
        }
    }
    return text;
}

ReceiverMachine in(Phase phase) {
    ReceiverMachine machine;
    if (phase == Phase::draining || phase == Phase::detaching) {
        static_cast<void>(machine.close(t0, phase == Phase::draining));
    } else if (phase == Phase::ended) {
        static_cast<void>(machine.lost());
    }
    REQUIRE(machine.phase() == phase);
    return machine;
}

} // namespace

TEST_CASE("receiver machine: every input in every phase") {
    using Input = std::function<ReceiverActions(ReceiverMachine&)>;
    const std::array<std::pair<const char*, Input>, 7> inputs{{
        {"close, draining", [](ReceiverMachine& m) { return m.close(t0, true); }},
        {"close", [](ReceiverMachine& m) { return m.close(t0, false); }},
        {"drained", [](ReceiverMachine& m) { return m.drained(); }},
        {"detached", [](ReceiverMachine& m) { return m.detached(); }},
        {"lost", [](ReceiverMachine& m) { return m.lost(); }},
        {"look early", [](ReceiverMachine& m) { return m.look(t0 + bound - 1ns); }},
        {"look late", [](ReceiverMachine& m) { return m.look(t0 + bound); }},
    }};
    struct Cell {
        const char* actions;
        Phase after;
    };
    constexpr auto open = Phase::open;
    constexpr auto draining = Phase::draining;
    constexpr auto detaching = Phase::detaching;
    constexpr auto ended = Phase::ended;
    // In the order of the inputs.
    const std::array<std::array<Cell, 7>, 4> expected{{
        {{{"refuse", draining},
          {"refuse detach", detaching},
          {"", open},
          {"", open},
          {"refuse end", ended},
          {"", open},
          {"", open}}},
        {{{"", draining},
          {"", draining},
          {"detach", detaching},
          {"", draining},
          {"end", ended},
          {"", draining},
          {"end", ended}}},
        {{{"", detaching},
          {"", detaching},
          {"", detaching},
          {"end", ended},
          {"end", ended},
          {"", detaching},
          {"end", ended}}},
        {{{"", ended},
          {"", ended},
          {"", ended},
          {"", ended},
          {"", ended},
          {"", ended},
          {"", ended}}},
    }};
    std::vector<std::string> input_names;
    for (const auto& [name, give] : inputs) {
        input_names.emplace_back(name);
    }
    test::PhaseTable table{"receiver", {names.begin(), names.end()}, input_names};
    for (std::size_t phase = 0; phase < names.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(names[phase]);
            CAPTURE(inputs[input].first);
            ReceiverMachine machine = in(static_cast<Phase>(phase));
            table.reached(phase, input);
            CHECK(words(inputs[input].second(machine)) == expected[phase][input].actions);
            CHECK(machine.phase() == expected[phase][input].after);
            const bool leaving =
                machine.phase() == Phase::draining || machine.phase() == Phase::detaching;
            CHECK(machine.next() == (leaving ? t0 + bound : TimePoint::max()));
        }
    }
    table.print();
    CHECK(table.missing().empty());
}

TEST_CASE("receiver machine: R3: drain and detach share one bound") {
    ReceiverMachine machine;
    CHECK(words(machine.close(t0, true)) == "refuse");
    CHECK(words(machine.drained()) == "detach");
    CHECK(machine.next() == t0 + bound);
    CHECK(words(machine.look(t0 + bound)) == "end");
    CHECK(words(machine.detached()).empty()); // the answer came too late
}

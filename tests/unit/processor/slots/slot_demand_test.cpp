// SPDX-License-Identifier: MIT
#include "processor/slots/slot_demand.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/phase_table.hpp"

using namespace sessionq;
using detail::processor::SlotDemand;

namespace {

std::string demand_words(const SlotDemand& demand, std::size_t slot) {
    const auto reason = demand.unwanted(slot);
    return std::string{reason ? to_string(*reason) : "wanted"};
}

} // namespace

TEST_CASE("slot demand: none is wanted before a limit is set, then those within it") {
    SlotDemand demand;
    CHECK(demand_words(demand, 0) == "limit_lowered");
    demand.limit(2);
    CHECK(demand_words(demand, 1) == "wanted");
    CHECK(demand_words(demand, 2) == "limit_lowered");
    demand.limit(1);
    CHECK(demand_words(demand, 1) == "limit_lowered");
}

TEST_CASE("slot demand: a limit that is set during a pause counts after it") {
    SlotDemand demand;
    demand.limit(1);
    demand.pause();
    demand.limit(2);
    CHECK(demand.slots() == 2);
    CHECK(demand_words(demand, 0) == "paused");
    CHECK(demand_words(demand, 1) == "paused");
    demand.resume();
    CHECK(demand_words(demand, 1) == "wanted");
}

TEST_CASE("slot demand: every input in every phase") {
    using Input = void (*)(SlotDemand&);
    constexpr Input start = [](SlotDemand& demand) { demand.limit(1); };
    constexpr Input pause = [](SlotDemand& demand) { demand.pause(); };
    constexpr Input resume = [](SlotDemand& demand) { demand.resume(); };
    constexpr Input stop = [](SlotDemand& demand) { demand.stop(); };
    const std::vector<std::pair<std::string, Input>> inputs{
        {"limit", start}, {"pause", pause}, {"resume", resume}, {"stop", stop}};
    const std::vector<std::pair<std::string, std::vector<Input>>> phases{
        {"running", {start}}, {"paused", {start, pause}}, {"stopped", {start, pause, stop}}};
    // of a slot within the limit, and of one beyond it
    const char* const expected[3][4] = {
        {"wanted limit_lowered", "paused paused", "wanted limit_lowered", "stopped stopped"},
        {"paused paused", "paused paused", "wanted limit_lowered", "stopped stopped"},
        {"stopped stopped", "stopped stopped", "stopped stopped", "stopped stopped"}};
    test::PhaseTable table{
        "slot demand", {"running", "paused", "stopped"}, {"limit", "pause", "resume", "stop"}};
    for (std::size_t phase = 0; phase < phases.size(); ++phase) {
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            CAPTURE(phases[phase].first);
            CAPTURE(inputs[input].first);
            SlotDemand demand;
            for (const Input each : phases[phase].second) {
                each(demand);
            }
            inputs[input].second(demand);
            CHECK(demand_words(demand, 0) + " " + demand_words(demand, 1) ==
                  expected[phase][input]);
            table.reached(phase, input);
        }
    }
    table.check();
}

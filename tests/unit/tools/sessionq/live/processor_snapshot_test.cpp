// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <string>

#include "tools/sessionq/live/bounded_json.hpp"
#include "tools/sessionq/live/processor_snapshot.hpp"

using namespace sessionq::cli;

TEST_CASE("processor snapshot: every member") {
    const ProcessorSnapshot found = parse_processor_snapshot(R"({
        "version": 1, "time": "2026-11-26T05:42:00.123Z",
        "processor": {
            "state": "running", "entities": ["orders", "invoices"], "buffered_bytes": 7,
            "health": {"state": "degraded", "reasons": [{"cause": "broker_silent", "entity": "e",
                "session_id": "s", "detail": "d", "count": 2, "since": 12.5, "advice": "a"}]},
            "counters": {"messages_received": 18446744073709551615, "longest_ready_wait": 0.5},
            "slots": [{"entity": "e", "session_id": "s", "state": "open", "waits_for": "w",
                "since": 1.5, "window": 32, "in_flight": 3, "running": 1, "ready_for": 0.25}],
            "parked": [{"state": "parked"}], "settling": [{}, {}]},
        "metrics": [
            {"name": "c", "kind": "counter", "points": [{"attributes": {}, "value": 1}]},
            {"name": "h", "kind": "histogram", "points": [{"attributes": {"k": "v"}, "count": 5,
                "sum": 2, "min": 0.1, "max": 0.9, "p50": 0.5, "p90": 0.8, "p99": 0.85,
                "buckets": [{"upper": 0.5, "count": 3}, {"upper": 1, "count": 2}]}]}]})");
    CHECK(found.time == "2026-11-26T05:42:00.123Z");
    CHECK(found.state == "running");
    CHECK(found.entities == std::vector<std::string>{"orders", "invoices"});
    CHECK(found.buffered_bytes == 7);
    CHECK(found.health == "degraded");
    REQUIRE(found.reasons.size() == 1);
    CHECK(found.reasons[0].cause == "broker_silent");
    CHECK(found.reasons[0].advice == "a");
    CHECK(found.reasons[0].count == 2);
    CHECK(found.reasons[0].since == 12.5);
    REQUIRE(found.counters.size() == 2);
    CHECK(found.counters[0].first == "messages_received"); // the document's order
    CHECK(found.counters[1].second == 0.5);
    CHECK(found.has_slots);
    REQUIRE(found.slots.size() == 1);
    CHECK(found.slots[0].waits_for == "w");
    CHECK(found.slots[0].window == 32);
    CHECK(found.slots[0].in_flight == 3);
    CHECK(found.slots[0].running == 1);
    CHECK(found.slots[0].since == 1.5);
    CHECK(found.slots[0].ready_for == 0.25);
    CHECK(found.parked.size() == 1);
    CHECK(found.settling.size() == 2);
    REQUIRE(found.histograms.size() == 1);
    CHECK(found.histograms[0].name == "h");
    CHECK(found.histograms[0].attributes.at(0).second == "v");
    CHECK(found.histograms[0].count == 5);
    CHECK(found.histograms[0].min == 0.1);
    CHECK(found.histograms[0].p99 == 0.85);
    REQUIRE(found.histograms[0].buckets.size() == 2);
    CHECK(found.histograms[0].buckets[1].upper == 1);
    CHECK(found.histograms[0].buckets[1].count == 2);
}

TEST_CASE("processor snapshot: what is missing or of another type is empty") {
    CHECK_FALSE(parse_processor_snapshot(R"({"processor": {}})").has_slots);
    const ProcessorSnapshot found = parse_processor_snapshot(
        R"({"time": 5, "processor": {"state": [], "entities": [1, {}, "e"], "counters": {"a": "x"},
            "health": [], "buffered_bytes": -3, "slots": [1, {"since": "x", "window": -1,
            "in_flight": 2.5}], "parked": {}}, "metrics": {"name": 1}})");
    CHECK(found.time.empty());
    CHECK(found.state.empty());
    CHECK(found.entities == std::vector<std::string>{"e"});
    CHECK(found.counters.empty());
    CHECK(found.buffered_bytes == 0);
    REQUIRE(found.slots.size() == 1);
    CHECK(found.slots[0].since == 0);
    CHECK(found.slots[0].window == 0);
    CHECK(found.slots[0].in_flight == 2);
    CHECK(found.histograms.empty());
}

TEST_CASE("processor snapshot: what is no description is refused") {
    for (const char* wrong : {"", "{", "[]", "7", "{}", R"({"processor": []})", "\x1b[2J"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS((void)parse_processor_snapshot(wrong), SnapshotError);
    }
    CHECK_THROWS_AS((void)parse_processor_snapshot(R"({"version": 2, "processor": {}})"),
                    SnapshotError);
}

TEST_CASE("bounded JSON: depth is bounded") {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    CHECK(parse_bounded_json(nested(30)));
    CHECK_FALSE(parse_bounded_json(nested(40)));
    CHECK_FALSE(parse_bounded_json(nested(1'000'000)));
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tools/sessionq/live/processor_report.hpp"
#include "tools/sessionq/live/report_text.hpp"

using namespace sessionq::cli;

namespace {

ProcessorSnapshot one_processor() {
    ProcessorSnapshot snapshot{
        .time = "2026-11-26T05:42:00Z",
        .state = "running",
        .entities = {"orders"},
        .health = "healthy",
        .buffered_bytes = 2048,
        .counters = {{"messages_received", 100.0}, {"longest_ready_wait", 1.5}},
        .has_slots = true};
    snapshot.slots = {{.entity = "orders",
                       .session_id = "ada",
                       .state = "open",
                       .waits_for = "a worker",
                       .window = 32,
                       .in_flight = 7,
                       .running = 2,
                       .ready_for = 12.5},
                      {.entity = "orders", .state = "accepting", .waits_for = "a session"}};
    snapshot.parked = {{.entity = "orders", .session_id = "ben", .state = "open", .in_flight = 1}};
    snapshot.settling = {{.entity = "orders", .session_id = "cid", .state = "leaving"}};
    return snapshot;
}

HistogramSnapshot one_histogram() {
    return {.name = "messaging.process.duration",
            .attributes = {{"messaging.system", "servicebus"},
                           {"messaging.destination.name", "orders"},
                           {"messaging.operation.name", "process"},
                           {"error.type", "handler_failed"}},
            .count = 10,
            .min = 0.001,
            .max = 3,
            .p50 = 0.5,
            .p90 = 2,
            .p99 = 3,
            .buckets = {{0.5, 4}, {0.75, 1}, {1.0, 2}, {3.0, 3}}};
}

std::string report_text(const ProcessorSnapshot& now, const ProcessorSnapshot* before = nullptr,
                        double seconds = 0) {
    return text_of(report_of({.now = now, .before = before, .seconds = seconds}, "/run/o.sock"));
}

bool has(const std::string& text, const std::string& wanted) {
    CAPTURE(text);
    return text.find(wanted) != std::string::npos;
}

} // namespace

TEST_CASE("processor report: the title and the overview") {
    const std::string text = report_text(one_processor());
    CHECK(text.starts_with("orders  running  healthy  05:42:00 UTC  /run/o.sock\n"));
    CHECK(has(text, "2 slots: 1 accepting, 1 open; 1 session parked, 1 settling"));
    CHECK(has(text, "8 messages in flight, 2 running, window 32; 2.0 KiB buffered; 1 session "
                    "ready, one for 12.5s"));
    CHECK(has(text, "longest_ready_wait   1.5s"));
    CHECK_FALSE(has(text, "a second:")); // there is no look before
}

TEST_CASE("processor report: many entities are counted") {
    ProcessorSnapshot snapshot = one_processor();
    snapshot.entities = {"a", "b", "c", "d", "e"};
    CHECK(report_text(snapshot).starts_with("a, b, c and 2 more  running"));
}

TEST_CASE("processor report: rates are differences of counters") {
    const ProcessorSnapshot before = one_processor();
    ProcessorSnapshot now = before;
    now.counters[0].second = 350;
    now.counters[1].second = 9;
    const std::string text = report_text(now, &before, 2);
    CHECK(has(text, "a second: received 125, handled 0"));
    CHECK(has(text, "messages_received     350    125"));
    CHECK(has(text, "longest_ready_wait     9s      -")); // a length has no rate
    now.counters[0].second = 5;                           // it was started again
    CHECK(has(report_text(now, &before, 2), "a second: received -,"));
}

TEST_CASE("processor report: reasons with advice") {
    ProcessorSnapshot snapshot = one_processor();
    snapshot.health = "failed";
    snapshot.reasons = {{.cause = "accept_refused",
                         .entity = "orders",
                         .detail = "no such queue",
                         .advice = "Check the name.",
                         .count = 1,
                         .since = 90},
                        {.cause = "handler_slow", .session_id = "a\x1b", .count = 3}};
    const std::string text = report_text(snapshot);
    CHECK(has(text, "accept_refused at 'orders' for 1m30s: no such queue\n  Check the name.\n"));
    CHECK(has(text, "handler_slow (3), session 'a?' for 0"));
    CHECK(style_of_health("failed") == Style::bad);
    CHECK(style_of_health("degraded") == Style::warning);
    CHECK(style_of_health("healthy") == Style::good);
}

TEST_CASE("processor report: slots, and sessions without one") {
    const Page page = slots_page(one_processor());
    REQUIRE(page.table.rows.size() == 4);
    CHECK(page.table.columns.size() == 8); // one entity needs no column
    CHECK(page.table.rows[0][0].text.text() == "ada");
    CHECK(page.table.rows[0][6].style == Style::bad); // it has waited for long
    CHECK(page.table.rows[1][0].text.text() == "-");
    CHECK(page.table.rows[2][1].text.text() == "parked");
    CHECK(page.table.rows[3][1].text.text() == "settling");
    ProcessorSnapshot two = one_processor();
    two.entities.push_back("invoices");
    CHECK(slots_page(two).table.columns.size() == 9);
    CHECK(slots_page(two).table.rows[0][1].text.text() == "orders");
}

TEST_CASE("processor report: slots that were not told") {
    ProcessorSnapshot snapshot = one_processor();
    snapshot.has_slots = false;
    snapshot.slots.clear();
    CHECK(has(report_text(snapshot), "slots: not told"));
}

TEST_CASE("processor report: histograms have names for people and rates") {
    ProcessorSnapshot before = one_processor();
    HistogramSnapshot unknown{.name = "new.measure", .attributes = {{"k", "v"}}};
    before.histograms = {unknown, one_histogram()};
    ProcessorSnapshot now = before;
    now.histograms[1].count = 30;
    const Page page = histograms_page({.now = now, .before = &before, .seconds = 2});
    REQUIRE(page.table.rows.size() == 2);
    CHECK(page.table.rows[0][0].text.text() == "handler time, handler_failed");
    CHECK(page.table.rows[0][1].text.text() == "30");
    CHECK(page.table.rows[0][2].text.text() == "10");
    CHECK(page.table.rows[0][4].text.text() == "500ms");
    CHECK(page.table.rows[1][0].text.text() == "new.measure, v");
    CHECK(page.table.rows[1][3].text.text() == "-"); // it counted nothing
    CHECK(page.bars.size() == 1);
}

TEST_CASE("processor report: buckets are joined to bars of powers of two") {
    ProcessorSnapshot snapshot = one_processor();
    snapshot.histograms = {one_histogram()};
    const auto bars = histograms_page({.now = snapshot}).bars.at(0).bars;
    REQUIRE(bars.size() == 4);
    CHECK(bars[0].label.text() == "<= 500ms");
    CHECK(bars[0].count == 4);
    CHECK(bars[1].label.text() == "<= 1s");
    CHECK(bars[1].count == 3);
    CHECK(bars[2].count == 0); // up to 2 s
    CHECK(bars[3].label.text() == "<= 4s");
    CHECK(bars[3].count == 3);
}

TEST_CASE("processor report: a wide histogram has few bars and loses no count") {
    ProcessorSnapshot snapshot = one_processor();
    HistogramSnapshot wide{.name = "w", .count = 40};
    for (double upper = 1e-9; wide.buckets.size() < 40; upper *= 2) {
        wide.buckets.push_back({upper, 1});
    }
    snapshot.histograms = {wide};
    const auto bars = histograms_page({.now = snapshot}).bars.at(0).bars;
    CHECK(bars.size() <= 12);
    CHECK(bars[0].count == 4); // 1, 2, 4 and 8 ns
    CHECK(bars[0].label.text() == "<= 14.9ns");
    std::uint64_t sum = 0;
    for (const auto& bar : bars) {
        sum += bar.count;
    }
    CHECK(sum == 40);
}

TEST_CASE("processor report: an empty description can be shown") {
    CHECK(has(report_text({}), "slots: not told"));
}

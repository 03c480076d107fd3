// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <map>

#include "tools/sessionq/live/processor_report.hpp"
#include "tools/sessionq/live/quantities.hpp"

namespace sessionq::cli {
namespace {

constexpr const char* longest_wait_counter = "longest_ready_wait"; // the only length among them

/// Sums over all sessions that are held.
struct HeldSums {
    std::uint64_t in_flight{0};
    std::uint64_t running{0};
    std::uint64_t window{0};
    std::uint64_t ready{0};
    double ready_for{0};
};

HeldSums sums_of(const ProcessorSnapshot& snapshot) {
    HeldSums sums;
    for (const auto* list : {&snapshot.slots, &snapshot.parked, &snapshot.settling}) {
        for (const SlotSnapshot& slot : *list) {
            sums.in_flight += slot.in_flight;
            sums.running += slot.running;
            sums.window += slot.window;
            sums.ready += slot.ready_for > 0 ? 1 : 0;
            sums.ready_for = std::max(sums.ready_for, slot.ready_for);
        }
    }
    return sums;
}

std::string slots_line(const ProcessorSnapshot& snapshot) {
    if (!snapshot.has_slots) {
        return "slots: not told; a receive thread did not answer, or there is none";
    }
    std::map<std::string, std::size_t> states;
    for (const SlotSnapshot& slot : snapshot.slots) {
        ++states[slot.state];
    }
    std::string line = counted(snapshot.slots.size(), "slot");
    const char* before = ": ";
    for (const auto& [state, count] : states) {
        line += before + count_text(count) + " " + state;
        before = ", ";
    }
    return line + "; " + counted(snapshot.parked.size(), "session") + " parked, " +
           count_text(snapshot.settling.size()) + " settling";
}

std::string messages_line(const ProcessorSnapshot& snapshot) {
    const HeldSums sums = sums_of(snapshot);
    std::string line = counted(sums.in_flight, "message") + " in flight, " +
                       count_text(sums.running) + " running, window " + count_text(sums.window) +
                       "; " + bytes_text(snapshot.buffered_bytes) + " buffered; " +
                       counted(sums.ready, "session") + " ready";
    return sums.ready == 0 ? line : line + ", one for " + length_text(sums.ready_for);
}

std::optional<double> counter_rate(const ProcessorChange& change, const std::string& name) {
    return change.before != nullptr && name != longest_wait_counter
               ? rate_of(counter(*change.before, name), counter(change.now, name), change.seconds)
               : std::nullopt;
}

std::string rates_line(const ProcessorChange& change) {
    std::string line = "a second:";
    for (const auto& [name, title] : {std::pair{"messages_received", "received"},
                                      {"messages_handled", "handled"},
                                      {"messages_failed", "failed"},
                                      {"messages_completed", "completed"},
                                      {"sessions_closed", "rolls"}}) {
        line += std::string{" "} + title + " " + rate_text(counter_rate(change, name)) + ",";
    }
    line.pop_back();
    return line;
}

void add_reason(std::vector<StyledLine>& lines, const ReasonSnapshot& reason, Style style) {
    std::string where = reason.entity.empty() ? "" : " at '" + reason.entity + "'";
    if (!reason.session_id.empty()) {
        where += ", session '" + reason.session_id + "'";
    }
    const std::string several = reason.count > 1 ? " (" + count_text(reason.count) + ")" : "";
    lines.push_back({{reason.cause, style},
                     {several + where + " for " + length_text(reason.since) + ": " + reason.detail,
                      Style::plain}});
    if (!reason.advice.empty()) {
        lines.push_back({{"  " + reason.advice, Style::dim}});
    }
}

Table counters_table(const ProcessorChange& change) {
    Table table{.columns = {{.title = "counter"},
                            {.title = "total", .is_number = true},
                            {.title = "per s", .is_number = true}}};
    for (const auto& [name, value] : change.now.counters) {
        constexpr double longest_count = 1.8e19;
        const bool is_length = name == longest_wait_counter;
        const auto rate = counter_rate(change, name);
        const bool is_count = value >= 0 && value < longest_count;
        table.rows.push_back({{.text = name},
                              {.text = is_length  ? length_text(value)
                                       : is_count ? count_text(static_cast<std::uint64_t>(value))
                                                  : "?",
                               .order = value},
                              {.text = rate_text(rate),
                               .order = rate.value_or(-1),
                               .style = rate.value_or(0) > 0 ? Style::strong : Style::dim}});
    }
    return table;
}

} // namespace

Page overview_page(const ProcessorChange& change) {
    Page page{.name = "Overview"};
    const Style style = style_of_health(change.now.health);
    if (!change.now.health.empty()) {
        page.head.push_back({{"health: ", Style::plain}, {change.now.health, style}});
    }
    for (const ReasonSnapshot& reason : change.now.reasons) {
        add_reason(page.head, reason, style);
    }
    page.head.push_back({{slots_line(change.now), Style::plain}});
    page.head.push_back({{messages_line(change.now), Style::plain}});
    if (change.before != nullptr) {
        page.head.push_back({{rates_line(change), Style::plain}});
    }
    page.table = counters_table(change);
    return page;
}

} // namespace sessionq::cli

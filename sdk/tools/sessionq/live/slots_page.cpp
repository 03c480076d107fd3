// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/processor_report.hpp"
#include "tools/sessionq/live/quantities.hpp"

namespace sessionq::cli {
namespace {

constexpr double waits_long = 5; // seconds that a session waits for a worker before it stands out

Cell number_cell(std::uint64_t count) {
    return {.text = count_text(count),
            .order = static_cast<double>(count),
            .style = count == 0 ? Style::dim : Style::plain};
}

Cell length_cell(double seconds) {
    return {.text = length_text(seconds),
            .order = seconds,
            .style = seconds > 0 ? Style::plain : Style::dim};
}

Style style_of_slot(const std::string& state) {
    if (state == "open") {
        return Style::good;
    }
    return state == "backing_off" || state == "parked" ? Style::warning : Style::plain;
}

std::vector<Cell> slot_row(const SlotSnapshot& slot, const std::string& state, bool with_entity) {
    std::vector<Cell> row{{.text = slot.session_id.empty() ? "-" : slot.session_id,
                           .style = slot.session_id.empty() ? Style::dim : Style::strong}};
    if (with_entity) {
        row.push_back({.text = slot.entity.empty() ? "-" : slot.entity});
    }
    Cell ready = length_cell(slot.ready_for);
    ready.style = slot.ready_for >= waits_long ? Style::bad : ready.style;
    row.insert(row.end(), {{.text = state, .style = style_of_slot(state)},
                           number_cell(slot.in_flight),
                           number_cell(slot.running),
                           number_cell(slot.window),
                           length_cell(slot.since),
                           ready,
                           {.text = slot.waits_for}});
    return row;
}

} // namespace

Page slots_page(const ProcessorSnapshot& snapshot) {
    constexpr std::size_t least_id = 12;
    constexpr std::size_t least_entity = 8;
    constexpr std::size_t least_words = 16;
    const bool with_entity = snapshot.entities.size() != 1;
    Page page{.name = "Slots"};
    page.table.columns = {{.title = "session", .least = least_id}};
    if (with_entity) {
        page.table.columns.push_back({.title = "entity", .least = least_entity});
    }
    page.table.columns.insert(page.table.columns.end(),
                              {{.title = "state"},
                               {.title = "fly", .is_number = true},
                               {.title = "run", .is_number = true},
                               {.title = "win", .is_number = true},
                               {.title = "since", .is_number = true},
                               {.title = "ready", .is_number = true},
                               {.title = "waits for", .least = least_words}});
    if (!snapshot.has_slots) {
        page.head.push_back({{"slots: not told", Style::warning}});
    }
    for (const SlotSnapshot& slot : snapshot.slots) {
        page.table.rows.push_back(slot_row(slot, slot.state, with_entity));
    }
    for (const SlotSnapshot& slot : snapshot.parked) {
        page.table.rows.push_back(slot_row(slot, "parked", with_entity));
    }
    for (const SlotSnapshot& slot : snapshot.settling) {
        page.table.rows.push_back(slot_row(slot, "settling", with_entity));
    }
    return page;
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include <sessionq/processor_report.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "core/peer_words.hpp"

namespace sessionq::inline v1 {
namespace {

using Row = std::vector<std::string>;

std::string seconds_text(Duration length) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f s",
                  std::chrono::duration<double>{length}.count());
    return text.data();
}

Row row_of(std::string name, const SlotDescription& slot) {
    return {std::move(name),
            slot.state,
            slot.session_id.empty() ? "-" : "'" + core::peer_words(slot.session_id) + "'",
            core::peer_words(slot.entity),
            std::to_string(slot.in_flight),
            std::to_string(slot.running),
            std::to_string(slot.window),
            seconds_text(slot.since),
            slot.waits_for.empty() ? "nothing" : slot.waits_for};
}

/// Columns as wide as their longest cell, with two spaces between them.
void write_table(std::ostream& text, const std::vector<Row>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    for (const Row& row : rows) {
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            text << row[i] << std::string(widths[i] - row[i].size() + 2, ' ');
        }
        text << row.back() << '\n';
    }
}

} // namespace

std::string ProcessorDescription::to_string() const {
    std::ostringstream text;
    text << sessionq::to_string(state) << ", " << buffered_bytes << " bytes buffered, "
         << health.to_string();
    text << "messages: " << counters.messages_handled << " handled, " << counters.messages_failed
         << " failed, " << counters.messages_completed << " completed, "
         << counters.messages_dead_lettered << " dead-lettered, " << counters.messages_abandoned
         << " abandoned, " << counters.messages_released << " released, "
         << counters.messages_expired << " expired, " << counters.messages_lost << " lost\n";
    text << "sessions: " << counters.sessions_opened << " opened, " << counters.sessions_closed
         << " closed, " << counters.sessions_parked << " parked, " << counters.locks_lost
         << " locks lost, " << counters.empty_accepts << " empty accepts, "
         << counters.accept_failures << " failed accepts\n";
    if (executor) {
        text << "executor: " << executor->running << " works run, " << executor->waiting
             << " wait\n";
    }
    if (session_hold != Duration::zero()) {
        text << "turns: a session keeps its slot for at most " << seconds_text(session_hold);
        if (ready_bound != Duration::zero()) {
            text << ", one that is ready gets a slot within " << seconds_text(ready_bound);
        }
        text << '\n';
    }
    std::vector<Row> rows{{"slot", "state", "session", "entity", "in flight", "running", "window",
                           "since", "waits for"}};
    for (std::size_t i = 0; i < slots.size(); ++i) {
        rows.push_back(row_of(std::to_string(i), slots[i]));
    }
    for (const auto* without : {&parked, &settling}) {
        for (const SlotDescription& session : *without) {
            rows.push_back(row_of("-", session));
        }
    }
    if (rows.size() > 1) {
        write_table(text, rows);
    }
    return text.str();
}

} // namespace sessionq::inline v1

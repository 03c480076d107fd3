// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/processor_report.hpp"

namespace sessionq::cli {
namespace {

std::string joined_entities(const ProcessorSnapshot& snapshot) {
    constexpr std::size_t shown_at_most = 3;
    std::string names;
    for (const std::string& entity : snapshot.entities) {
        if (&entity - snapshot.entities.data() == shown_at_most) {
            return names + " and " + std::to_string(snapshot.entities.size() - shown_at_most) +
                   " more";
        }
        names += (names.empty() ? "" : ", ") + entity;
    }
    return names;
}

/// "05:42:00" of a time of RFC 3339 in UTC: the day is known.
std::string time_of_day(const std::string& time) {
    constexpr std::size_t at = 11;
    constexpr std::size_t size = 8;
    return time.size() > at + size && time[at - 1] == 'T' ? time.substr(at, size) + " UTC" : time;
}

} // namespace

Style style_of_health(const std::string& state) {
    return state == "healthy" ? Style::good : state == "degraded" ? Style::warning : Style::bad;
}

LiveReport report_of(const ProcessorChange& change, const std::string& target) {
    const ProcessorSnapshot& now = change.now;
    LiveReport report;
    report.title = {{joined_entities(now), Style::strong}};
    if (!now.state.empty()) {
        report.title.push_back({"  " + now.state, Style::plain});
    }
    if (!now.health.empty()) {
        report.title.push_back({"  " + now.health, style_of_health(now.health)});
    }
    report.title.push_back({"  " + time_of_day(now.time) + "  " + target, Style::dim});
    report.pages = {overview_page(change), slots_page(now), histograms_page(change)};
    if (!change.recent.empty()) {
        report.pages.push_back(recent_page(change.recent, change.recent_seconds));
    }
    return report;
}

} // namespace sessionq::cli

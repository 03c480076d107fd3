// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

namespace replay {

namespace {

double seconds(std::chrono::nanoseconds length) {
    return std::chrono::duration<double>{length}.count();
}
double milliseconds(std::chrono::nanoseconds length) {
    return std::chrono::duration<double, std::milli>{length}.count();
}

} // namespace

double Report::messages_per_second() const noexcept {
    return elapsed.count() > 0 ? static_cast<double>(figures.sent - figures.lost) / seconds(elapsed)
                               : 0.0;
}

void write_text(std::ostream& out, const Report& report) {
    const Tally::Figures& figures = report.figures;
    out << std::fixed << std::setprecision(1);
    out << figures.sent << " messages in " << figures.sessions << " sessions, " << report.rolls
        << " rolls\n";
    out << figures.out_of_order << " out of order, " << figures.lost << " lost, "
        << figures.duplicated << " duplicated\n";
    out << "longest wait of a ready session: " << milliseconds(report.longest_wait) << " ms\n";
    out << seconds(report.elapsed) << " s, " << report.messages_per_second() << " messages/s\n";
}

void write_json(std::ostream& out, const Report& report) {
    const Tally::Figures& figures = report.figures;
    const nlohmann::ordered_json line{
        {"messages", figures.sent},
        {"sessions", figures.sessions},
        {"rolls", report.rolls},
        {"out_of_order", figures.out_of_order},
        {"lost", figures.lost},
        {"duplicated", figures.duplicated},
        {"longest_wait_ms", milliseconds(report.longest_wait)},
        {"seconds", seconds(report.elapsed)},
        {"messages_per_second", report.messages_per_second()},
    };
    out << line.dump() << '\n';
}

void write_outcomes(std::ostream& out, const std::vector<Tally::SessionOutcome>& outcomes,
                    std::size_t rows) {
    const auto shown_end =
        outcomes.begin() + static_cast<std::ptrdiff_t>(std::min(rows, outcomes.size()));
    std::size_t width = 7;
    std::for_each(outcomes.begin(), shown_end, [&width](const auto& session) {
        width = std::max(width, session.session_id.size());
    });

    const auto column = static_cast<int>(width);
    out << std::left << std::setw(column) << "session"
        << "  messages  last\n";
    std::for_each(outcomes.begin(), shown_end, [&out, column](const auto& session) {
        out << std::left << std::setw(column) << session.session_id << "  " << std::right
            << std::setw(8) << session.messages << "  " << session.last << '\n';
    });
    if (shown_end != outcomes.end()) {
        out << "... and " << outcomes.end() - shown_end << " more\n";
    }

    std::map<std::string, std::uint64_t> ends;
    for (const auto& session : outcomes) {
        ++ends[session.last];
    }
    std::vector<std::pair<std::string, std::uint64_t>> by_count{ends.begin(), ends.end()};
    std::stable_sort(by_count.begin(), by_count.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    out << "sessions by last:";
    constexpr std::size_t most = 8;
    for (std::size_t i = 0; i < std::min(most, by_count.size()); ++i) {
        out << (i == 0 ? " " : ", ") << by_count[i].second << " " << by_count[i].first;
    }
    out << (by_count.size() > most ? ", ...\n" : "\n");
}

} // namespace replay

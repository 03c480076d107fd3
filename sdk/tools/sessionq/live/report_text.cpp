// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/report_text.hpp"

#include "tools/sessionq/live/layout.hpp"

namespace sessionq::cli {

std::string text_of(const LiveReport& report) {
    constexpr std::size_t width_of_bars = 80;
    std::string text = text_of(report.title) + "\n";
    const auto add = [&text](const std::vector<StyledLine>& lines) {
        for (const StyledLine& line : lines) {
            text += text_of(line) + "\n";
        }
    };
    for (const Page& page : report.pages) {
        text += "\n" + page.name.text() + "\n";
        add(page.head);
        if (!page.table.rows.empty()) {
            add(table_lines(page.table, rows_of(page.table, {}, {}), 0));
        }
        for (const Bars& bars : page.bars) {
            text += "\n";
            add(bar_lines(bars, width_of_bars));
        }
    }
    return text;
}

} // namespace sessionq::cli

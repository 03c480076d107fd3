// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "tools/sessionq/live/quantities.hpp"
#include "tools/sessionq/live/screen_model.hpp"

namespace sessionq::cli {
namespace {

constexpr std::array help_lines{
    "Keys",
    "  tab, shift-tab       the next page, the one before",
    "  s                    sort by the next column; behind the last one: unsorted",
    "  r                    reverse the order",
    "  f or /               show only rows that contain a text; escape ends it",
    "  p or space           pause: the screen stays as it is, looking goes on",
    "  arrows, page up and down, home, end   scroll",
    "  h or ?               this help; any key leaves it",
    "  q                    quit",
};

std::vector<StyledLine> help() {
    std::vector<StyledLine> lines;
    for (const char* line : help_lines) {
        lines.push_back({{line, lines.empty() ? Style::strong : Style::plain}});
    }
    return lines;
}

template <typename Item>
void append(std::vector<Item>& lines, std::vector<Item> more) {
    lines.insert(lines.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
}

std::vector<StyledLine> dimmed(std::vector<StyledLine> lines) {
    for (StyledLine& line : lines) {
        for (Span& span : line) {
            span.style = Style::dim;
        }
    }
    return lines;
}

double seconds_between(TimePoint from, TimePoint to) {
    return std::chrono::duration<double>(std::max(to - from, Duration::zero())).count();
}

} // namespace

std::vector<StyledLine> ScreenModel::draw(ScreenSize size, TimePoint now) {
    std::vector<StyledLine> lines{title(now), tabs()};
    if (fault_) {
        const double since = std::floor(seconds_between(fault_->since, now));
        const StyledLine fault{
            {"no answer for " + length_text(since) + ": " + fault_->why, Style::bad}};
        append(lines, wrapped(fault, size.columns));
    }
    const std::size_t others = lines.size() + 1; // and the keys
    body_rows_ = size.rows > others ? size.rows - others : 0;
    if (mode_ == Mode::helping) {
        append(lines, help());
    } else {
        auto page = visible(body(size.columns), body_rows_);
        append(lines, is_stale(now) ? dimmed(std::move(page)) : std::move(page));
    }
    lines.resize(std::max(size.rows, std::size_t{1}) - 1);
    lines.push_back(bottom());
    lines.resize(size.rows);
    for (StyledLine& line : lines) {
        line = cut(line, size.columns);
    }
    return lines;
}

// A subject that hangs gives no failure for a while: its numbers are old before the reason is
// known.
bool ScreenModel::is_stale(TimePoint now) const {
    return shown_ && (fault_ || now - shown_->at > fresh_for_);
}

StyledLine ScreenModel::title(TimePoint now) const {
    if (!shown_) {
        return {{"looking at " + target_, Style::dim}};
    }
    if (!is_stale(now)) {
        return shown_->report.title;
    }
    StyledLine line{
        {"as of " + length_text(std::floor(seconds_between(shown_->at, now))) + " ago  ",
         Style::warning}};
    append(line, dimmed({shown_->report.title}).front());
    return line;
}

StyledLine ScreenModel::tabs() const {
    StyledLine line;
    for (std::size_t at = 0; shown_ && at < shown_->report.pages.size(); ++at) {
        line.push_back({" " + shown_->report.pages[at].name.text() + " ",
                        at == page_ ? Style::title : Style::plain});
        line.push_back({" ", Style::plain});
    }
    if (is_paused_) {
        line.push_back({" PAUSED", Style::warning});
    }
    if (const Page* shown = page()) {
        const Sorting& sorting = views_[page_].sorting;
        if (sorting.column && *sorting.column < shown->table.columns.size()) {
            const Column& column = shown->table.columns[*sorting.column];
            const bool downwards = column.is_number != sorting.is_reversed;
            line.push_back(
                {"  by " + column.title.text() + (downwards ? " (down)" : " (up)"), Style::dim});
        }
    }
    if (!filter_.empty() && mode_ != Mode::filtering) {
        line.push_back({"  with '" + filter_ + "'", Style::warning});
    }
    return line;
}

StyledLine ScreenModel::bottom() {
    if (mode_ == Mode::filtering) {
        return {{"show rows with: ", Style::strong}, {filter_ + "_", Style::plain}};
    }
    StyledLine line{{"tab page  s sort  r reverse  / filter  p pause  h help  q quit", Style::dim}};
    if (mode_ == Mode::looking && page() != nullptr && view().farthest != 0) {
        const std::size_t percent = view().scroll * 100 / view().farthest;
        line.push_back({"  at " + std::to_string(percent) + "%", Style::strong});
    }
    return line;
}

ScreenModel::Body ScreenModel::body(std::size_t width) {
    Body found;
    const Page* shown = page();
    if (shown == nullptr) {
        return found;
    }
    for (const StyledLine& line : shown->head) {
        append(found.lines, wrapped(line, width));
    }
    if (!shown->table.rows.empty()) {
        if (!found.lines.empty()) {
            found.lines.emplace_back();
        }
        found.header = found.lines.size();
        const auto rows = rows_of(shown->table, view().sorting, filter_);
        append(found.lines, table_lines(shown->table, rows, std::max<std::size_t>(width, 1)));
        found.rows = rows.size();
        if (rows.empty()) {
            found.lines.push_back({{"no row contains '" + filter_ + "'", Style::dim}});
        }
    } else if (!shown->table.columns.empty()) {
        found.lines.push_back({{"nothing to show", Style::dim}});
    }
    for (const Bars& bars : shown->bars) {
        if (contains(bars.title, filter_)) {
            found.lines.emplace_back();
            append(found.lines, bar_lines(bars, width));
        }
    }
    return found;
}

std::vector<StyledLine> ScreenModel::visible(Body body, std::size_t rows) {
    if (page() == nullptr || rows == 0) {
        return {};
    }
    view().farthest = body.lines.size() > rows ? body.lines.size() - rows : 0;
    std::size_t& scroll = view().scroll;
    scroll = std::min(scroll, view().farthest);
    const auto first = body.lines.begin() + static_cast<std::ptrdiff_t>(scroll);
    const auto count = std::min(rows, body.lines.size() - scroll);
    std::vector<StyledLine> lines{first, first + static_cast<std::ptrdiff_t>(count)};
    if (body.header && scroll > *body.header && scroll <= *body.header + body.rows &&
        !lines.empty()) {
        lines.front() = body.lines[*body.header];
    }
    return lines;
}

} // namespace sessionq::cli

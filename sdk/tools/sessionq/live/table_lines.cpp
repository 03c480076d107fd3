// SPDX-License-Identifier: MIT
#include <algorithm>
#include <numeric>

#include "tools/sessionq/live/layout.hpp"

namespace sessionq::cli {
namespace {

bool has_text(const std::vector<Cell>& row, const std::string& wanted) {
    return std::any_of(row.begin(), row.end(),
                       [&wanted](const Cell& cell) { return contains(cell.text, wanted); });
}

std::vector<std::size_t> needed_widths(const Table& table, const std::vector<std::size_t>& rows) {
    std::vector<std::size_t> widths;
    for (std::size_t at = 0; at < table.columns.size(); ++at) {
        std::size_t width = table.columns[at].title.columns();
        for (const std::size_t row : rows) {
            width = std::max(width, table.rows[row][at].text.columns());
        }
        widths.push_back(width);
    }
    return widths;
}

/// Makes the widest of the columns that may shrink narrower, one by one.
void shrink(std::vector<std::size_t>& widths, const Table& table, std::size_t excess) {
    for (; excess != 0; --excess) {
        std::size_t* widest = nullptr;
        for (std::size_t at = 0; at < widths.size(); ++at) {
            const std::size_t least = table.columns[at].least;
            if (least != 0 && widths[at] > least && (widest == nullptr || widths[at] > *widest)) {
                widest = &widths[at];
            }
        }
        if (widest == nullptr) {
            return;
        }
        --*widest;
    }
}

StyledLine line_of_cells(const Table& table, const std::vector<Cell>& cells,
                         const std::vector<std::size_t>& widths, std::size_t gap) {
    StyledLine line;
    for (std::size_t at = 0; at < cells.size(); ++at) {
        const DisplayText text = cells[at].text.cut(widths[at]);
        const DisplayText padding = spaces(widths[at] - text.columns());
        if (at != 0) {
            line.push_back({spaces(gap), Style::plain});
        }
        if (table.columns[at].is_number) {
            line.push_back({padding, Style::plain});
        }
        line.push_back({text, cells[at].style});
        if (!table.columns[at].is_number) {
            line.push_back({padding, Style::plain});
        }
    }
    return line;
}

} // namespace

std::vector<std::size_t> rows_of(const Table& table, const Sorting& sorting,
                                 const std::string& filter) {
    std::vector<std::size_t> rows;
    for (std::size_t at = 0; at < table.rows.size(); ++at) {
        if (filter.empty() || has_text(table.rows[at], filter)) {
            rows.push_back(at);
        }
    }
    bool downwards = sorting.is_reversed;
    if (sorting.column && *sorting.column < table.columns.size()) {
        const std::size_t column = *sorting.column;
        downwards = downwards != table.columns[column].is_number;
        std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
            const Cell& first = table.rows[downwards ? b : a][column];
            const Cell& second = table.rows[downwards ? a : b][column];
            return first.order != second.order ? first.order < second.order
                                               : first.text.text() < second.text.text();
        });
    } else if (downwards) {
        std::reverse(rows.begin(), rows.end());
    }
    return rows;
}

std::vector<StyledLine> table_lines(const Table& table, const std::vector<std::size_t>& rows,
                                    std::size_t width) {
    constexpr std::size_t wide_gap = 2;
    if (table.columns.empty()) {
        return {};
    }
    std::vector<std::size_t> widths = needed_widths(table, rows);
    const std::size_t gaps = widths.size() - 1;
    const std::size_t needed = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
    const std::size_t gap = width == 0 || needed + wide_gap * gaps <= width ? wide_gap : 1;
    const std::size_t total = needed + gap * gaps;
    if (width != 0 && total > width) {
        shrink(widths, table, total - width);
    }
    std::vector<Cell> titles;
    for (const Column& column : table.columns) {
        titles.push_back({.text = column.title, .style = Style::dim});
    }
    std::vector<StyledLine> lines{line_of_cells(table, titles, widths, gap)};
    for (const std::size_t row : rows) {
        lines.push_back(line_of_cells(table, table.rows[row], widths, gap));
    }
    return lines;
}

} // namespace sessionq::cli

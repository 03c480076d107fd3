// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/sessionq/live/live_report.hpp"

/// Makes lines of a terminal from tables, bars and texts.
namespace sessionq::cli {

struct Sorting {
    std::optional<std::size_t> column{}; ///< Unset: as the report has them.
    bool is_reversed{false};             ///< Numbers go downwards otherwise, texts upwards.
};

/// Whether a text contains another one. Ignores the case of ASCII letters.
[[nodiscard]] bool contains(const DisplayText& text, const std::string& wanted);

/// The rows that contain `filter` in a cell, in the order that is wanted. Empty: all.
[[nodiscard]] std::vector<std::size_t> rows_of(const Table& table, const Sorting& sorting,
                                               const std::string& filter);

/// A header and the rows, in `width` columns if that is possible. Zero: as wide as needed.
/// Columns that may shrink do so, the widest first.
[[nodiscard]] std::vector<StyledLine> table_lines(const Table& table,
                                                  const std::vector<std::size_t>& rows,
                                                  std::size_t width);

/// The title, and a line for each bar.
[[nodiscard]] std::vector<StyledLine> bar_lines(const Bars& bars, std::size_t width);

/// Breaks a line between words. Lines after the first are indented.
[[nodiscard]] std::vector<StyledLine> wrapped(const StyledLine& line, std::size_t width);

/// The line in at most `width` columns.
[[nodiscard]] StyledLine cut(const StyledLine& line, std::size_t width);

[[nodiscard]] std::size_t columns_of(const StyledLine& line);

/// Without styles, and without spaces at the end.
[[nodiscard]] std::string text_of(const StyledLine& line);

} // namespace sessionq::cli

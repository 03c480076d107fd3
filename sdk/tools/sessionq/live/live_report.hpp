// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/sessionq/live/display_text.hpp"

/// The contents of a live screen as values. The layout is decided elsewhere.
namespace sessionq::cli {

enum class Style : std::uint8_t { plain, dim, strong, good, warning, bad, bar, title };

struct Span {
    DisplayText text{};
    Style style{Style::plain};
};
using StyledLine = std::vector<Span>;

/// A cell of a table. Rows are sorted by `order`, then by the text.
struct Cell {
    DisplayText text{};
    double order{0};
    Style style{Style::plain};
};

struct Column {
    DisplayText title{};
    bool is_number{false}; ///< Aligned to the right, and sorted downwards first.
    /// The columns of the terminal that it keeps when there is no room. Zero: all that it needs.
    std::size_t least{0};
};

struct Table {
    std::vector<Column> columns{};
    std::vector<std::vector<Cell>> rows{}; ///< Each has a cell for each column.
};

/// A distribution: a label and a count a bar.
struct Bars {
    struct Bar {
        DisplayText label{};
        std::uint64_t count{0};
    };
    DisplayText title{};
    std::vector<Bar> bars{};
};

struct Page {
    DisplayText name{};
    std::vector<StyledLine> head{}; ///< Wrapped if they are too long. Filters leave them alone.
    Table table{};
    std::vector<Bars> bars{};
};

/// The contents after one look.
struct LiveReport {
    StyledLine title{}; ///< The name of the subject, and its state.
    std::vector<Page> pages{};
};

} // namespace sessionq::cli

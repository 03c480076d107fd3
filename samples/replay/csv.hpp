// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <streambuf>
#include <string>
#include <vector>

namespace replay {

/// Reads rows of comma-separated values, one at a time. A quoted field may contain commas, line
/// ends and doubled quotes. Lines end with LF or CRLF. Blank lines are skipped.
class CsvRows {
public:
    explicit CsvRows(std::streambuf& source) noexcept : source_{&source} {}

    /// Reads the next row into `fields`. False: the end. Throws BrokenLine.
    [[nodiscard]] bool next(std::vector<std::string>& fields);

    /// The first line of the latest row, from 1.
    [[nodiscard]] std::uint64_t line() const noexcept { return row_line_; }

private:
    enum class End { field, row, input };

    End read_field(std::string& field);
    End read_quoted(std::string& field);
    End end_of_field(int c);

    std::streambuf* source_;
    std::uint64_t line_{1};
    std::uint64_t row_line_{0};
};

} // namespace replay

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace sessionq::cli {

/// Reads the lines of a file or a pipe. Throws UsageError if it cannot be read, or if a line is
/// longer than 256 MiB.
class LineReader {
public:
    /// "-": standard input.
    explicit LineReader(const std::string& file);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    /// The next line without its newline. Waits for it. Nothing at the end.
    [[nodiscard]] std::optional<std::string> next();

    /// Whether the next line is here, so that `next` does not wait.
    [[nodiscard]] bool has_line() const;

    /// All that is left.
    [[nodiscard]] std::string rest();

private:
    bool read_more();

    std::string name_;
    int descriptor_;
    std::string buffer_{};
    std::size_t at_{0};
};

} // namespace sessionq::cli

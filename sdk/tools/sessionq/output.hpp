// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace sessionq::cli {

/// Standard output takes no more.
class OutputError : public std::runtime_error {
public:
    explicit OutputError(int error);

    [[nodiscard]] int error() const noexcept { return error_; }

private:
    int error_;
};

/// Writes the text at once and flushes. Several threads may write. Throws OutputError.
void write_output(std::string_view text);

/// A text of a message for standard output: programs get it as it is, a terminal gets none of the
/// characters that control it.
[[nodiscard]] std::string for_output(const std::string& text);

/// Ends the program because its output cannot be written: as SIGPIPE does if the reader went away,
/// else with an error. Returns nothing to its callers, so nothing is settled any more.
[[noreturn]] void end_program(const OutputError& error) noexcept;

/// A line for people, on standard error.
void tell(const std::string& text);

} // namespace sessionq::cli

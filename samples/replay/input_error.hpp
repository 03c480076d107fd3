// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace replay {

/// The input or an option is unusable. The text names it. The program ends with exit code 2.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A line of the input is unusable. The caller adds the file's name and throws an InputError.
class BrokenLine : public std::runtime_error {
public:
    BrokenLine(std::uint64_t line, const std::string& text)
        : std::runtime_error{text}, line_{line} {}

    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

private:
    std::uint64_t line_;
};

} // namespace replay

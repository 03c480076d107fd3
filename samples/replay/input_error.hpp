#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace replay {

/// What the user gave cannot be used. The text names it; the program ends with exit code 2.
class InputError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A line of the input cannot be used. Whoever knows the file's name makes an InputError of it.
class BrokenLine : public std::runtime_error {
public:
    BrokenLine(std::uint64_t line, const std::string& text)
        : std::runtime_error{text}, line_{line} {}

    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

private:
    std::uint64_t line_;
};

} // namespace replay

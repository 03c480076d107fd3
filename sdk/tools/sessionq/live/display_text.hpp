// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sessionq::cli {

/// The columns that a character takes on a terminal: 0 (combining), 1 or 2 (East Asian, emoji).
[[nodiscard]] std::size_t columns_of(std::uint32_t code) noexcept;

/// A text that a terminal may show. Every character that controls a terminal has become a '?', and
/// so has each byte that is not UTF-8. Screens and tables consist of nothing else.
class DisplayText {
public:
    DisplayText() = default;
    DisplayText(std::string_view text);   // NOLINT: a text becomes one wherever it is shown
    DisplayText(const std::string& text); // NOLINT
    DisplayText(const char* text);        // NOLINT

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] std::size_t columns() const noexcept { return columns_; }

    /// Returns the text, cut to `columns`. If it was cut, the last column shows '~'.
    [[nodiscard]] DisplayText cut(std::size_t columns) const;

    /// Returns the beginning that fits into `columns`: whole characters only.
    [[nodiscard]] DisplayText first(std::size_t columns) const;
    /// Returns the rest behind the first `bytes`.
    [[nodiscard]] DisplayText without(std::size_t bytes) const;

private:
    std::string text_{};
    std::size_t columns_{0};
};

[[nodiscard]] inline DisplayText spaces(std::size_t count) { return std::string(count, ' '); }

} // namespace sessionq::cli

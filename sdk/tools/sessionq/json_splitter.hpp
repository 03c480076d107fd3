// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace sessionq::cli {

/// Cuts JSON into records: JSON Lines, objects that span lines, and the objects of a list. It looks
/// at brackets and strings only; the parser judges the rest. So records leave as soon as they are
/// complete, and a list need not fit in memory twice.
class JsonSplitter {
public:
    struct Piece {
        std::string text{};
        std::size_t line{0}; ///< where it begins, from one
    };

    /// Takes the next line.
    void add(std::string_view line);
    /// No line follows. Something incomplete is a piece, too.
    void end();

    [[nodiscard]] bool has_piece() const noexcept { return !pieces_.empty(); }
    [[nodiscard]] std::optional<Piece> next();

private:
    void take(char c);
    void cut();

    std::deque<Piece> pieces_{};
    Piece open_{};
    std::size_t line_{0};
    std::size_t depth_{0}; ///< of brackets in the open piece
    bool is_in_list_{false};
    bool is_in_string_{false};
    bool is_escaped_{false};
};

} // namespace sessionq::cli

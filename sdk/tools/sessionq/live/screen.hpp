// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "tools/sessionq/live/screen_model.hpp"

namespace sessionq::cli {

/// The terminal, drawn with ncurses. Only one may exist. The caller has blocked SIGWINCH and
/// SIGTSTP, and calls `resize` and `suspend` when they come.
class Screen {
public:
    /// Throws UsageError if the terminal cannot be used.
    Screen();
    /// Restores the terminal.
    ~Screen();
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    [[nodiscard]] ScreenSize size() const;
    void draw(const std::vector<StyledLine>& lines);
    /// A key that is there already, or nothing.
    [[nodiscard]] std::optional<KeyPress> key();
    /// The terminal has another size now.
    void resize();
    /// Stops the process as the shell wants it, and draws all again when it goes on.
    void suspend();

private:
    void* terminal_; // ncurses' SCREEN
    bool is_utf8_;
};

} // namespace sessionq::cli

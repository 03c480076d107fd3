// SPDX-License-Identifier: MIT
#pragma once

namespace sessionq::cli {

/// Whether the machine knows the terminal that TERM names. `newterm` of ncurses finds out, too, but
/// leaks memory if it does not.
[[nodiscard]] bool is_known_terminal();

} // namespace sessionq::cli

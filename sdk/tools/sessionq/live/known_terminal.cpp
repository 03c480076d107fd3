// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/known_terminal.hpp"

#include <curses.h>
#include <term.h>
#include <unistd.h>

namespace sessionq::cli {

bool is_known_terminal() {
    int found = 0;
    if (::setupterm(nullptr, STDOUT_FILENO, &found) == ERR) {
        return false;
    }
    ::del_curterm(cur_term);
    return true;
}

} // namespace sessionq::cli

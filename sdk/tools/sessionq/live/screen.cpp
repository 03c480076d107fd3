// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/screen.hpp"

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string>

#include "tools/command_line.hpp"
#include "tools/sessionq/live/known_terminal.hpp"

namespace sessionq::cli {
namespace {

constexpr short good_color = 1;
constexpr short warning_color = 2;
constexpr short bad_color = 3;
constexpr short bar_color = 4;

void prepare_colors() {
    if (::has_colors() && ::start_color() != ERR) {
        ::use_default_colors();
        constexpr short background = -1; // the terminal's own
        ::init_pair(good_color, COLOR_GREEN, background);
        ::init_pair(warning_color, COLOR_YELLOW, background);
        ::init_pair(bad_color, COLOR_RED, background);
        ::init_pair(bar_color, COLOR_CYAN, background);
    }
}

attr_t color(short pair) { return static_cast<attr_t>(COLOR_PAIR(pair)); }

attr_t attributes_of(Style style) {
    switch (style) {
    case Style::plain: return A_NORMAL;
    case Style::dim: return A_DIM;
    case Style::strong: return A_BOLD;
    case Style::good: return color(good_color);
    case Style::warning: return color(warning_color) | A_BOLD;
    case Style::bad: return color(bad_color) | A_BOLD;
    case Style::bar: return color(bar_color);
    case Style::title: return A_REVERSE;
    }
    return A_NORMAL;
}

/// For a terminal that shows ASCII only.
std::string ascii_of(const DisplayText& text) {
    std::string shown;
    for (const char c : text.text()) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80U) {
            shown += c;
        } else if ((byte & 0xc0U) == 0xc0U) { // the first byte of a character
            shown += '?';
        }
    }
    return shown;
}

std::string utf8_of(wchar_t character) {
    std::array<char, 16> bytes{};
    std::mbstate_t state{};
    const std::size_t size = std::wcrtomb(bytes.data(), character, &state);
    return size <= bytes.size() ? std::string(bytes.data(), size) : std::string{};
}

std::optional<KeyPress> special_key(wint_t code) {
    switch (code) {
    case KEY_BTAB: return KeyPress{Key::back_tab};
    case KEY_LEFT: return KeyPress{Key::back_tab};
    case KEY_RIGHT: return KeyPress{Key::tab};
    case KEY_UP: return KeyPress{Key::up};
    case KEY_DOWN: return KeyPress{Key::down};
    case KEY_PPAGE: return KeyPress{Key::page_up};
    case KEY_NPAGE: return KeyPress{Key::page_down};
    case KEY_HOME: return KeyPress{Key::home};
    case KEY_END: return KeyPress{Key::end};
    case KEY_ENTER: return KeyPress{Key::enter};
    case KEY_BACKSPACE: return KeyPress{Key::backspace};
    default: return std::nullopt;
    }
}

std::optional<KeyPress> plain_key(wint_t code) {
    switch (code) {
    case L'\t': return KeyPress{Key::tab};
    case L'\r':
    case L'\n': return KeyPress{Key::enter};
    case 0x1b: return KeyPress{Key::escape};
    case 0x08:
    case 0x7f: return KeyPress{Key::backspace};
    default: break;
    }
    return code >= L' ' ? std::optional{KeyPress{Key::text, utf8_of(static_cast<wchar_t>(code))}}
                        : std::nullopt;
}

} // namespace

Screen::Screen() : terminal_{nullptr}, is_utf8_{false} {
    std::setlocale(LC_CTYPE, "");
    is_utf8_ = std::string{::nl_langinfo(CODESET)} == "UTF-8";
    if (is_known_terminal()) {
        terminal_ = ::newterm(nullptr, stdout, stdin); // `initscr` would end the program
    }
    if (terminal_ == nullptr) {
        const char* const name = std::getenv("TERM");
        throw tools::UsageError{"TERM: no terminal '" + std::string{name != nullptr ? name : ""} +
                                "' is known here; use --once or --json"};
    }
    constexpr int escape_delay = 25; // ms: an escape that nothing follows is a key
    ::set_escdelay(escape_delay);
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, true);
    ::nodelay(stdscr, true);
    ::curs_set(0);
    prepare_colors();
}

Screen::~Screen() {
    ::endwin();
    ::delscreen(static_cast<SCREEN*>(terminal_));
}

ScreenSize Screen::size() const {
    return {.columns = static_cast<std::size_t>(::getmaxx(stdscr)),
            .rows = static_cast<std::size_t>(::getmaxy(stdscr))};
}

void Screen::draw(const std::vector<StyledLine>& lines) {
    ::werase(stdscr);
    int row = 0;
    for (const StyledLine& line : lines) {
        ::wmove(stdscr, row++, 0);
        for (const Span& span : line) {
            ::wattrset(stdscr, static_cast<int>(attributes_of(span.style)));
            const std::string text = is_utf8_ ? span.text.text() : ascii_of(span.text);
            ::waddnstr(stdscr, text.c_str(), static_cast<int>(text.size()));
        }
    }
    ::wattrset(stdscr, A_NORMAL);
    ::wrefresh(stdscr);
}

std::optional<KeyPress> Screen::key() {
    wint_t code = 0;
    while (true) {
        const int kind = ::wget_wch(stdscr, &code);
        if (kind == ERR) {
            return std::nullopt;
        }
        if (const auto press = kind == KEY_CODE_YES ? special_key(code) : plain_key(code)) {
            return press;
        }
    }
}

void Screen::resize() {
    winsize now{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_row != 0 && now.ws_col != 0) {
        ::resizeterm(now.ws_row, now.ws_col);
        ::clearok(stdscr, true);
    }
}

void Screen::suspend() {
    ::endwin();
    ::kill(0, SIGSTOP); // the whole job, as the terminal would
    resize();
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <initializer_list>

#include "tools/sessionq/live/screen_model.hpp"

using namespace sessionq;
using namespace sessionq::cli;
using namespace std::chrono_literals;

namespace {

constexpr ScreenSize usual{.columns = 80, .rows = 24};
constexpr TimePoint noon{12h};

/// Pages "One", with a head and `count` rows, and "Two", with bars.
LiveReport numbered(std::size_t count) {
    LiveReport report{.title = {{"the title", Style::strong}}};
    Page one{.name = "One", .head = {{{"the head", Style::plain}}}};
    one.table.columns = {{.title = "row"}, {.title = "size", .is_number = true}};
    for (std::size_t at = 0; at < count; ++at) {
        one.table.rows.push_back({{.text = "row" + std::to_string(at)},
                                  {.text = std::to_string(at), .order = double(at)}});
    }
    Page two{.name = "Two", .bars = {{.title = "bars", .bars = {{"<= 1s", 3}}}}};
    report.pages = {one, two};
    return report;
}

struct Shown {
    std::vector<std::string> lines{};

    [[nodiscard]] bool has(const std::string& text) const {
        for (const std::string& line : lines) {
            if (line.find(text) != std::string::npos) {
                return true;
            }
        }
        return false;
    }
};

/// Draws, and checks that it fits.
Shown drawn(ScreenModel& model, ScreenSize size = usual, TimePoint now = noon) {
    Shown shown;
    const auto lines = model.draw(size, now);
    CHECK(lines.size() == size.rows);
    for (const StyledLine& line : lines) {
        CHECK(columns_of(line) <= size.columns);
        shown.lines.push_back(text_of(line));
    }
    return shown;
}

void type(ScreenModel& model, const std::string& text) {
    for (const char c : text) {
        CHECK(model.press({Key::text, std::string(1, c)}));
    }
}

void type(ScreenModel& model, std::initializer_list<Key> keys) {
    for (const Key key : keys) {
        CHECK(model.press({key}));
    }
}

} // namespace

TEST_CASE("screen model: before the first look it says what it looks at") {
    ScreenModel model{"/run/orders.sock", 5s};
    CHECK(drawn(model).lines[0] == "looking at /run/orders.sock");
    type(model, "srp/x");
    type(model, {Key::enter, Key::tab, Key::back_tab, Key::down, Key::end});
    CHECK(drawn(model).lines[0] == "looking at /run/orders.sock");
}

TEST_CASE("screen model: a page at 80x24") {
    ScreenModel model{"x", 5s};
    model.show(numbered(3), noon);
    const auto lines = drawn(model).lines;
    CHECK(lines[0] == "the title");
    CHECK(lines[1].find(" One   Two") == 0);
    CHECK(lines[2] == "the head");
    CHECK(lines[4] == "row   size");
    CHECK(lines[5] == "row0     0");
    CHECK(lines[7] == "row2     2");
    CHECK(lines[23] == "tab page  s sort  r reverse  / filter  p pause  h help  q quit");
}

TEST_CASE("screen model: tab turns pages, in both directions") {
    ScreenModel model{"x", 5s};
    model.show(numbered(3), noon);
    type(model, {Key::tab});
    CHECK(drawn(model).has("<= 1s"));
    CHECK_FALSE(drawn(model).has("row0"));
    type(model, {Key::tab});
    CHECK(drawn(model).has("row0"));
    type(model, {Key::back_tab});
    CHECK(drawn(model).has("<= 1s"));
    LiveReport three = numbered(3);
    three.pages.push_back({.name = "Three", .head = {{{"the third", Style::plain}}}});
    model.show(three, noon);
    type(model, {Key::back_tab, Key::back_tab});
    CHECK(drawn(model).has("the third"));
    type(model, {Key::tab, Key::back_tab});
    CHECK(drawn(model).has("the third"));
    model.show({.title = {}, .pages = {numbered(1).pages[0]}}, noon); // fewer pages than before
    CHECK(drawn(model).has("row0"));
}

TEST_CASE("screen model: s sorts by one column after the other, r reverses") {
    ScreenModel model{"x", 5s};
    model.show(numbered(3), noon);
    type(model, "s");
    CHECK(drawn(model).lines[1].find("by row (up)") != std::string::npos);
    type(model, "s");
    CHECK(drawn(model).lines[1].find("by size (down)") != std::string::npos);
    CHECK(drawn(model).lines[5] == "row2     2");
    type(model, "r");
    CHECK(drawn(model).lines[1].find("by size (up)") != std::string::npos);
    CHECK(drawn(model).lines[5] == "row0     0");
    type(model, "s");
    CHECK(drawn(model).lines[1].find("by ") == std::string::npos);
    type(model, "r");
    CHECK(drawn(model).lines[5] == "row2     2");
}

TEST_CASE("screen model: a filter, and its keys are text") {
    ScreenModel model{"x", 5s};
    model.show(numbered(12), noon);
    type(model, "/q1");
    CHECK(drawn(model).lines[23] == "show rows with: q1_");
    CHECK(drawn(model).has("no row contains 'q1'"));
    type(model, {Key::backspace, Key::backspace, Key::backspace});
    type(model, "ROW1");
    CHECK(drawn(model).lines[7] == "row11    11");
    CHECK_FALSE(drawn(model).has("row2"));
    type(model, {Key::enter});
    CHECK(drawn(model).lines[1].find("with 'ROW1'") != std::string::npos);
    type(model, {Key::escape});
    CHECK(drawn(model).has("row2"));
    type(model, "fzz");
    type(model, {Key::escape}); // ends it and forgets it
    CHECK(drawn(model).has("row2"));
}

TEST_CASE("screen model: a filter begins at the top, and holds for bars by their titles") {
    ScreenModel model{"x", 5s};
    model.show(numbered(100), noon);
    type(model, {Key::end});
    type(model, "/row");
    CHECK(drawn(model).lines[2] == "the head");
    type(model, {Key::enter, Key::tab});
    CHECK_FALSE(drawn(model).has("<= 1s"));
    type(model, {Key::escape});
    CHECK(drawn(model).has("<= 1s"));
    type(model, "/BAR");
    CHECK(drawn(model).has("<= 1s"));
}

TEST_CASE("screen model: below the table its header is gone") {
    LiveReport report = numbered(3);
    Bars bars{.title = "bars"};
    bars.bars.resize(50, {"<= 1s", 3});
    report.pages[0].bars = {bars};
    ScreenModel model{"x", 5s};
    model.show(report, noon);
    type(model, {Key::down, Key::down, Key::down, Key::down});
    CHECK(drawn(model).lines[2] == "row   size");
    type(model, {Key::end});
    CHECK_FALSE(drawn(model).has("row   size"));
}

TEST_CASE("screen model: backspace removes a whole character") {
    ScreenModel model{"x", 5s};
    model.show(numbered(1), noon);
    type(model, "/");
    CHECK(model.press({Key::text, "\xe6\x97\xa5"}));
    CHECK(drawn(model).lines[23] == "show rows with: \xe6\x97\xa5_");
    type(model, {Key::backspace});
    CHECK(drawn(model).lines[23] == "show rows with: _");
}

TEST_CASE("screen model: paused, it keeps the newest look for later") {
    ScreenModel model{"x", 5s};
    model.show(numbered(1), noon);
    type(model, "p");
    model.show(numbered(2), noon);
    model.show(numbered(3), noon);
    CHECK(drawn(model).has("PAUSED"));
    CHECK_FALSE(drawn(model).has("row1"));
    type(model, " ");
    CHECK_FALSE(drawn(model).has("PAUSED"));
    CHECK(drawn(model).has("row2"));
    type(model, "p");
    type(model, "p"); // nothing came meanwhile
    CHECK(drawn(model).has("row2"));
}

TEST_CASE("screen model: no answer, since when and why") {
    ScreenModel model{"x", 5s};
    model.show(numbered(1), noon);
    model.fail("nobody listens", noon);
    model.fail("still nobody", noon + 2s);
    const Shown shown = drawn(model, usual, noon + 3500ms);
    CHECK(shown.lines[2] == "no answer for 3s: still nobody");
    CHECK(shown.has("row0")); // what was known stays
    CHECK(shown.has("q quit"));
    model.show(numbered(1), noon);
    CHECK_FALSE(drawn(model).has("no answer"));
    model.fail("again", noon + 60s);
    CHECK(drawn(model, usual, noon + 61s).has("no answer for 1s: again"));
}

TEST_CASE("screen model: numbers that are old are marked, whether a look failed or hangs") {
    ScreenModel model{"x", 5s};
    model.show(numbered(1), noon);
    const auto style_of_row = [&](TimePoint now) {
        for (const StyledLine& line : model.draw(usual, now)) {
            if (text_of(line).find("row0") != std::string::npos) {
                return line.front().style;
            }
        }
        return Style::bad;
    };
    CHECK(drawn(model, usual, noon + 5s).lines[0] == "the title");
    CHECK(style_of_row(noon + 5s) == Style::plain);
    CHECK(drawn(model, usual, noon + 6s).lines[0] == "as of 6s ago  the title");
    CHECK(style_of_row(noon + 6s) == Style::dim);
    model.show(numbered(1), noon + 7s);
    CHECK(style_of_row(noon + 7s) == Style::plain);
    model.fail("nobody listens", noon + 8s);
    CHECK(drawn(model, usual, noon + 9s).lines[0] == "as of 2s ago  the title");
    CHECK(style_of_row(noon + 9s) == Style::dim);
}

TEST_CASE("screen model: a failure while paused stays shown when the pause ends") {
    ScreenModel model{"x", 5s};
    model.show(numbered(1), noon);
    type(model, "p");
    model.show(numbered(2), noon);
    model.fail("gone", noon);
    type(model, "p");
    CHECK(drawn(model).has("gone"));
    CHECK(drawn(model).has("row1"));
}

TEST_CASE("screen model: help, and any key leaves it") {
    ScreenModel model{"x", 5s};
    model.show(numbered(1), noon);
    type(model, "h");
    CHECK(drawn(model).has("reverse the order"));
    CHECK_FALSE(drawn(model).has("row0"));
    type(model, "s");
    CHECK(drawn(model).has("row0"));
    CHECK_FALSE(drawn(model).has("by row"));
    type(model, "?");
    CHECK(drawn(model).has("reverse the order"));
    CHECK_FALSE(model.press({Key::text, "q"}));
}

TEST_CASE("screen model: q ends it") {
    ScreenModel model{"x", 5s};
    CHECK_FALSE(model.press({Key::text, "q"}));
    CHECK_FALSE(model.press({Key::text, "Q"}));
    CHECK(model.press({Key::text, "x"}));
    CHECK(model.press({Key::escape}));
}

TEST_CASE("screen model: scrolling stays in the page, and the header of the table stays") {
    ScreenModel model{"x", 5s};
    model.show(numbered(100), noon); // 103 lines, 21 of them at a time
    CHECK(drawn(model).lines[23].ends_with("  at 0%"));
    type(model, {Key::down, Key::down});
    CHECK(drawn(model).lines[2] == "row    size");
    CHECK(drawn(model).lines[3] == "row0      0");
    type(model, {Key::down});
    CHECK(drawn(model).lines[2] == "row    size");
    CHECK(drawn(model).lines[3] == "row1      1");
    type(model, {Key::page_down});
    CHECK(drawn(model).lines[3] == "row21    21");
    type(model, {Key::end});
    CHECK(drawn(model).lines[22] == "row99    99");
    CHECK(drawn(model).lines[23].ends_with("  at 100%"));
    type(model, {Key::down, Key::page_down, Key::up}); // no further than the end
    CHECK(drawn(model).lines[22] == "row98    98");
    type(model, {Key::page_up});
    CHECK(drawn(model).lines[22] == "row78    78");
    type(model, {Key::home, Key::up, Key::page_up});
    CHECK(drawn(model).lines[2] == "the head");
    type(model, {Key::end});
    CHECK(drawn(model).lines[22] == "row99    99");
    model.show(numbered(2), noon); // a shorter page
    CHECK(drawn(model).lines[2] == "the head");
}

TEST_CASE("screen model: any size can be drawn") {
    for (const bool fails : {false, true}) {
        for (std::size_t columns = 0; columns < 90; columns += columns < 25 ? 1 : 13) {
            for (std::size_t rows = 0; rows < 30; ++rows) {
                ScreenModel model{"x", 5s};
                model.show(numbered(40), noon);
                if (fails) {
                    model.fail("a rather long reason that is wrapped in narrow screens", noon);
                }
                CAPTURE(columns);
                CAPTURE(rows);
                type(model, {Key::page_down, Key::end});
                (void)drawn(model, {columns, rows});
                type(model, {Key::page_up, Key::tab, Key::page_down});
                (void)drawn(model, {columns, rows});
                type(model, "h");
                (void)drawn(model, {columns, rows});
            }
        }
    }
}

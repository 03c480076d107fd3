// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/time.hpp>

#include "tools/sessionq/live/layout.hpp"
#include "tools/sessionq/live/live_report.hpp"

namespace sessionq::cli {

enum class Key : std::uint8_t {
    text, ///< A character that is typed.
    tab,
    back_tab,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    enter,
    escape,
    backspace,
};

struct KeyPress {
    Key key{Key::text};
    std::string text{}; ///< Of `Key::text`: one character, UTF-8.
};

struct ScreenSize {
    std::size_t columns{0};
    std::size_t rows{0};
};

/// The view of a live screen: which page, which order, which filter, how far it is scrolled. Looks
/// and keys go in, lines come out. It reads no clock and does no I/O.
class ScreenModel {
public:
    /// `target`: the name of the subject, shown until the first look. Numbers that are older than
    /// `fresh_for` are stale: they are drawn dim, with their age.
    ScreenModel(std::string target, Duration fresh_for);

    /// A look succeeded at `now`. While the screen is paused it is kept for later.
    void show(LiveReport report, TimePoint now);
    /// A look failed. `now`: the instant counts if the one before it did not.
    void fail(const std::string& why, TimePoint now);

    /// Returns false if the program should end.
    [[nodiscard]] bool press(const KeyPress& press);

    /// The whole screen: `size.rows` lines of at most `size.columns`.
    [[nodiscard]] std::vector<StyledLine> draw(ScreenSize size, TimePoint now);

private:
    enum class Mode : std::uint8_t { looking, filtering, helping };
    struct View {
        Sorting sorting{};
        std::size_t scroll{0};
        std::size_t farthest{std::numeric_limits<std::size_t>::max() / 2}; ///< When drawn last.
    };
    struct Fault {
        std::string why{};
        TimePoint since{};
    };
    /// A report, and when it was looked at.
    struct Look {
        LiveReport report{};
        TimePoint at{};
    };
    /// The lines of a page. The header of its table stays when the page is scrolled past it.
    struct Body {
        std::vector<StyledLine> lines{};
        std::optional<std::size_t> header{};
        std::size_t rows{0}; ///< Rows of the table that the filter shows.
    };

    [[nodiscard]] bool command(const std::string& text);
    void edit_filter(const KeyPress& press);
    void scroll_by(const KeyPress& press);
    void turn_page(std::size_t steps);
    void sort_by_next();
    [[nodiscard]] const Page* page() const;
    [[nodiscard]] View& view();
    [[nodiscard]] bool is_stale(TimePoint now) const;
    [[nodiscard]] StyledLine title(TimePoint now) const;
    [[nodiscard]] StyledLine tabs() const;
    [[nodiscard]] StyledLine bottom();
    [[nodiscard]] Body body(std::size_t width);
    [[nodiscard]] std::vector<StyledLine> visible(Body body, std::size_t rows);

    std::string target_;
    Duration fresh_for_;
    std::optional<Look> shown_{};
    std::optional<Look> latest_{}; ///< While paused.
    std::optional<Fault> fault_{};
    std::vector<View> views_{}; ///< Of each page.
    std::size_t page_{0};
    std::string filter_{};
    Mode mode_{Mode::looking};
    bool is_paused_{false};
    std::size_t body_rows_{1}; ///< When it was drawn last.
};

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include "tools/sessionq/live/layout.hpp"

#include <algorithm>

#include "tools/sessionq/live/quantities.hpp"

namespace sessionq::cli {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Where to break a text of which `room` columns fit. Zero: before it.
std::size_t break_of(const DisplayText& text, std::size_t room, bool is_first) {
    const std::size_t fits = text.first(room).text().size();
    const std::size_t space = text.text().rfind(' ', fits); // also the one right behind
    if (space != std::string::npos && space != 0) {
        return space;
    }
    return is_first ? fits : 0;
}

DisplayText without_spaces_before(const DisplayText& text) {
    const std::size_t at = text.text().find_first_not_of(' ');
    return at == std::string::npos ? DisplayText{} : text.without(at);
}

} // namespace

bool contains(const DisplayText& text, const std::string& wanted) {
    const std::string& in = text.text();
    return std::search(in.begin(), in.end(), wanted.begin(), wanted.end(),
                       [](char a, char b) { return lower(a) == lower(b); }) != in.end() ||
           wanted.empty();
}

std::vector<StyledLine> bar_lines(const Bars& bars, std::size_t width) {
    constexpr std::size_t longest_bar = 60;
    constexpr std::size_t shortest_bar = 4;
    std::vector<StyledLine> lines{{{bars.title, Style::strong}}};
    std::size_t label_width = 0;
    std::size_t count_width = 0;
    std::uint64_t most = 1;
    for (const Bars::Bar& bar : bars.bars) {
        label_width = std::max(label_width, bar.label.columns());
        count_width = std::max(count_width, count_text(bar.count).size());
        most = std::max(most, bar.count);
    }
    const std::size_t others = label_width + count_width + 4; // and four spaces
    std::size_t room = width > others ? std::min(width - others, longest_bar) : 0;
    room = room < shortest_bar ? 0 : room;
    for (const Bars::Bar& bar : bars.bars) {
        auto size = static_cast<std::size_t>(static_cast<double>(bar.count) /
                                             static_cast<double>(most) * static_cast<double>(room));
        size = bar.count != 0 && room != 0 ? std::max<std::size_t>(size, 1) : size;
        const std::string count = count_text(bar.count);
        lines.push_back({{"  ", Style::plain},
                         {spaces(label_width - bar.label.columns()), Style::plain},
                         {bar.label, Style::dim},
                         {" ", Style::plain},
                         {std::string(size, '#'), Style::bar},
                         {spaces(room - size + 1 + count_width - count.size()), Style::plain},
                         {count, Style::plain}});
    }
    return lines;
}

std::vector<StyledLine> wrapped(const StyledLine& line, std::size_t width) {
    constexpr std::size_t narrowest = 20; // below that lines are cut
    constexpr std::size_t indent = 2;
    if (width < narrowest) {
        return {line};
    }
    std::vector<StyledLine> lines{{}};
    std::size_t used = 0;
    bool is_first = true; // nothing but the indent stands in the line
    for (const Span& span : line) {
        DisplayText rest = span.text;
        while (rest.columns() > width - used) {
            const std::size_t end = break_of(rest, width - used, is_first);
            lines.back().push_back({std::string_view{rest.text()}.substr(0, end), span.style});
            rest = without_spaces_before(rest.without(end));
            lines.push_back({{spaces(indent), Style::plain}});
            used = indent;
            is_first = true;
        }
        used += rest.columns();
        is_first = is_first && rest.columns() == 0;
        lines.back().push_back({rest, span.style});
    }
    return lines;
}

StyledLine cut(const StyledLine& line, std::size_t width) {
    if (columns_of(line) <= width) {
        return line;
    }
    StyledLine shown;
    std::size_t left = width;
    for (const Span& span : line) {
        const bool is_last = span.text.columns() >= left;
        shown.push_back({is_last ? span.text.cut(left) : span.text, span.style});
        if (is_last) {
            break;
        }
        left -= span.text.columns();
    }
    return shown;
}

std::size_t columns_of(const StyledLine& line) {
    std::size_t columns = 0;
    for (const Span& span : line) {
        columns += span.text.columns();
    }
    return columns;
}

std::string text_of(const StyledLine& line) {
    std::string text;
    for (const Span& span : line) {
        text += span.text.text();
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include "tools/wrapped_text.hpp"

#include <algorithm>

namespace sessionq::tools {
namespace {

std::string wrapped_line(std::string_view line, std::size_t columns, std::size_t description) {
    const std::size_t indent = line.starts_with(' ') ? description : 0;
    std::string result;
    std::size_t width = columns;
    while (line.size() > width) {
        // Not within the name and the spaces behind it.
        const std::size_t first = result.empty() ? indent : 0;
        const std::size_t space = line.rfind(' ', width);
        if (space == std::string_view::npos || space <= first) {
            break;
        }
        result.append(line.substr(0, line.find_last_not_of(' ', space) + 1));
        result += '\n' + std::string(indent, ' ');
        line.remove_prefix(space + 1);
        width = columns - indent;
    }
    return result.append(line);
}

} // namespace

std::string wrapped(std::string_view text, std::size_t columns, std::size_t description) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        result += wrapped_line(text.substr(0, end), columns, description);
        text.remove_prefix(end);
        if (!text.empty()) {
            result += '\n';
            text.remove_prefix(1);
        }
    }
    return result;
}

} // namespace sessionq::tools

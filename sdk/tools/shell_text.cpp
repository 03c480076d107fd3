// SPDX-License-Identifier: MIT
#include "tools/shell_text.hpp"

#include <set>

namespace sessionq::tools {

std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? std::string{"'\\''"} : std::string{c};
    }
    return result + "'";
}

std::string escaped(std::string_view text, std::string_view special) {
    std::string result;
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) {
            result += '\\';
        }
        result += c;
    }
    return result;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
    std::string result;
    for (const std::string& text : texts) {
        result += result.empty() ? "" : between;
        result += text;
    }
    return result;
}

std::vector<std::string> options_with_value(const CommandInfo& program) {
    std::set<std::string> names;
    for (const CommandInfo* command : all_commands(program)) {
        for (const OptionInfo& option : command->options) {
            if (!option.value.empty()) {
                names.insert(option.name);
            }
        }
    }
    return {names.begin(), names.end()};
}

} // namespace sessionq::tools

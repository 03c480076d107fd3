// SPDX-License-Identifier: MIT
#include "tools/command_tree.hpp"

#include <algorithm>
#include <cctype>

#include <CLI/CLI.hpp>

namespace sessionq::tools {
namespace {

/// The words of "bash|zsh|fish". A name in capitals stands for any text.
std::vector<std::string> choices_of(const std::string& value) {
    const auto is_capital = [](unsigned char c) { return std::isupper(c) != 0; };
    if (value.find('|') == std::string::npos || std::ranges::any_of(value, is_capital)) {
        return {};
    }
    return CLI::detail::split(value, '|');
}

OptionInfo describe_option(const CLI::Option& option) {
    OptionInfo info;
    const bool is_argument = option.get_positional();
    info.name = is_argument                   ? option.get_name(true)
                : option.get_lnames().empty() ? "-" + option.get_snames().front()
                                              : "--" + option.get_lnames().front();
    const bool is_flag = !is_argument && option.get_items_expected_max() == 0;
    info.value = is_flag ? "" : option.get_type_name();
    info.help = option.get_description();
    info.choices = choices_of(info.value);
    info.required = option.get_required();
    info.repeats = option.get_items_expected_max() > 1;
    return info;
}

CommandInfo describe_command(const CLI::App& app, const std::string& path) {
    CommandInfo info;
    info.name = app.get_name();
    info.path = path;
    info.help = app.get_description();
    info.footer = app.get_footer();
    for (const CLI::Option* option : app.get_options()) {
        if (!option->get_group().empty()) { // hidden without
            (option->get_positional() ? info.arguments : info.options)
                .push_back(describe_option(*option));
        }
    }
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        const std::string name = command->get_name();
        info.commands.push_back(
            describe_command(*command, path.empty() ? name : path + " " + name));
    }
    return info;
}

} // namespace

std::vector<std::string> CommandInfo::option_names() const {
    std::vector<std::string> names;
    for (const OptionInfo& option : options) {
        names.push_back(option.name);
    }
    return names;
}

std::vector<std::string> CommandInfo::command_names() const {
    std::vector<std::string> names;
    for (const CommandInfo& command : commands) {
        names.push_back(command.name);
    }
    return names;
}

CommandInfo describe(const CLI::App& app) { return describe_command(app, ""); }

std::string brief(const std::string& help) {
    std::string text = help.substr(0, help.find(". "));
    if (text.ends_with('.')) {
        text.pop_back();
    }
    return text;
}

std::vector<const CommandInfo*> all_commands(const CommandInfo& root) {
    std::vector<const CommandInfo*> all{&root};
    for (const CommandInfo& command : root.commands) {
        const auto below = all_commands(command);
        all.insert(all.end(), below.begin(), below.end());
    }
    return all;
}

} // namespace sessionq::tools

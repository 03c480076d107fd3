// SPDX-License-Identifier: MIT
#include "tools/completion.hpp"
#include "tools/shell_text.hpp"

namespace sessionq::tools {
namespace {

/// Fish knows two escapes in single quotes.
std::string fish_quoted(std::string_view text) { return "'" + escaped(text, "'\\") + "'"; }

std::string path_function(const CommandInfo& program) {
    const std::string name = "__" + program.name + "_command";
    std::string text = "# The path of commands before the cursor.\nfunction " + name +
                       "\n    set -l path\n    set -l expects_value\n"
                       "    for word in (commandline -opc)[2..-1]\n"
                       "        if set -q expects_value[1]\n"
                       "            set expects_value\n            continue\n        end\n"
                       "        switch $word\n";
    if (const auto valued = options_with_value(program); !valued.empty()) {
        text +=
            "            case " + joined(valued, " ") + "\n                set expects_value 1\n";
    }
    text += "            case '-*'\n            case '*'\n"
            "                switch \"$path/$word\"\n";
    for (const CommandInfo* command : all_commands(program)) {
        for (const CommandInfo& below : command->commands) {
            text += "                    case " + fish_quoted(command->path + "/" + below.name) +
                    "\n                        set path " + fish_quoted(below.path) + "\n";
        }
    }
    return text +
           "                end\n        end\n    end\n    echo \"$path\"\nend\n\n"
           "function __" +
           program.name + "_at\n    set -l path (" + name +
           ")\n    test \"$path\" = \"$argv[1]\"\nend\n\n";
}

std::string where(const CommandInfo& program, const CommandInfo& command) {
    return " -n " + fish_quoted("__" + program.name + "_at " + fish_quoted(command.path));
}

std::string values_of(const OptionInfo& option) {
    if (option.value.empty()) {
        return "";
    }
    if (option.is_file()) {
        return " -r -F";
    }
    if (option.is_directory()) {
        return " -x -a '(__fish_complete_directories)'";
    }
    return option.choices.empty() ? " -x" : " -x -a " + fish_quoted(joined(option.choices, " "));
}

std::string lines_of(const CommandInfo& program, const CommandInfo& command) {
    const std::string start = "complete -c " + program.name;
    const std::string here = start + where(program, command);
    std::string text;
    for (const CommandInfo& below : command.commands) {
        text += here + " -a " + fish_quoted(below.name) + " -d " + fish_quoted(brief(below.help)) +
                "\n";
    }
    for (const OptionInfo& option : command.options) {
        // The program's own options are valid in every command.
        text += (command.path.empty() ? start : here) + " -l " + option.name.substr(2) +
                values_of(option) + " -d " + fish_quoted(brief(option.help)) + "\n";
    }
    for (const OptionInfo& argument : command.arguments) {
        if (!argument.choices.empty()) {
            text += here + " -a " + fish_quoted(joined(argument.choices, " ")) + "\n";
        }
    }
    return text;
}

} // namespace

std::string fish_completion(const CommandInfo& program) {
    std::string text = "# Completes " + program.name + " in fish. Made from its options.\n\n" +
                       path_function(program) + "complete -c " + program.name + " -f\n";
    for (const CommandInfo* command : all_commands(program)) {
        text += lines_of(program, *command);
    }
    return text;
}

} // namespace sessionq::tools

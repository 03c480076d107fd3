// SPDX-License-Identifier: MIT
#include "tools/completion.hpp"
#include "tools/shell_text.hpp"

namespace sessionq::tools {
namespace {

std::string function_of(const CommandInfo& program, const CommandInfo& command) {
    std::string name = "_" + program.name;
    for (const char c : command.path.empty() ? "" : " " + command.path) {
        name += c == ' ' || c == '-' ? '_' : c;
    }
    return name;
}

/// The completion of a value: `:NAME:ACTION` of _arguments. Without choices the list is empty, so
/// that options are completed where an argument may stand.
std::string action(const std::string& name, const OptionInfo& option) {
    return ":" + escaped(name, ":\\") + ":" +
           (option.is_file()        ? "_files"
            : option.is_directory() ? "_files -/"
                                    : "(" + joined(option.choices, " ") + ")");
}

std::string option_spec(const OptionInfo& option) {
    // "--name=value" and "--name value"
    return shell_quoted((option.repeats ? "*" : "") + option.name +
                        (option.value.empty() ? "[" : "=[") + escaped(brief(option.help), "[]\\") +
                        "]" + (option.value.empty() ? "" : action(option.value, option)));
}

std::string argument_spec(const OptionInfo& argument) {
    return shell_quoted((argument.repeats ? "*" : "") + action(argument.name, argument));
}

/// Every option, one a line, each continued.
std::string option_specs(const CommandInfo& program, const CommandInfo& command) {
    std::string specs;
    for (const OptionInfo& option : command.options) {
        specs += " \\\n        " + option_spec(option);
    }
    for (const OptionInfo& option : program.options) {
        if (&command != &program && option.name != "--help") {
            specs += " \\\n        " + option_spec(option);
        }
    }
    return specs;
}

std::string leaf_body(const CommandInfo& program, const CommandInfo& command) {
    std::string text = "    _arguments" + option_specs(program, command);
    for (const OptionInfo& argument : command.arguments) {
        text += " \\\n        " + argument_spec(argument);
    }
    return text + "\n";
}

std::string body_with_commands(const CommandInfo& program, const CommandInfo& command) {
    std::string text = "    local context state line curcontext=$curcontext\n"
                       "    typeset -A opt_args\n    local -a commands\n    _arguments -C" +
                       option_specs(program, command) +
                       " \\\n        '1:command:->command' '*::argument:->argument'\n"
                       "    case $state in\n    command)\n        commands=(\n";
    for (const CommandInfo& below : command.commands) {
        text += "            " + shell_quoted(escaped(below.name, ":") + ":" + brief(below.help)) +
                "\n";
    }
    text += "        )\n        _describe command commands ;;\n    argument)\n"
            "        case $line[1] in\n";
    for (const CommandInfo& below : command.commands) {
        text += "        " + below.name + ") " + function_of(program, below) + " ;;\n";
    }
    return text + "        esac ;;\n    esac\n";
}

} // namespace

std::string zsh_completion(const CommandInfo& program) {
    const std::string name = program.name;
    std::string text = "#compdef " + name + "\n# Made from the options of " + name + ".\n";
    for (const CommandInfo* command : all_commands(program)) {
        text += "\n" + function_of(program, *command) + "() {\n" +
                (command->commands.empty() ? leaf_body(program, *command)
                                           : body_with_commands(program, *command)) +
                "}\n";
    }
    // Works as a file of $fpath, and as one that is sourced.
    return text + "\nif [[ $funcstack[1] == _" + name + " ]]; then\n    _" + name +
           " \"$@\"\nelse\n    compdef _" + name + " " + name + "\nfi\n";
}

} // namespace sessionq::tools

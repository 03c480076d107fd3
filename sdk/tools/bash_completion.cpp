// SPDX-License-Identifier: MIT
#include "tools/completion.hpp"
#include "tools/shell_text.hpp"

namespace sessionq::tools {
namespace {

/// Finds the command and the option whose value is expected. Bash takes '=' for a word of its own.
constexpr const char* words_before_cursor = R"(
    local current=${COMP_WORDS[COMP_CWORD]} command= option= i word
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        word=${COMP_WORDS[i]}
        if [[ $word == = ]]; then
            continue
        elif [[ -n $option ]]; then
            option=
        elif [[ $word == -- ]]; then
            return
        elif [[ $word == -* ]]; then
            case $word in
            @VALUED@) option=$word ;;
            esac
        else
            case $command/$word in
@COMMANDS@            esac
        fi
    done
    if [[ $current == = ]]; then
        current=
    fi
)";

constexpr const char* file_names = R"(compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -@KIND@ -- "$current") ;;
)";

void replace(std::string& text, const std::string& what, const std::string& with) {
    text.replace(text.find(what), what.size(), with);
}

std::string command_cases(const CommandInfo& program) {
    std::string cases;
    for (const CommandInfo* command : all_commands(program)) {
        for (const CommandInfo& below : command->commands) {
            cases += "            " + shell_quoted(command->path + "/" + below.name) +
                     ") command=" + shell_quoted(below.path) + " ;;\n";
        }
    }
    return cases;
}

std::string word_list(const std::vector<std::string>& words) {
    return "mapfile -t COMPREPLY < <(compgen -W " + shell_quoted(joined(words, " ")) +
           " -- \"$current\") ;;\n";
}

/// The case of one option, for its value. Options of the program are valid in every command.
std::string value_case(const CommandInfo& command, const OptionInfo& option) {
    const std::string pattern = (command.path.empty() ? "*" : shell_quoted(command.path)) + ":" +
                                option.name + ")\n            ";
    if (option.is_file() || option.is_directory()) {
        std::string names = file_names;
        replace(names, "@KIND@", option.is_file() ? "f" : "d");
        return "        " + pattern + names;
    }
    return option.choices.empty() ? "" : "        " + pattern + word_list(option.choices);
}

std::string word_case(const CommandInfo& program, const CommandInfo& command) {
    auto options = command.option_names();
    if (&command != &program) {
        for (const std::string& name : program.option_names()) {
            if (name != "--help") {
                options.push_back(name);
            }
        }
    }
    auto words = command.command_names();
    for (const OptionInfo& argument : command.arguments) {
        words.insert(words.end(), argument.choices.begin(), argument.choices.end());
    }
    const std::string indent = "        ";
    return indent + shell_quoted(command.path + ":-") + ") " + word_list(options) +
           (words.empty() ? ""
                          : indent + shell_quoted(command.path + ":") + ") " + word_list(words));
}

} // namespace

std::string bash_completion(const CommandInfo& program) {
    const std::string name = program.name;
    std::string before = words_before_cursor;
    const auto valued = options_with_value(program);
    replace(before, "@VALUED@", valued.empty() ? "''" : joined(valued, " | "));
    replace(before, "@COMMANDS@", command_cases(program));
    std::string values;
    std::string words;
    for (const CommandInfo* command : all_commands(program)) {
        for (const OptionInfo& option : command->options) {
            values += value_case(*command, option);
        }
        words += word_case(program, *command);
    }
    return "# Completes " + name + " in bash. Made from its options.\n_" + name + "() {" + before +
           "    if [[ -n $option ]]; then\n        case $command:$option in\n" + values +
           "        esac\n        return\n    fi\n    local kind=\n"
           "    if [[ $current == -* ]]; then\n        kind=-\n    fi\n"
           "    case $command:$kind in\n" +
           words + "    esac\n}\ncomplete -F _" + name + " " + name + "\n";
}

} // namespace sessionq::tools

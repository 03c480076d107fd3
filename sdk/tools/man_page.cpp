// SPDX-License-Identifier: MIT
#include "tools/man_page.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace sessionq::tools {
namespace {

/// Text that troff prints as it is.
std::string plain(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
        case '\\': result += "\\e"; break;
        case '-': result += "\\-"; break;
        case '\'': result += "\\(aq"; break;
        case '"': result += "\\(dq"; break;
        case '`': result += "\\(ga"; break;
        case '^': result += "\\(ha"; break;
        case '~': result += "\\(ti"; break;
        default: result += c;
        }
    }
    return result.starts_with('.') ? "\\&" + result : result;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }

std::string italic(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

std::string capitals(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string argument(const OptionInfo& info) {
    const std::string text = italic(info.name) + (info.repeats ? "..." : "");
    return info.required ? text : "[" + text + "]";
}

std::string full_name(const CommandInfo& program, const CommandInfo& command) {
    return program.name + (command.path.empty() ? "" : " " + command.path);
}

std::string synopsis(const CommandInfo& program, const CommandInfo& command) {
    std::string text = ".B " + plain(full_name(program, command)) + "\n";
    for (const OptionInfo& option : command.options) {
        if (option.required) {
            text += bold(option.name) + " " + italic(option.value) + "\n";
        }
    }
    text += "[" + italic("OPTIONS") + "]\n";
    for (const OptionInfo& info : command.arguments) {
        text += argument(info) + "\n";
    }
    return text;
}

std::string option_list(const CommandInfo& command) {
    std::string text;
    for (const OptionInfo& info : command.arguments) {
        text += ".TP\n" + italic(info.name) + "\n" + plain(info.help) + "\n";
    }
    for (const OptionInfo& option : command.options) {
        text += ".TP\n" + bold(option.name) +
                (option.value.empty() ? "" : " " + italic(option.value)) + "\n" +
                plain(option.help) + "\n";
    }
    return text;
}

/// `--help` is with the options of the program.
CommandInfo without_help(CommandInfo command) {
    std::erase_if(command.options, [](const OptionInfo& each) { return each.name == "--help"; });
    return command;
}

constexpr std::size_t longest_title = 24; // longer lines that end with ':' are text

/// The sections of a footer. Its indented lines keep their form.
std::string sections(const std::string& footer) {
    std::istringstream lines{footer};
    std::string text;
    bool keeps_form = false;
    const auto keep_form = [&](bool wanted) {
        if (wanted != keeps_form) {
            text += wanted ? ".PP\n.nf\n" : ".fi\n";
            keeps_form = wanted;
        }
    };
    for (std::string line; std::getline(lines, line);) {
        const bool is_indented = line.starts_with("  ");
        keep_form(is_indented);
        if (!is_indented && line.size() <= longest_title && line.ends_with(':')) {
            text += ".SH " + plain(capitals(line.substr(0, line.size() - 1))) + "\n";
        } else if (line.empty()) {
            text += ".PP\n";
        } else {
            text += plain(line) + "\n";
        }
    }
    keep_form(false);
    return text;
}

/// No paragraph may be empty or follow a heading: groff warns of both.
std::string without_empty_paragraphs(const std::string& page) {
    std::istringstream lines{page};
    std::string text;
    std::string last;
    bool paragraph = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == ".PP") {
            paragraph = true;
            continue;
        }
        const bool is_heading = line.starts_with(".SH") || line.starts_with(".SS");
        if (paragraph && !is_heading && !last.starts_with(".SH") && !last.starts_with(".SS")) {
            text += ".PP\n";
        }
        paragraph = false;
        text += line + "\n";
        last = line;
    }
    return text;
}

} // namespace

std::string man_page(const CommandInfo& program) {
    std::string page = ".TH " + plain(capitals(program.name)) + " 1 \"\" " + plain(program.name) +
                       "\n.SH NAME\n" + plain(program.name) + " \\- " + plain(brief(program.help)) +
                       "\n.SH SYNOPSIS\n" +
                       (program.commands.empty() ? synopsis(program, program) : "");
    const auto commands = all_commands(program);
    for (const CommandInfo* command : commands) {
        if (command != &program && command->commands.empty()) {
            page += synopsis(program, *command) + ".br\n";
        }
    }
    page += ".SH DESCRIPTION\n" + plain(program.help) + "\n.SH OPTIONS\n" + option_list(program);
    if (!program.commands.empty()) {
        page += ".SH COMMANDS\n";
    }
    std::string footers = sections(program.footer);
    for (const CommandInfo* command : commands) {
        if (command != &program && command->commands.empty()) {
            page += ".SS " + plain(full_name(program, *command)) + "\n" + plain(command->help) +
                    "\n" + option_list(without_help(*command));
        }
        footers += command != &program ? sections(command->footer) : "";
    }
    return without_empty_paragraphs(page + footers);
}

} // namespace sessionq::tools

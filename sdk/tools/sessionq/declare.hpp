// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/sessionq/options.hpp"

/// The description of the commands, a family a file. Help, completions and man page come from it.
namespace sessionq::cli {

void declare_sending(CLI::App& app, CommandLine& line);
void declare_receiving(CLI::App& app, CommandLine& line);
void declare_browsing(CLI::App& app, CommandLine& line);
void declare_state(CLI::App& app, CommandLine& line);
void declare_dead_letters(CLI::App& app, CommandLine& line);
void declare_doctor(CLI::App& app, CommandLine& line);
void declare_live(CLI::App& app, CommandLine& line);

/// Adds a command that becomes the one of `line` if it is given. The options live as long as `app`.
template <typename Options>
CLI::App& declare(CLI::App& app, CommandLine& line, const char* name, const char* help,
                  const std::shared_ptr<Options>& options) {
    CLI::App* command = app.add_subcommand(name, help);
    command->fallthrough(); // the program's options are valid behind the command too
    command->callback([&line, options] { line.command = *options; });
    return *command;
}

CLI::Option& add_entity(CLI::App& command, std::string& target, const char* help);
CLI::Option& add_session(CLI::App& command, std::optional<std::string>& target, const char* help);
CLI::Option& add_duration(CLI::App& command, const char* name,
                          const std::function<void(Duration)>& set, Duration longest,
                          const char* help);

CLI::Option& add_time(CLI::App& command, const char* name, const std::function<void(WallTime)>& set,
                      const char* help);

/// A time, or how long ago it was.
CLI::Option& add_time_or_age(CLI::App& command, const char* name,
                             const std::function<void(TimeOrAge)>& set, Duration longest,
                             const char* help);

/// A number of messages.
CLI::Option& add_count(CLI::App& command, const char* name,
                       const std::function<void(std::uint32_t)>& set, const char* help);

/// Throws UsageError unless the text is one of the choices, which all have a value.
[[noreturn]] void refuse_choice(const std::string& option, const std::string& text,
                                const std::vector<std::string>& choices);

/// An option with one of a few words for its value.
template <typename Value>
CLI::Option& add_choice(CLI::App& command, const char* name, Value& target,
                        const std::vector<std::pair<std::string, Value>>& choices,
                        const char* help) {
    std::vector<std::string> words;
    for (const auto& [word, value] : choices) {
        words.push_back(word);
    }
    const auto choose = [name = std::string{name}, &target, choices,
                         words](const std::string& text) {
        for (const auto& [word, value] : choices) {
            if (word == text) {
                target = value;
                return;
            }
        }
        refuse_choice(name, text, words);
    };
    return *command.add_option_function<std::string>(name, choose, help)
                ->type_name(CLI::detail::join(words, "|"));
}

/// Positive sequence numbers: an option that may be given again, or the rest of the arguments.
CLI::Option& add_numbers(CLI::App& command, const char* name, std::vector<std::int64_t>& target,
                         const char* help);

} // namespace sessionq::cli

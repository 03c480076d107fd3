// SPDX-License-Identifier: MIT
#include "tools/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <sessionq/version.hpp>

#include "tools/command_tree.hpp"
#include "tools/nearest_word.hpp"
#include "tools/wrapped_text.hpp"

namespace sessionq::tools {
namespace {

/// CLI11 reads "[1,2]" as a list of two texts, and it may look for options behind "--". It reads a
/// word that begins with this character as one text.
constexpr char shield = '\x01';

bool needs_shield(const std::string& text) {
    return text.starts_with('[') || text.starts_with(shield);
}

std::string unshielded(std::string text) {
    if (text.starts_with(shield)) {
        text.erase(text.begin());
    }
    return text;
}

std::vector<CLI::App*> commands_of(CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

void unshield_options(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        option->transform(unshielded);
    }
    for (CLI::App* command : commands_of(app)) {
        unshield_options(*command);
    }
}

/// The words in the order of CLI11, which is the last first. CLI11 takes the next word for the
/// value of "--name=", so an empty one is put there.
std::vector<std::string> words_of(int count, const char* const* arguments) {
    std::vector<std::string> words;
    bool options_end = false;
    for (int i = 1; i < count; ++i) {
        std::string word = arguments[i];
        if (options_end || needs_shield(word)) {
            word.insert(word.begin(), shield);
        } else if (word == "--") {
            options_end = true;
            continue;
        } else if (word.starts_with("--") && word.find('=') == word.size() - 1) {
            word.pop_back();
            words.push_back(std::move(word));
            word.clear();
        }
        words.push_back(std::move(word));
    }
    std::ranges::reverse(words);
    return words;
}

/// The program and the commands that were given, from the outside in.
std::vector<const CLI::App*> chosen(const CLI::App& app) {
    std::vector<const CLI::App*> all{&app};
    for (auto below = app.get_subcommands(); !below.empty();
         below = all.back()->get_subcommands()) {
        all.push_back(below.front());
    }
    return all;
}

/// The name of an option, without a value.
std::string option_name(const std::string& word) {
    return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

void add_option_names(const CLI::App& command, std::vector<std::string>& names) {
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            names.push_back("--" + name);
        }
    }
}

/// The names of the options that are valid: those of the commands that were given, and of the
/// commands that may follow.
std::vector<std::string> valid_options(const CLI::App& app) {
    std::vector<std::string> names;
    const auto commands = chosen(app);
    for (const CLI::App* command : commands) {
        add_option_names(*command, names);
    }
    if (commands.size() > 1) { // the program's own commands have too many
        for (const CLI::App* below : commands_of(*commands.back())) {
            add_option_names(*below, names);
        }
    }
    return names;
}

/// The options that do not exist, each with the nearest one that does. Empty: all exist.
std::string unknown_options(const CLI::App& app) {
    const std::vector<std::string> valid = valid_options(app);
    std::string names;
    for (const std::string& word : app.remaining(true)) {
        const std::string name = option_name(word);
        if (word.starts_with('-') && std::ranges::find(valid, name) == valid.end()) {
            names +=
                (names.empty() ? "" : ", ") + name + ": no such option" + did_you_mean(name, valid);
        }
    }
    return names;
}

/// Whether a word may be repeated as an unknown command: it is no option and hardly a secret.
bool looks_like_a_command(const std::string& word) {
    constexpr std::size_t longest = 24;
    return word.size() <= longest && !word.starts_with('-') &&
           std::ranges::all_of(word,
                               [](unsigned char c) { return std::islower(c) != 0 || c == '-'; });
}

/// The error text for a missing command. Empty: none is missing.
std::string missing_command(const CLI::App& app) {
    const CLI::App& last = *chosen(app).back();
    const CommandInfo info = describe(last);
    if (info.commands.empty()) {
        return {};
    }
    const std::vector<std::string> names = info.command_names();
    const std::string where = &last == &app ? "" : last.get_name() + ": ";
    const auto words = app.remaining(true);
    if (!words.empty() && looks_like_a_command(words.front())) {
        const std::string nearest = did_you_mean(words.front(), names);
        return where + "unknown command '" + words.front() + "'" +
               (nearest.empty() ? "; expected " + CLI::detail::join(names, ", ") : nearest);
    }
    return where + (words.empty() ? "a command is missing" : "unknown command") + "; expected " +
           CLI::detail::join(names, ", ");
}

/// The help of the last command, with the names of those before it.
std::string help_of(const CLI::App& app) {
    const auto commands = chosen(app);
    std::string before;
    for (const CLI::App* command : commands) {
        if (command != commands.back()) {
            before += (before.empty() ? "" : " ") + command->get_name();
        }
    }
    constexpr std::size_t columns = 100;
    return wrapped(commands.back()->help(before), columns, app.get_formatter()->get_column_width());
}

std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
    if (std::string options = unknown_options(app); !options.empty()) {
        return options; // first: other errors repeat words that may belong to these options
    }
    const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (is_extra || dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
        if (std::string command = missing_command(app); !command.empty()) {
            return command;
        }
    }
    return is_extra ? "there are more arguments than expected" : error.what();
}

} // namespace

std::optional<std::string> parse(CLI::App& app, int count, const char* const* arguments) {
    unshield_options(app);
    std::string version = app.get_name() + " ";
    version += sessionq::version().text;
    app.set_version_flag("--version", version, "Print the version and exit");
    try {
        std::vector<std::string> words = words_of(count, arguments);
        app.parse(words);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return help_of(app);
    } catch (const CLI::CallForVersion&) {
        return version + "\n";
    } catch (const CLI::ParseError& error) {
        throw UsageError{complaint(app, error)};
    } catch (const UsageError&) {
        if (std::string options = unknown_options(app); !options.empty()) {
            throw UsageError{options}; // the value may belong to one of these
        }
        throw;
    }
}

} // namespace sessionq::tools

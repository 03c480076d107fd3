// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): theirs
class App;
}

namespace sessionq::tools {

/// An option or an argument of a command.
struct OptionInfo {
    std::string name{};  ///< "--count", or "ENTITY" for an argument
    std::string value{}; ///< the name of its value: "N". Empty: it is a flag
    std::string help{};
    std::vector<std::string> choices{}; ///< of a value like "bash|zsh|fish". Empty: any text
    bool required{false};
    bool repeats{false};

    [[nodiscard]] bool is_file() const { return value == "FILE"; }
    [[nodiscard]] bool is_directory() const { return value == "DIR"; }
};

/// A program or a command of it, as help, completions and man page show it.
struct CommandInfo {
    std::string name{};
    std::string path{}; ///< "state set". Empty: the program itself
    std::string help{};
    std::string footer{}; ///< sections of text: a short title that ends with ':', then lines
    std::vector<OptionInfo> options{};
    std::vector<OptionInfo> arguments{};
    std::vector<CommandInfo> commands{};

    [[nodiscard]] std::vector<std::string> option_names() const;
    [[nodiscard]] std::vector<std::string> command_names() const;
};

/// Reads the description of a program. This is the only source of its completions and man page.
[[nodiscard]] CommandInfo describe(const CLI::App& app);

/// The first sentence of a help text, without its full stop.
[[nodiscard]] std::string brief(const std::string& help);

/// All commands below `root`, and `root` itself, from the outside in.
[[nodiscard]] std::vector<const CommandInfo*> all_commands(const CommandInfo& root);

} // namespace sessionq::tools

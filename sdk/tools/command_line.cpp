#include "tools/command_line.hpp"

#include <CLI/CLI.hpp>

namespace sessionq::tools {
namespace {

// The names of the options that do not exist, without their values.
std::string unknown_options(const CLI::App& app) {
    std::string names;
    for (const std::string& word : app.remaining(true)) {
        if (word.starts_with('-')) {
            names += (names.empty() ? "" : ", ") + word.substr(0, word.find('='));
        }
    }
    return names;
}

std::string help_of(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app.help() : chosen.back()->help();
}

} // namespace

std::optional<std::string> parse(CLI::App& app, int count, const char* const* arguments) {
    try {
        app.parse(count, arguments);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return help_of(app);
    } catch (const CLI::ExtrasError&) {
        const std::string names = unknown_options(app);
        throw UsageError{names.empty() ? "there are more arguments than expected"
                                       : names + ": no such option"};
    } catch (const CLI::ParseError& error) {
        throw UsageError{error.what()};
    }
}

} // namespace sessionq::tools

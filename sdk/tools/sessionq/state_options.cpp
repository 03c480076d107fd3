// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"

namespace sessionq::cli {
namespace {

constexpr const char* entity_with_sessions = "Queue or TOPIC/subscriptions/NAME, with sessions";

template <typename Options>
CLI::App& declare_one(CLI::App& state, CommandLine& line, const char* name, const char* help,
                      const std::shared_ptr<Options>& options) {
    CLI::App& command = declare(state, line, name, help, options);
    add_entity(command, options->entity, entity_with_sessions);
    command.add_option("--session", options->session, "Session")->type_name("ID")->required();
    return command;
}

} // namespace

void declare_state(CLI::App& app, CommandLine& line) {
    CLI::App* state = app.add_subcommand("state", "Prints or changes the state of a session");
    state->require_subcommand(1);
    state->fallthrough();

    declare_one(*state, line, "get", "Prints the state of a session. Prints nothing without one",
                std::make_shared<GetStateOptions>());

    const auto set = std::make_shared<SetStateOptions>();
    CLI::App& set_command = declare_one(
        *state, line, "set",
        "Replaces the state of a session with TEXT, or with all bytes of the input", set);
    CLI::Option* text = set_command.add_option("TEXT", set->text, "The new state");
    set_command.add_option("--file", set->file, "Input. '-' is standard input (-)")
        ->type_name("FILE")
        ->excludes(text);

    declare_one(*state, line, "clear", "Removes the state of a session",
                std::make_shared<ClearStateOptions>());
}

} // namespace sessionq::cli

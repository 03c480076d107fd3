// SPDX-License-Identifier: MIT
#include "tools/sessionq/options.hpp"

#include <sessionq/error.hpp>

#include "tools/command_tree.hpp"
#include "tools/completion.hpp"
#include "tools/man_page.hpp"
#include "tools/sessionq/declare.hpp"

namespace sessionq::cli {
namespace {

constexpr const char* footer = R"(Output:
Messages are printed as JSON, one object a line (see 'sessionq send --help'). With --json all other
results are JSON too. Output is valid JSON whatever the bytes of a message: control characters are
escaped, and bytes that are not UTF-8 are in a member NAME_base64, in base64. What is for people
goes to standard error.

Exit status:
  0     done, also if there was nothing to do
  1     the broker or the machine failed; what was done before is reported
  2     a mistake in the command line, the connection string or the input
  141   (SIGPIPE) the reader of the output went away

Environment:
  SESSIONQ_CONNECTION   the connection string, if --connection is not given
  HTTPS_PROXY, NO_PROXY the proxy and hosts without it, with --proxy environment only

Examples:
  sessionq send orders --session ada placed paid
  sessionq send orders --input json --file orders.jsonl
  sessionq receive orders --session ada --count 1
  sessionq peek 'orders/$DeadLetterQueue'
)";

/// A URL or "environment".
std::optional<HttpProxy> parse_proxy(const std::string& text) {
    try {
        return text == "environment" ? HttpProxy::from_environment() : HttpProxy::parse(text);
    } catch (const Error& error) {
        throw UsageError{"--proxy: " + error.failure().detail};
    }
}

void declare_shared(CLI::App& app, Shared& shared) {
    app.add_option("--connection", shared.connection,
                   "Connection string or amqp:// URL. Default: the environment variable "
                   "SESSIONQ_CONNECTION, which keeps the key off the command line")
        ->type_name("STRING");
    app.add_option("--ca-file", shared.ca_file,
                   "PEM file of certificates to trust over TLS (those of the system)")
        ->type_name("FILE");
    app.add_option_function<std::string>(
           "--proxy", [&shared](const std::string& text) { shared.proxy = parse_proxy(text); },
           "HTTP proxy to the broker: http://[USER[:PASSWORD]@]HOST[:PORT], or 'environment' for "
           "what HTTPS_PROXY and NO_PROXY say, which keeps the password off the command line. "
           "Default: none, whatever the environment says")
        ->type_name("URL");
    app.add_flag("--json", shared.json, "Print all results as JSON, one object a line");
}

/// The commands that describe the program.
void declare_texts(CLI::App& app, CommandLine& line) {
    CLI::App* completion = app.add_subcommand(
        "completion", "Prints a script that completes command lines of sessionq in a shell");
    completion->fallthrough();
    using Script = std::string (*)(const tools::CommandInfo&);
    const auto script = std::make_shared<Script>();
    add_choice<Script>(*completion, "SHELL", *script,
                       {{"bash", tools::bash_completion},
                        {"zsh", tools::zsh_completion},
                        {"fish", tools::fish_completion}},
                       "The shell")
        .required();
    completion->callback(
        [&app, &line, script] { line.command = Text{(*script)(tools::describe(app))}; });
    CLI::App* man = app.add_subcommand("man", "Prints the manual page, for 'man -l -'");
    man->fallthrough();
    man->callback([&app, &line] { line.command = Text{tools::man_page(tools::describe(app))}; });
}

bool asks_processor_alone(const Command& command) {
    const auto* const doctor = std::get_if<DoctorOptions>(&command);
    return doctor != nullptr && !doctor->processor.empty() && doctor->entity.empty();
}

void check(const CommandLine& line) {
    const bool needs_broker = !std::holds_alternative<Text>(line.command) &&
                              !std::holds_alternative<TopOptions>(line.command) &&
                              !asks_processor_alone(line.command);
    if (needs_broker && line.shared.connection.empty()) {
        throw UsageError{"--connection: missing; set it or SESSIONQ_CONNECTION"};
    }
}

} // namespace

CommandLine parse_command_line(int count, const char* const* arguments,
                               const std::string& environment) {
    CommandLine line;
    line.shared.connection = environment;
    CLI::App app{"Sends, receives and shows messages of entities with sessions. It works with "
                 "Azure Service Bus, sessionqd, ActiveMQ Artemis and Qpid Broker-J.",
                 "sessionq"};
    app.require_subcommand(1);
    declare_shared(app, line.shared);
    declare_sending(app, line);
    declare_receiving(app, line);
    declare_browsing(app, line);
    declare_dead_letters(app, line);
    declare_state(app, line);
    declare_doctor(app, line);
    declare_live(app, line);
    declare_texts(app, line);
    app.footer(footer); // last: commands made later would inherit it
    if (auto help = tools::parse(app, count, arguments)) {
        line.command = Text{*std::move(help)};
    }
    check(line);
    return line;
}

} // namespace sessionq::cli

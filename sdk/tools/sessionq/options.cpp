#include "tools/sessionq/options.hpp"

#include <charconv>

#include <CLI/CLI.hpp>

namespace sessionq::cli {
namespace {

Duration parse_duration(const std::string& option, const std::string& text) {
    double amount = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
    const double factor = unit == "ms"                  ? 1e6
                          : unit == "s"                 ? 1e9
                          : unit == "m"                 ? 60e9
                          : unit.empty() && amount == 0 ? 1
                                                        : 0;
    constexpr double day = 86'400e9;
    if (error != std::errc{} || !(amount >= 0) || factor == 0 || amount * factor > day) {
        throw UsageError{option + ": '" + text +
                         "' is not a duration of at most a day; for example 200ms, 1.5s or 0"};
    }
    return Duration{static_cast<Duration::rep>(amount * factor)};
}

void add_duration(CLI::App& app, const std::string& name, Duration& target,
                  const std::string& help) {
    app.add_option_function<std::string>(
           name, [name, &target](const std::string& text) { target = parse_duration(name, text); },
           help)
        ->type_name("DURATION");
}

} // namespace

ParsedCommandLine parse_command_line(int count, const char* const* arguments,
                                     const std::string& environment) {
    ParsedCommandLine parsed;
    Options& options = parsed.options;
    options.connection = environment;
    CLI::App app{
        "Sends, receives and shows messages of entities with sessions. Prints each message "
        "as one line of JSON.",
        "sessionq"};
    app.require_subcommand(1);
    app.add_option("--connection", options.connection,
                   "Connection string or amqp:// URL. Default: the environment variable "
                   "SESSIONQ_CONNECTION, "
                   "which keeps the key off the command line")
        ->type_name("STRING");
    app.add_option("--ca-file", options.ca_file,
                   "PEM file of certificates to trust over TLS (those of the system)")
        ->type_name("FILE");
    const auto command = [&](Command which, const char* name, const char* help) {
        CLI::App* made = app.add_subcommand(name, help);
        made->add_option("entity", options.entity,
                         "Queue, TOPIC/subscriptions/NAME, or either with /$DeadLetterQueue")
            ->required();
        made->callback([&options, which] { options.command = which; });
        return made;
    };
    const auto add_session = [&](CLI::App& to, const char* help) {
        return to.add_option("--session", options.session, help)->type_name("ID");
    };

    CLI::App* send = command(Command::send, "send",
                             "Sends each BODY, or each line of standard input, as a message");
    add_session(*send, "Session of the messages");
    send->add_option("bodies", options.bodies, "Texts to send")->type_name("BODY");

    CLI::App* receive =
        command(Command::receive, "receive",
                "Prints messages and completes them: those of one session, or of an "
                "entity without sessions, such as a dead-letter queue");
    add_session(*receive, "Session to receive (the next that has messages)");
    receive->add_option("--count", options.count, "Most messages to print (all)")->type_name("N");
    add_duration(*receive, "--wait", options.wait,
                 "How long to wait for a session, and for each message (5s)");

    CLI::App* consume =
        command(Command::consume, "consume",
                "Runs a processor that prints and completes messages, until SIGINT or SIGTERM");
    consume
        ->add_option("--concurrent-sessions", options.concurrent_sessions,
                     "Sessions held at once (8)")
        ->type_name("N");
    add_duration(*consume, "--idle-timeout", options.idle_timeout,
                 "Idle time before the processor leaves a session (1s)");

    CLI::App* peek = command(Command::peek, "peek", "Prints messages without receiving them");
    add_session(*peek, "Session to show (all)");
    peek->add_option("--from", options.from, "Sequence number to begin with (0)")
        ->type_name("NUMBER")
        ->check(CLI::NonNegativeNumber);
    peek->add_option("--count", options.count, "Most messages to print (all)")->type_name("N");
    peek->add_flag("--follow", options.follows,
                   "Then print messages as they come, until --count, SIGINT or SIGTERM");

    command(Command::sessions, "sessions",
            "Prints the ids of sessions that have messages or state");

    CLI::App* state = command(Command::state, "state", "Prints or changes the state of a session");
    add_session(*state, "Session")->required();
    CLI::Option* set =
        state->add_option("--set", options.new_state, "The new state")->type_name("TEXT");
    state->add_flag("--clear", options.clears_state, "Remove the state")->excludes(set);

    if (auto help = tools::parse(app, count, arguments)) {
        parsed.help = *std::move(help);
        return parsed;
    }
    if (options.connection.empty()) {
        throw UsageError{"--connection: missing; set it or SESSIONQ_CONNECTION"};
    }
    return parsed;
}

} // namespace sessionq::cli

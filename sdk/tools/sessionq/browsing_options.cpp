// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"

namespace sessionq::cli {
namespace {

constexpr const char* any_entity =
    "Queue, TOPIC/subscriptions/NAME, or either with /$DeadLetterQueue";

} // namespace

void declare_browsing(CLI::App& app, CommandLine& line) {
    const auto peek = std::make_shared<PeekOptions>();
    CLI::App& peek_command =
        declare(app, line, "peek", "Prints messages without receiving them", peek);
    add_entity(peek_command, peek->entity, any_entity);
    add_session(peek_command, peek->session, "Session to show (all)");
    const auto set_from = [peek](const std::string& text) {
        if (!CLI::detail::lexical_cast(text, peek->from) || peek->from < 0) {
            throw UsageError{"--from: '" + text + "' is not a sequence number"};
        }
    };
    peek_command
        .add_option_function<std::string>("--from", set_from, "Sequence number to begin with (0)")
        ->type_name("NUMBER");
    add_count(
        peek_command, "--count", [peek](std::uint32_t count) { peek->count = count; },
        "Most messages to print (all)");
    peek_command.add_flag("--follow", peek->follows,
                          "Then print messages as they come, until --count, SIGINT or SIGTERM");

    const auto sessions = std::make_shared<SessionsOptions>();
    CLI::App& sessions_command = declare(app, line, "sessions",
                                         "Prints the ids of sessions that have messages or state, "
                                         "one a line. Control characters are "
                                         "shown as '?'; --json has the ids as they are",
                                         sessions);
    add_entity(sessions_command, sessions->entity, any_entity);
    add_time(
        sessions_command, "--state-set-after",
        [sessions](WallTime time) { sessions->state_set_after = time; },
        "Only sessions whose state was set after this time");

    const auto counts = std::make_shared<CountsOptions>();
    CLI::App& counts_command =
        declare(app, line, "counts",
                "Counts the messages of an entity and of its dead-letter queue, and its sessions. "
                "Brokers tell no counts over AMQP, so it reads all messages without receiving "
                "them. What a broker does not show is '-', or null in JSON. If it shows "
                "nothing, the exit status is 1",
                counts);
    add_entity(counts_command, counts->entity, any_entity);
}

} // namespace sessionq::cli

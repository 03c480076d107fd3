// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration longest_wait = std::chrono::hours{24};
constexpr const char* any_queue =
    "Queue, TOPIC/subscriptions/NAME, or either with /$DeadLetterQueue";

void add_settling(CLI::App& command, ReceiveOptions& options) {
    add_choice<Settling>(command, "--settle", options.settling,
                         {{"complete", Settling::complete},
                          {"abandon", Settling::abandon},
                          {"release", Settling::release},
                          {"dead-letter", Settling::dead_letter}},
                         "What to do with a message when it is printed. abandon counts the "
                         "delivery, release does not. Both are done at the end, because the "
                         "messages come again (complete)");
    command.add_option("--reason", options.reason, "Reason, with --settle dead-letter")
        ->type_name("TEXT");
    command
        .add_option("--description", options.description, "Description, with --settle dead-letter")
        ->type_name("TEXT");
}

void add_wait(CLI::App& command, Duration& target) {
    add_duration(
        command, "--wait", [&target](Duration time) { target = time; }, longest_wait,
        "How long to wait for a session, and for each message (5s)");
}

} // namespace

void declare_receiving(CLI::App& app, CommandLine& line) {
    const auto receive = std::make_shared<ReceiveOptions>();
    CLI::App& receive_command =
        declare(app, line, "receive",
                "Prints messages and completes them: those of one session, or of an entity without "
                "sessions, such as a dead-letter queue. A message is settled when its line is "
                "written, so none is lost if the reader goes away",
                receive);
    add_entity(receive_command, receive->entity, any_queue);
    add_session(receive_command, receive->session,
                "Session to receive (the next that has messages)");
    add_count(
        receive_command, "--count", [receive](std::uint32_t count) { receive->count = count; },
        "Most messages to print (all)");
    add_wait(receive_command, receive->wait);
    add_numbers(
        receive_command, "--deferred", receive->deferred,
        "Receive the deferred message with this sequence number. It needs --session, if the "
        "entity has sessions. Repeatable");
    add_settling(receive_command, *receive);

    const auto defer = std::make_shared<ReceiveOptions>();
    defer->settling = Settling::defer;
    defer->count = 1;
    CLI::App& defer_command = declare(
        app, line, "defer",
        "Sets aside the next messages and prints them: of a session, or of an entity without "
        "sessions. 'receive --deferred' "
        "receives them by their sequence numbers",
        defer);
    add_entity(defer_command, defer->entity, any_queue);
    add_session(defer_command, defer->session, "Session (the next that has messages)");
    add_count(
        defer_command, "--count", [defer](std::uint32_t count) { defer->count = count; },
        "Most messages to defer. 0: all (1)");
    add_wait(defer_command, defer->wait);

    const auto consume = std::make_shared<ConsumeOptions>();
    CLI::App& consume_command = declare(
        app, line, "consume",
        "Runs a processor that prints and completes messages, until SIGINT or SIGTERM: those of "
        "many sessions, each in order, or of an entity without sessions",
        consume);
    add_entity(consume_command, consume->entity, any_queue);
    consume_command
        .add_option("--concurrent-sessions", consume->concurrent_sessions,
                    "Sessions held at once, or messages of an entity without sessions (8)")
        ->type_name("N");
    add_duration(
        consume_command, "--idle-timeout",
        [&target = consume->idle_timeout](Duration time) { target = time; }, longest_wait,
        "Idle time before the processor leaves a session (1s)");
    consume_command
        .add_option("--describe-socket", consume->describe_socket,
                    "Opens a local socket there that 'sessionq top' looks at")
        ->type_name("PATH");

    const auto purge = std::make_shared<PurgeOptions>();
    CLI::App& purge_command = declare(
        app, line, "purge",
        "Removes all messages of an entity, or those of one session, for good. Deferred and "
        "scheduled messages, messages that a consumer has received, and states of sessions "
        "stay. Where the broker cannot delete messages, they are received: sessions that a "
        "consumer holds stay too, and messages that arrive meanwhile are removed too",
        purge);
    add_entity(purge_command, purge->entity, any_queue);
    add_session(purge_command, purge->session, "Session to purge (all)");
    add_time_or_age(
        purge_command, "--before", [purge](TimeOrAge before) { purge->before = before; },
        std::chrono::hours{24 * 3650},
        "Only messages that were enqueued before this time, or longer ago than this, by this "
        "machine's clock (all). It needs a broker that can delete messages");
    add_duration(
        purge_command, "--wait", [&target = purge->wait](Duration time) { target = time; },
        longest_wait,
        "How long to wait for a session, and for each message, where the broker cannot delete "
        "messages (1s)");
    const auto confirmed = std::make_shared<bool>(false);
    purge_command.add_flag("--yes", *confirmed, "Confirms. Without it nothing is removed");
    purge_command.callback([&line, purge, confirmed] {
        if (!*confirmed) {
            throw UsageError{"purge: removes messages for good; confirm with --yes"};
        }
        line.command = *purge;
    });
}

} // namespace sessionq::cli

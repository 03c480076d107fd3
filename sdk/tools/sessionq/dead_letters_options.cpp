// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration longest_age = std::chrono::hours{24 * 3650};
constexpr Duration longest_redrive_wait = std::chrono::hours{24};

void add_sub_queue(CLI::App& command, DeadLetters& letters) {
    add_entity(command, letters.entity, "Queue or TOPIC/subscriptions/NAME");
    command.add_flag("--transfer", letters.transfer,
                     "Those that the broker could not forward (transfer dead letters)");
}

void add_filter(CLI::App& command, DeadLetterFilter& filter) {
    add_session(command, filter.session_id, "Those of this session (all)");
    command.add_option("--reason", filter.reason, "Those with this reason (all)")
        ->type_name("TEXT");
    add_duration(
        command, "--older-than", [&filter](Duration age) { filter.older_than = age; }, longest_age,
        "Those that were enqueued longer ago, by this machine's clock (all)");
}

void declare_redrive(CLI::App& group, CommandLine& line) {
    const auto options = std::make_shared<RedriveDeadLettersOptions>();
    CLI::App& command =
        declare(group, line, "redrive",
                "Sends dead letters back, each session's in order, behind the messages that are "
                "there. Their sessions are held meanwhile. If it ends early, run it again: nothing "
                "is lost. Nothing is sent twice if the queue detects duplicates, or if no consumer "
                "took a copy in between. Exit status 1: some are left",
                options);
    RedriveOptions& redrive = options->redrive;
    add_entity(command, options->entity, "Queue or TOPIC/subscriptions/NAME");
    add_filter(command, redrive.filter);
    add_count(
        command, "--limit", [&redrive](std::uint32_t count) { redrive.max_messages = count; },
        "Most dead letters to send, the oldest first (all)");
    add_duration(
        command, "--wait", [&redrive](Duration wait) { redrive.max_wait = wait; },
        longest_redrive_wait,
        "How long to wait for dead letters and sessions that another consumer holds (2m)");
    command.add_flag_callback(
        "--no-hold", [&redrive] { redrive.hold_sessions = false; },
        "Sends also to sessions that consumers hold");
    command.add_flag("--through-topic", redrive.through_topic,
                     "Needed for a subscription: other subscriptions of its topic that select "
                     "these messages get them again");
    command.add_flag("--dry-run", options->count_only, "Counts what it would send");
}

} // namespace

void declare_dead_letters(CLI::App& app, CommandLine& line) {
    CLI::App* group =
        app.add_subcommand("dead-letters", "Shows, sends back or removes dead letters");
    group->require_subcommand(1);
    group->fallthrough();

    const auto list = std::make_shared<ListDeadLettersOptions>();
    CLI::App& list_command =
        declare(*group, line, "list",
                "Prints what is known of each dead letter, without its properties and body", list);
    add_sub_queue(list_command, list->letters);
    add_filter(list_command, list->filter);
    add_count(
        list_command, "--count", [list](std::uint32_t count) { list->count = count; },
        "Most messages to print (all)");

    const auto show = std::make_shared<ShowDeadLettersOptions>();
    CLI::App& show_command = declare(*group, line, "show", "Prints dead letters in full", show);
    add_sub_queue(show_command, show->letters);
    add_numbers(show_command, "NUMBER", show->numbers, "Sequence numbers, as 'list' prints them")
        .required();

    declare_redrive(*group, line);

    const auto purge = std::make_shared<PurgeDeadLettersOptions>();
    CLI::App& purge_command =
        declare(*group, line, "purge",
                "Removes dead letters for good. With a filter, those that it leaves are held "
                "meanwhile, and go back uncounted",
                purge);
    add_sub_queue(purge_command, purge->letters);
    add_filter(purge_command, purge->filter);
    const auto confirmed = std::make_shared<bool>(false);
    purge_command.add_flag("--yes", *confirmed, "Confirms. Without it nothing is removed");
    purge_command.callback([&line, purge, confirmed] {
        if (!*confirmed) {
            throw UsageError{"dead-letters purge: removes messages for good; confirm with --yes"};
        }
        line.command = *purge;
    });
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include "tools/sessionq/declare.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration longest_age = std::chrono::hours{24 * 3650};

void add_sub_queue(CLI::App& command, DeadLetters& letters) {
    add_entity(command, letters.entity, "Queue or TOPIC/subscriptions/NAME");
    command.add_flag("--transfer", letters.transfer,
                     "Those that the broker could not forward (transfer dead letters)");
}

void add_filter(CLI::App& command, DeadLetterFilter& filter) {
    add_session(command, filter.session, "Those of this session (all)");
    command.add_option("--reason", filter.reason, "Those with this reason (all)")
        ->type_name("TEXT");
    add_duration(
        command, "--older-than", [&filter](Duration age) { filter.older_than = age; }, longest_age,
        "Those that were enqueued longer ago, by this machine's clock (all)");
}

} // namespace

void declare_dead_letters(CLI::App& app, CommandLine& line) {
    CLI::App* group = app.add_subcommand("dead-letters", "Shows or removes dead letters");
    group->require_subcommand(1);
    group->fallthrough();

    const auto list = std::make_shared<ListDeadLettersOptions>();
    CLI::App& list_command =
        declare(*group, line, "list",
                "Prints what is known of each dead letter, without its properties and body", list);
    add_sub_queue(list_command, list->letters);
    add_filter(list_command, list->filter);
    list_command.add_option("--count", list->count, "Most messages to print (all)")->type_name("N");

    const auto show = std::make_shared<ShowDeadLettersOptions>();
    CLI::App& show_command = declare(*group, line, "show", "Prints dead letters in full", show);
    add_sub_queue(show_command, show->letters);
    add_numbers(show_command, "NUMBER", show->numbers, "Sequence numbers, as 'list' prints them")
        .required();

    const auto purge = std::make_shared<PurgeDeadLettersOptions>();
    CLI::App& purge_command =
        declare(*group, line, "purge",
                "Removes dead letters for good. Those that the filter leaves are held meanwhile, "
                "and go back uncounted",
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

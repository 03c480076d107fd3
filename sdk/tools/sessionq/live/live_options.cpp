// SPDX-License-Identifier: MIT
#include <charconv>

#include "tools/sessionq/declare.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

constexpr Duration shortest_interval = std::chrono::milliseconds{100};
constexpr Duration longest_interval = std::chrono::hours{1};

constexpr const char* live_footer = R"(Live screens:
'top' and 'watch' draw a screen that is refreshed until it is left. If there is no answer, the
screen says since when and why, and goes on trying. Keys:
  tab, shift-tab    the next page, the one before
  s                 sort by the next column
  r                 reverse the order
  f or /            show only rows that contain a text; escape ends it
  p or space        pause
  arrows, page up, page down, home, end
                    scroll
  h or ?            help
  q                 quit
Session ids and other texts are shown without control characters.
)";

/// A number of seconds, or a length of time with its unit.
std::optional<Duration> parse_interval(const std::string& text) {
    const bool has_unit = text.find_first_not_of("0123456789.") != std::string::npos;
    return parse_duration(has_unit ? text : text + "s");
}

void add_live_options(CLI::App& command, LiveOptions& options) {
    const auto set_interval = [&options](const std::string& text) {
        const auto interval = parse_interval(text);
        if (!interval || *interval < shortest_interval || *interval > longest_interval) {
            throw UsageError{"--interval: '" + text + "' is not 0.1 to 3600 seconds"};
        }
        options.interval = *interval;
    };
    command
        .add_option_function<std::string>("--interval", set_interval,
                                          "Time from one look to the next, 0.1 to 3600 (1)")
        ->type_name("SECONDS");
    command.add_flag("--once", options.once,
                     "Print one look as text, or as JSON with --json, and end. It has no rates");
}

} // namespace

void declare_live(CLI::App& app, CommandLine& line) {
    const auto top = std::make_shared<TopOptions>();
    CLI::App& top_command = declare(
        app, line, "top",
        "Shows a running processor on a live screen: its health with reasons and advice, "
        "slots, sessions, rates, and how long handlers, settlements and accepts take. The "
        "processor opens a socket for it: SessionProcessorOptions::describe_socket. With --json "
        "it prints what the processor tells, one object a look",
        top);
    top_command.add_option("SOCKET", top->socket, "Path of the processor's socket")->required();
    add_live_options(top_command, top->live);
    top_command.footer(live_footer);

    const auto watch = std::make_shared<WatchOptions>();
    CLI::App& watch_command = declare(
        app, line, "watch",
        "Shows an entity on a live screen: its messages, its sessions with their counts and ages, "
        "and how many dead letters it has. It peeks and lists, and disturbs no consumer. A look "
        "reads at most the first 10,000 messages and 64 MiB, and says so. Rates come from the "
        "difference of two looks: what comes and goes in between is not seen. Brokers do not tell "
        "which sessions are locked. The key h shows the keys. With --json it prints one object a "
        "look",
        watch);
    add_entity(watch_command, watch->entity,
               "Queue, TOPIC/subscriptions/NAME, or either with /$DeadLetterQueue");
    add_live_options(watch_command, watch->live);
}

} // namespace sessionq::cli

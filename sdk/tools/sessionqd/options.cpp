// SPDX-License-Identifier: MIT
#include "tools/sessionqd/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <CLI/CLI.hpp>
#include <asio/ip/address.hpp>

#include "tools/command_tree.hpp"
#include "tools/completion.hpp"
#include "tools/man_page.hpp"
#include "tools/sessionqd/keys.hpp"
#include "tools/sessionqd/option_values.hpp"

namespace sessionq::sessionqd {
namespace {

using server::UnsupportedMembers;

OnDamage parse_on_damage(const std::string& text, const Options& options) {
    if (text != "refuse" && text != "set-aside") {
        throw UsageError{"--on-damage: '" + text + "' is not refuse or set-aside"};
    }
    if (options.data_directory.empty()) {
        throw UsageError{"--on-damage: needs --data"};
    }
    return text == "refuse" ? OnDamage::refuse : OnDamage::set_aside;
}

std::string read_file(const std::string& name) {
    constexpr std::size_t most = std::size_t{16} << 20U; // some ten thousand entities
    std::ifstream file{name, std::ios::binary};
    std::string text(most + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.empty() || file.bad()) {
        throw UsageError{"--config: cannot read '" + name + "'"};
    }
    if (text.size() > most) {
        throw UsageError{"--config: '" + name + "' has more than 16 MiB"};
    }
    return text;
}

server::Configuration read_configuration(const std::string& file,
                                         const std::vector<server::QueueEntry>& queues,
                                         server::UnsupportedMembers unsupported) {
    auto read = server::read_configuration(read_file(file), queues, unsupported);
    if (!read) {
        throw UsageError{"--config: '" + file + "': " + read.failure().detail};
    }
    return std::move(read).value();
}

server::MemoryLimits memory_limits(std::size_t all) {
    server::MemoryLimits limits;
    limits.all = all;
    limits.connection = all / 4;
    limits.batch = limits.connection / 3 * 2;
    limits.unclaimed = all / 3 * 2;
    limits.unclaimed_connection = std::min(limits.unclaimed_connection, limits.connection);
    return limits;
}

/// The largest message in KiB that the tier allows, see --tier and --max-message-size.
std::size_t message_size(const CLI::App& app, const std::string& tier, std::size_t wanted) {
    constexpr std::size_t standard = 256;
    if (tier == "standard") {
        if (app.count("--max-message-size") > 0 && wanted > standard) {
            throw UsageError{"--max-message-size: the standard tier has at most 256"};
        }
        return std::min(wanted, standard);
    }
    if (tier != "premium") {
        throw UsageError{"--tier: '" + tier + "' is not standard or premium"};
    }
    return wanted;
}

/// Lets one connection hold a message of this size, a request with it, and an answer.
void make_room_for(std::size_t message_bytes, bool memory_is_given, server::Limits& limits) {
    constexpr std::size_t mebibyte = std::size_t{1} << 20U;
    if (message_bytes <= mebibyte) {
        return;
    }
    limits.request_bytes = std::max(limits.request_bytes, message_bytes + mebibyte);
    const std::size_t connection = 6 * message_bytes;
    const std::size_t all = 4 * connection;
    server::MemoryLimits& memory = limits.memory;
    if (memory_is_given && memory.connection < connection) {
        throw UsageError{"--memory: messages of --max-message-size need " +
                         std::to_string(all / mebibyte) + " for each receive thread"};
    }
    memory.connection = std::max(memory.connection, connection);
    memory.all = std::max(memory.all, all);
}

/// Of one receive thread. The threads' connections share nothing, so that none waits for another.
std::size_t share_of(const Options& options, const char* name, std::size_t whole,
                     std::size_t least) {
    const std::size_t share = whole / options.receive_threads;
    if (share < least) {
        throw UsageError{std::string{name} + ": each of the " +
                         std::to_string(options.receive_threads) + " receive threads needs " +
                         std::to_string(least)};
    }
    return share;
}

void check(const Options& options) {
    if (options.tls_listen && options.tls_certificate_file.empty()) {
        throw UsageError{"--tls-listen: needs --tls-cert"};
    }
    if (options.tls_web_socket_listen && options.tls_certificate_file.empty()) {
        throw UsageError{"--wss-listen: needs --tls-cert"};
    }
    if (!options.tls_listen && !options.tls_web_socket_listen &&
        !options.tls_certificate_file.empty()) {
        throw UsageError{"--tls-cert: needs --tls-listen or --wss-listen"};
    }
    if (!options.tls_key_file.empty() && options.tls_certificate_file.empty()) {
        throw UsageError{"--tls-key: needs --tls-cert"};
    }
    const auto refuse_plain = [&options](const char* option, const Endpoint& endpoint,
                                         const char* instead) {
        if (!options.allow_plain_remote &&
            !asio::ip::make_address(endpoint.address).is_loopback()) {
            throw UsageError{std::string{option} + ": " + endpoint.address +
                             " accepts unencrypted connections from other machines; use " +
                             instead + " or --allow-plain-remote"};
        }
    };
    const auto refuse_well_known = [&options](const char* option,
                                              const std::optional<Endpoint>& endpoint) {
        if (endpoint && !asio::ip::make_address(endpoint->address).is_loopback() &&
            has_well_known_key(options.keys)) {
            throw UsageError{std::string{option} + ": other machines reach " + endpoint->address +
                             ", and everybody knows the key of the emulator; give keys of your own "
                             "with --key-file or SESSIONQD_KEY"};
        }
    };
    refuse_well_known("--listen", options.listen);
    refuse_well_known("--tls-listen", options.tls_listen);
    refuse_well_known("--ws-listen", options.web_socket_listen);
    refuse_well_known("--wss-listen", options.tls_web_socket_listen);
    if (options.listen) {
        refuse_plain("--listen", *options.listen, "--tls-listen");
    }
    if (options.web_socket_listen) {
        refuse_plain("--ws-listen", *options.web_socket_listen, "--wss-listen");
    }
}

/// The man page or the completion script. Empty: neither was asked for.
std::string description(const CLI::App& app, bool man_page, const std::string& shell) {
    if (man_page) {
        return tools::man_page(tools::describe(app));
    }
    if (shell.empty()) {
        return {};
    }
    const auto script = shell == "bash"   ? tools::bash_completion
                        : shell == "zsh"  ? tools::zsh_completion
                        : shell == "fish" ? tools::fish_completion
                                          : nullptr;
    if (script == nullptr) {
        throw UsageError{"--completion: '" + shell + "' is not bash, zsh or fish"};
    }
    return script(tools::describe(app));
}

} // namespace

ParsedCommandLine parse_command_line(int count, const char* const* arguments) {
    CLI::App app{"A local broker for session-based queues. It works with clients of Azure Service "
                 "Bus.",
                 "sessionqd"};
    std::string listen;
    std::string tls_listen;
    std::string web_socket_listen;
    std::string tls_web_socket_listen;
    std::string data;
    std::string on_damage;
    std::string config;
    bool strict_config = false;
    std::vector<std::string> queues;
    std::vector<std::string> keys;
    std::string key_file;
    double drain_seconds = 5;
    std::size_t memory = 0;
    std::uint64_t queue_size = server::Limits{}.queue_bytes >> 20U;
    std::string tier = "premium";
    std::size_t max_message_size = broker::QueueOptions{}.max_message_bytes >> 10U;
    ParsedCommandLine parsed;
    Options& options = parsed.options;

    app.add_option("--listen", listen,
                   "Listen here for unencrypted connections. Port 0: any free port. Default: "
                   "127.0.0.1:5672, if no other listen option is given")
        ->type_name("ADDRESS:PORT");
    app.add_option("--tls-listen", tls_listen, "Listen here for TLS connections")
        ->type_name("ADDRESS:PORT");
    app.add_option("--ws-listen", web_socket_listen,
                   "Listen here for unencrypted AMQP over WebSockets, at the path "
                   "/$servicebus/websocket")
        ->type_name("ADDRESS:PORT");
    app.add_option("--wss-listen", tls_web_socket_listen,
                   "Listen here for AMQP over WebSockets with TLS, as Azure does on port 443")
        ->type_name("ADDRESS:PORT");
    app.add_option(
           "--ws-origin", options.web_socket_origins,
           "Web pages of this origin may use the WebSockets, such as "
           "https://app.example:8443; '*': all. Repeatable. Default: no web page may. Other "
           "clients name no origin, or the daemon's own address, which is taken if it is a name "
           "over TLS, 'localhost' or a number")
        ->type_name("ORIGIN")
        ->take_all();
    app.add_option("--tls-cert", options.tls_certificate_file,
                   "PEM file of the certificate and its chain")
        ->type_name("FILE");
    app.add_option("--tls-key", options.tls_key_file, "PEM file of the certificate's key")
        ->type_name("FILE");
    app.add_flag("--allow-plain-remote", options.allow_plain_remote,
                 "Allow unencrypted connections from other machines");
    app.add_option(
           "--config", config,
           "Config.json of Microsoft's Service Bus emulator: creates its queues, topics, "
           "subscriptions and rules. Ignores Logging, and known members that are not "
           "supported with a warning. Rejects unknown members and names their path. Missing "
           "members have the emulator's defaults: time to live "
           "1 hour, locks 1 minute, 3 deliveries. SIGHUP reads it again and creates what is "
           "new. With --data the file updates its "
           "entities at each start. Rules that clients changed stay while the file's "
           "rules are the same. Entities that the file no longer has stay unchanged")
        ->type_name("FILE");
    app.add_flag("--strict-config", strict_config,
                 "Rejects members of --config that are known but not supported, such as "
                 "AutoDeleteOnIdle, MaxSizeInMegabytes or Status");
    app.add_option("--queue", queues,
                   "Create a queue. With :session, consumers receive by session. Default lock: 60 "
                   "seconds. Repeatable")
        ->type_name("NAME[:session][:lock=SECONDS]")
        ->take_all();
    app.add_option(
           "--key", keys,
           "A shared access key for clients. RIGHT is listen (receive, browse, settle, session "
           "state, rules), send (send, schedule, cancel) or manage (both); without one the key "
           "has all. With @ENTITY it is for that queue, topic or subscription and "
           "what is below it. The value ends at the first ':' or '@'. Repeatable. Others on "
           "this machine see it in the list of processes; prefer --key-file or the variable "
           "SESSIONQD_KEY. Default: RootManageSharedAccessKey=SAS_KEY_VALUE, on this "
           "machine's own addresses only")
        ->type_name("NAME=VALUE[:RIGHT]...[@ENTITY]")
        ->take_all();
    app.add_option("--key-file", key_file,
                   "File of such keys, one a line, that only its owner may use. Lines that begin "
                   "with '#' are ignored. SESSIONQD_KEY has the same form. Keys from all places "
                   "count, and each name may be given once. SIGHUP reads the file and --config "
                   "again. A key that is gone ends logins at once, and tokens within an hour")
        ->type_name("FILE");
    app.add_option("--data", data,
                   "Directory for queues and messages. Confirmed operations survive a crash. "
                   "Created if it does not exist. Default: memory only. It reserves 8 MiB of the "
                   "disk. When the disk is full, new messages, states, rules and entities are "
                   "rejected, and messages can still be received and completed. Its files are "
                   "for their owner alone")
        ->type_name("DIR");
    app.add_option("--on-damage", on_damage,
                   "What to do if data in --data is damaged: altered or missing rows, a damaged "
                   "file, or confirmed commits that are lost. refuse: do not start, and name the "
                   "first damages. set-aside: keep the damaged files as sessionq.db.damaged-N, "
                   "serve what is sound, and log what is missing. A removed message can come back "
                   "then")
        ->type_name("refuse|set-aside")
        ->default_str("refuse");
    app.add_flag("--list-entities", options.lists_entities,
                 "Print the entities in --data with their numbers of messages, also those that no "
                 "option names any more, and end. No daemon may use the directory");
    app.add_option("--delete-entity", options.deleted_entities,
                   "Delete a queue, topic or subscription in --data with its messages, and end. "
                   "TOPIC/subscriptions/NAME names a subscription. Repeatable")
        ->type_name("NAME")
        ->take_all();
    app.add_option("--receive-threads", options.receive_threads,
                   "Threads that serve connections, 1 to 256")
        ->check(CLI::Range(1, 256).description(""))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--connections", options.limits.admission.connections,
                   "Connections that are accepted, 1 to 1000000. Each receive thread takes its "
                   "share of them")
        ->check(CLI::Range(1, 1'000'000).description(""))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--connections-per-address", options.limits.admission.connections_per_address,
                   "Connections that are accepted from one address, 1 to 1000000, shared in the "
                   "same way")
        ->check(CLI::Range(1, 1'000'000).description(""))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--memory", memory,
                   "MiB kept for clients: buffers, unread answers, messages on their way, "
                   "sessions and links; not messages in queues. Receive threads share it; each "
                   "needs 16, and takes 36 by default. A quarter of its share is the most for one "
                   "connection. Beyond these bounds connections are closed with "
                   "amqp:resource-limit-exceeded. 16 to 1048576")
        ->check(CLI::Range(16, 1 << 20).description(""))
        ->type_name("MIB")
        ->default_str("36");
    app.add_option("--queue-size", queue_size,
                   "MiB that each queue and topic of --queue and --config may hold: messages, "
                   "dead-lettered ones too, states of sessions, and the ids that duplicate "
                   "detection remembers. A topic's subscriptions count, each copy. Beyond it, "
                   "sends, states, and settlements that make a message larger are refused with "
                   "amqp:resource-limit-exceeded. 0: no bound. At most 1073741824")
        ->check(CLI::Range(0, 1 << 30).description(""))
        ->type_name("MIB")
        ->capture_default_str();
    app.add_option("--tier", tier,
                   "What sessionqd stands for. standard: messages have at most 256 KiB. premium: "
                   "as --max-message-size says")
        ->type_name("standard|premium")
        ->capture_default_str();
    app.add_option("--max-message-size", max_message_size,
                   "KiB that a message of --queue and --config may have, as clients are told. "
                   "Batches have at most 1024 beside. 1 to 102400")
        ->check(CLI::Range(1, 100 << 10).description(""))
        ->type_name("KIB")
        ->capture_default_str();
    app.add_option("--drain-seconds", drain_seconds,
                   "Longest time a stop waits for clients to settle their messages, up to 3600")
        ->check(CLI::Range(0.0, 3600.0).description(""))
        ->type_name("SECONDS")
        ->capture_default_str();
    bool man_page = false;
    std::string shell;
    app.add_flag("--man-page", man_page, "Print the manual page, for 'man -l -', and end");
    app.add_option("--completion", shell,
                   "Print a script that completes these options in a shell, and end")
        ->type_name("bash|zsh|fish");
    if (auto help = tools::parse(app, count, arguments)) {
        parsed.help = *std::move(help);
        return parsed;
    }
    parsed.help = description(app, man_page, shell);
    if (!parsed.help.empty()) {
        return parsed;
    }

    if (!tls_listen.empty()) {
        options.tls_listen = parse_endpoint("--tls-listen", tls_listen);
    }
    if (!web_socket_listen.empty()) {
        options.web_socket_listen = parse_endpoint("--ws-listen", web_socket_listen);
    }
    if (!tls_web_socket_listen.empty()) {
        options.tls_web_socket_listen = parse_endpoint("--wss-listen", tls_web_socket_listen);
    }
    if (!listen.empty()) {
        options.listen = parse_endpoint("--listen", listen);
    } else if (options.tls_listen || options.web_socket_listen || options.tls_web_socket_listen) {
        options.listen.reset();
    }
    if (app.count("--data") > 0 && data.empty()) {
        throw UsageError{"--data: the directory is empty"}; // memory would lose the data
    }
    options.data_directory = data;
    for (const char* const option : {"--list-entities", "--delete-entity"}) {
        if (app.count(option) > 0 && app.count("--data") == 0) {
            throw UsageError{std::string{option} + ": needs --data"};
        }
    }
    if (app.count("--on-damage") > 0) {
        options.on_damage = parse_on_damage(on_damage, options);
    }
    for (const std::string& queue : queues) {
        options.queues.push_back(parse_queue(queue));
    }
    if (app.count("--config") > 0) {
        options.configuration = read_configuration(config, options.queues,
                                                   strict_config ? UnsupportedMembers::refuse
                                                                 : UnsupportedMembers::ignore);
    } else if (strict_config) {
        throw UsageError{"--strict-config: needs --config"};
    }
    for (const std::string& key : keys) {
        add_key(options.keys, "--key", key);
    }
    if (app.count("--key-file") > 0) {
        add_key_file(options.keys, key_file);
    }
    if (const char* const from_environment = std::getenv("SESSIONQD_KEY")) {
        add_keys(options.keys, "SESSIONQD_KEY", from_environment);
    }
    if (options.keys.empty()) {
        options.keys.emplace(well_known_key_name, well_known_key);
    }
    if (app.count("--memory") > 0) {
        options.limits.memory = memory_limits(share_of(options, "--memory", memory, 16) << 20U);
    }
    server::Limits& limits = options.limits;
    limits.admission.connections =
        share_of(options, "--connections", limits.admission.connections, 1);
    limits.admission.connections_per_address =
        share_of(options, "--connections-per-address", limits.admission.connections_per_address, 1);
    options.limits.queue_bytes = queue_size << 20U;
    const std::size_t message_bytes = message_size(app, tier, max_message_size) << 10U;
    make_room_for(message_bytes, app.count("--memory") > 0, options.limits);
    server::bound_sizes(options.queues, options.configuration, options.limits.queue_bytes,
                        message_bytes);
    options.drain_time =
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>{drain_seconds});
    check(options);
    return parsed;
}

} // namespace sessionq::sessionqd

#include "tools/sessionq/commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <limits>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <nlohmann/json.hpp>

#include <sessionq/sessionq.hpp>

#include "core/peer_words.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t at_once = 100;

/// Prints one line at a time, because several handlers print.
void write(const ReceivedMessage& message) {
    nlohmann::ordered_json line;
    line["sequence_number"] = message.sequence_number();
    if (const auto& session = message.content().session_id) {
        line["session"] = *session;
    }
    line["id"] = message.message_id();
    line["delivery_count"] = message.delivery_count();
    if (const auto& dead = message.facts().dead_letter) {
        line["dead_letter"] = {{"reason", dead->reason}, {"description", dead->description}};
    }
    line["body"] = message.text();
    static std::mutex one_at_a_time;
    const std::lock_guard lock{one_at_a_time};
    std::cout << core::escape_peer_words(
                     line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
              << std::endl; // flushed, also through a pipe
}

/// Programs get the text as it is; a terminal gets none of the characters that control it.
std::string for_output(const std::string& text) {
    return ::isatty(STDOUT_FILENO) != 0 ? core::peer_words(text, text.max_size()) : text;
}

int send(const Client& client, const Options& options) {
    Sender sender{client, options.entity};
    std::vector<Message> batch;
    std::size_t sent = 0;
    const auto add = [&](std::string body) {
        batch.push_back({.body = std::move(body), .session_id = options.session});
        ++sent;
        if (batch.size() == at_once) {
            sender.send(std::exchange(batch, {}));
        }
    };
    for (const std::string& body : options.bodies) {
        add(body);
    }
    if (options.bodies.empty()) {
        for (std::string line; std::getline(std::cin, line);) {
            add(line);
        }
    }
    sender.send(std::move(batch));
    std::cerr << sent << " sent\n";
    return 0;
}

/// `receiver` is a `SessionReceiver` or a `Receiver`.
void print_and_complete(auto& receiver, const Options& options) {
    std::size_t left = options.count != 0 ? options.count : std::numeric_limits<std::size_t>::max();
    while (left != 0) {
        auto messages = receiver.receive(std::min(left, at_once), options.wait);
        if (messages.empty()) {
            break;
        }
        left -= messages.size();
        for (LockedMessage& message : messages) {
            write(message.message());
            message.complete();
        }
    }
    receiver.close();
}

/// Nothing: the entity has no sessions.
std::optional<int> receive_session(const Client& client, const Options& options) {
    try {
        auto receiver =
            options.session
                ? std::optional{SessionReceiver::accept(client, options.entity, *options.session)}
                : SessionReceiver::try_accept_next(client, options.entity, options.wait);
        if (receiver) {
            print_and_complete(*receiver, options);
        } else {
            std::cerr << "no session has messages\n";
        }
        return 0;
    } catch (const Error& error) {
        if (error.code() != Errc::session_required || options.session) {
            throw;
        }
        return std::nullopt;
    }
}

int receive(const Client& client, const Options& options) {
    if (const auto done = receive_session(client, options)) {
        return *done;
    }
    Receiver receiver = Receiver::open(client, options.entity);
    print_and_complete(receiver, options);
    return 0;
}

int consume(const Client& client, const Options& options) {
    SessionProcessor processor{client,
                               options.entity,
                               {.max_concurrent_sessions = options.concurrent_sessions,
                                .session_idle_timeout = options.idle_timeout}};
    processor.on_message([](MessageContext& context) { write(context.message()); });
    processor.on_error(
        [](const ErrorContext& error) { std::cerr << error.failure.to_string() + "\n"; });
    processor.start();
    wait_for_signal();
    if (processor.stop(std::chrono::seconds{10}).complete) {
        return 0;
    }
    std::cerr << "the stop took longer than ten seconds; what is not settled comes again\n";
    return 1;
}

void show_and_follow(Browser& browser, std::size_t left, const OperationContext& context) {
    while (left != 0) {
        auto messages = browser.peek(static_cast<std::uint32_t>(std::min(left, at_once)), context);
        if (messages.empty()) {
            if (auto next = browser.next(Duration::max(), context)) {
                messages.push_back(std::move(*next));
            }
        }
        std::ranges::for_each(messages, write);
        left -= messages.size();
    }
}

/// Returns at the first signal, or when `left` messages are shown.
int follow(Browser& browser, std::size_t left) {
    asio::io_context loop;
    asio::signal_set signals{loop, SIGINT, SIGTERM};
    std::stop_source stop;
    signals.async_wait([&](const asio::error_code& cancelled, int) {
        if (!cancelled) {
            signals.clear(); // a second signal ends the program
            stop.request_stop();
        }
    });
    std::thread watcher{[&] { loop.run(); }};
    std::exception_ptr failure;
    try {
        show_and_follow(browser, left, OperationContext{}.with_stop(stop.get_token()));
    } catch (...) {
        failure = std::current_exception();
    }
    loop.stop();
    watcher.join();
    if (failure && !stop.stop_requested()) {
        std::rethrow_exception(failure);
    }
    return 0;
}

int peek(const Client& client, const Options& options) {
    Browser browser{client,
                    options.entity,
                    {.session_id = options.session, .from_sequence_number = options.from}};
    std::size_t left = options.count != 0 ? options.count : std::numeric_limits<std::size_t>::max();
    if (options.follows) {
        return follow(browser, left);
    }
    for (auto message = browser.begin(); left != 0 && message != browser.end(); --left) {
        write(*message);
        if (left != 1) {
            ++message;
        }
    }
    return 0;
}

int sessions(const Client& client, const Options& options) {
    for (const std::string& session : list_sessions(client, options.entity)) {
        std::cout << for_output(session) << '\n';
    }
    return 0;
}

int state(const Client& client, const Options& options) {
    SessionReceiver receiver = SessionReceiver::accept(client, options.entity, *options.session);
    if (options.new_state || options.clears_state) {
        receiver.set_state(options.new_state);
    } else if (const auto state = receiver.state()) {
        std::cout << for_output(*state) << '\n';
    }
    receiver.close();
    return 0;
}

} // namespace

int run(const Options& options) {
    const Client client = Client::connect(options.connection, {}, {.ca_file = options.ca_file});
    switch (options.command) {
    case Command::send: return send(client, options);
    case Command::receive: return receive(client, options);
    case Command::consume: return consume(client, options);
    case Command::peek: return peek(client, options);
    case Command::sessions: return sessions(client, options);
    case Command::state: return state(client, options);
    }
    return 1;
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <exception>
#include <limits>
#include <stop_token>
#include <thread>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <sessionq/browser.hpp>
#include <sessionq/error.hpp>

#include "core/peer_words.hpp"
#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/message_record.hpp"
#include "tools/sessionq/output.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t page = 100;

void show(const ReceivedMessage& message) { write_output(line_of(record_of(message))); }

void show_and_follow(Browser& browser, std::size_t left, const CallOptions& call) {
    while (left != 0) {
        auto messages = browser.peek(static_cast<std::uint32_t>(std::min(left, page)), call);
        if (messages.empty()) {
            if (auto next = browser.next(Duration::max(), call)) {
                messages.push_back(std::move(*next));
            }
        }
        std::ranges::for_each(messages, show);
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
        show_and_follow(browser, left, {.stop = stop.get_token()});
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

/// A topic shows scheduled messages alone; the others are at its subscriptions. The broker says so
/// when it is asked for sessions.
int explain_nothing(const Client& client, const std::string& entity) {
    try {
        (void)list_sessions(client, entity);
    } catch (const Error& error) {
        if (error.code() == Errc::not_supported && !error.failure().peer_condition.empty()) {
            tell(error.what());
            return 1;
        }
    }
    return 0;
}

} // namespace

int run(const Client& client, const Shared&, const PeekOptions& options) {
    Browser browser{client,
                    options.entity,
                    {.session_id = options.session, .from_sequence_number = options.from}};
    std::size_t left = options.count != 0 ? options.count : std::numeric_limits<std::size_t>::max();
    if (options.follows) {
        return follow(browser, left);
    }
    auto message = browser.begin();
    if (message == browser.end()) {
        return explain_nothing(client, options.entity);
    }
    for (; left != 0 && message != browser.end(); --left) {
        show(*message);
        if (left != 1) {
            ++message;
        }
    }
    return 0;
}

int run(const Client& client, const Shared& shared, const SessionsOptions& options) {
    for (const std::string& session :
         list_sessions(client, options.entity, {.state_set_after = options.state_set_after})) {
        Json line = Json::object();
        put_text(line, "session", session);
        write_output(shared.json ? line_of(line)
                                 : core::peer_words(session, session.max_size()) + "\n");
    }
    return 0;
}

} // namespace sessionq::cli

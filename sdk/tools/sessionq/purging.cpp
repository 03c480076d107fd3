#include <optional>

#include <sessionq/browser.hpp>
#include <sessionq/error.hpp>
#include <sessionq/session_receiver.hpp>

#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/report.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t at_once = 1000;

/// Removes a session's messages until none comes for `wait`.
void purge_session(SessionReceiver receiver, Duration wait, std::size_t& removed) {
    for (auto messages = receiver.receive(at_once, wait); !messages.empty();
         messages = receiver.receive(at_once, wait)) {
        removed += messages.size();
    }
    receiver.close();
}

void tell_left(const Client& client, const PurgeOptions& options) {
    try {
        Browser browser{client, options.entity, {.session_id = options.session}};
        if (!browser.peek(1).empty()) {
            tell("messages are left: deferred, scheduled, held by a consumer, or new");
        }
    } catch (const Error& error) {
        if (error.code() != Errc::not_supported) {
            throw;
        }
    }
}

} // namespace

int run(const Client& client, const Shared& shared, const PurgeOptions& options) {
    constexpr SessionReceiverOptions removing{.receive_and_delete = true};
    report_count(shared, "removed", [&](std::size_t& removed) {
        if (options.session) {
            purge_session(
                SessionReceiver::accept(client, options.entity, *options.session, removing),
                options.wait, removed);
            return;
        }
        while (auto receiver = SessionReceiver::try_accept_next(client, options.entity,
                                                                options.wait, removing)) {
            purge_session(*std::move(receiver), options.wait, removed);
        }
    });
    tell_left(client, options);
    return 0;
}

} // namespace sessionq::cli

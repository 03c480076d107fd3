// SPDX-License-Identifier: MIT
#include <optional>
#include <utility>

#include <sessionq/browser.hpp>
#include <sessionq/error.hpp>
#include <sessionq/purge.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/session_receiver.hpp>

#include "core/clock.hpp"
#include "tools/sessionq/arrival_progress.hpp"
#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/next_session.hpp"
#include "tools/sessionq/purging.hpp"
#include "tools/sessionq/report.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t purged_at_once = 1000;

/// Removes messages until none comes for `wait`.
void remove_from(auto receiver, Duration wait, ArrivalProgress& progress, std::size_t& removed) {
    for (auto messages = receiver.receive(purged_at_once, wait); !messages.empty();
         messages = receiver.receive(purged_at_once, wait)) {
        progress.add(messages);
        removed += messages.size();
    }
    receiver.close();
}

void remove_all(const Client& client, const std::string& entity, Duration wait,
                std::size_t& removed) {
    ArrivalProgress progress{entity};
    auto next = next_session(client, entity, wait, {.receive_and_delete = true});
    if (!next.entity_has_sessions) {
        remove_from(Receiver::open(client, entity, {.receive_and_delete = true}), wait, progress,
                    removed);
    }
    while (next.session) {
        const std::size_t before = removed;
        remove_from(*std::move(next.session), wait, progress, removed);
        progress.end_session(removed - before);
        next = next_session(client, entity, wait, {.receive_and_delete = true});
    }
}

std::optional<WallTime> instant_of(const std::optional<TimeOrAge>& before) {
    if (!before || std::holds_alternative<WallTime>(*before)) {
        return before ? std::optional{std::get<WallTime>(*before)} : std::nullopt;
    }
    return core::system_clock().wall_now() -
           std::chrono::duration_cast<WallTime::duration>(std::get<Duration>(*before));
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

bool delete_messages(const Client& client, const std::string& entity,
                     const sessionq::PurgeOptions& which, std::size_t& removed) {
    try {
        removed += static_cast<std::size_t>(purge(client, entity, which));
        return true;
    } catch (const Error& error) {
        if (error.code() != Errc::not_supported || which.enqueued_before) {
            throw;
        }
        return false;
    }
}

int run(const Client& client, const Shared& shared, const PurgeOptions& options) {
    report_count(shared, "removed", [&](std::size_t& removed) {
        const bool is_deleted = delete_messages(
            client, options.entity,
            {.session_id = options.session, .enqueued_before = instant_of(options.before)},
            removed);
        if (is_deleted) {
            return;
        }
        if (options.session) {
            ArrivalProgress progress{options.entity};
            remove_from(SessionReceiver::accept(client, options.entity, *options.session,
                                                {.receive_and_delete = true}),
                        options.wait, progress, removed);
        } else {
            remove_all(client, options.entity, options.wait, removed);
        }
    });
    tell_left(client, options);
    return 0;
}

} // namespace sessionq::cli

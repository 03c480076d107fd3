// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <sessionq/browser.hpp>
#include <sessionq/receiver.hpp>

#include "core/clock.hpp"
#include "tools/sessionq/arrival_progress.hpp"
#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/message_record.hpp"
#include "tools/sessionq/purging.hpp"
#include "tools/sessionq/report.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t listed_at_once = 100;
constexpr Duration end_wait = std::chrono::seconds{1}; // no message for so long: there is none

std::string path_of(const DeadLetters& letters) {
    return letters.entity +
           (letters.transfer ? "/$Transfer/$DeadLetterQueue" : "/$DeadLetterQueue");
}

WallTime wall_now() { return core::system_clock().wall_now(); }

Json outline_of(const ReceivedMessage& message) {
    Json record = record_of(message);
    for (const char* name : {"properties", "body", "body_base64"}) {
        record.erase(name);
    }
    return record;
}

/// Removes those that match. The others are held, so that they do not come again.
void remove_matching(Receiver receiver, const std::string& entity, const DeadLetterFilter& filter,
                     std::size_t& removed) {
    std::vector<LockedMessage> held;
    ArrivalProgress progress{entity};
    for (auto messages = receiver.receive(listed_at_once, end_wait); !messages.empty();
         messages = receiver.receive(listed_at_once, end_wait)) {
        progress.add(messages);
        for (LockedMessage& message : messages) {
            if (filter.matches(message.message(), wall_now())) {
                message.complete();
                ++removed;
            } else {
                held.push_back(std::move(message));
            }
        }
    }
    for (LockedMessage& message : held) {
        message.release();
    }
    receiver.close();
}

} // namespace

int run(const Client& client, const Shared&, const ListDeadLettersOptions& options) {
    std::size_t left = options.count != 0 ? options.count : std::numeric_limits<std::size_t>::max();
    for (const ReceivedMessage& message : Browser{client, path_of(options.letters)}) {
        if (options.filter.matches(message, wall_now())) {
            write_output(line_of(outline_of(message)));
            if (--left == 0) {
                break;
            }
        }
    }
    return 0;
}

int run(const Client& client, const Shared&, const ShowDeadLettersOptions& options) {
    const std::string entity = path_of(options.letters);
    for (const std::int64_t number : options.numbers) {
        Browser browser{client, entity, {.from_sequence_number = number}};
        const auto found = browser.peek(1);
        if (found.empty() || found.front().sequence_number() != number) {
            throw Error{Errc::message_not_found,
                        "'" + entity + "' has no message " + std::to_string(number)};
        }
        write_output(line_of(record_of(found.front())));
    }
    return 0;
}

int run(const Client& client, const Shared& shared, const PurgeDeadLettersOptions& options) {
    const DeadLetterFilter& filter = options.filter;
    return report_count(shared, "removed", [&](std::size_t& removed) {
        const std::string entity = path_of(options.letters);
        if (!filter.session_id && !filter.reason && !filter.older_than &&
            delete_messages(client, entity, {}, removed)) {
            return;
        }
        remove_matching(Receiver::open(client, entity), entity, filter, removed);
    });
}

} // namespace sessionq::cli

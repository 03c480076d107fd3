// SPDX-License-Identifier: MIT
#include <iterator>
#include <utility>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/sender.hpp>

#include "client/calls/blocking.hpp"
#include "client/sending/sender_core.hpp"
#include "core/access.hpp"
#include "core/clock.hpp"
#include "tools/sessionq/commands.hpp"
#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/message_source.hpp"
#include "tools/sessionq/output.hpp"
#include "tools/sessionq/report.hpp"
#include "tools/sessionq/time_text.hpp"

namespace sessionq::cli {
namespace {

constexpr std::size_t batch_messages = 100;
constexpr std::size_t batch_bytes = 128 * 1024; // brokers take 256 KiB and more

WallTime wall_now() { return core::system_clock().wall_now(); }

/// Sends a batch that may be too large for the entity: then half of it at a time, in order.
template <typename Send>
void send_in_parts(std::vector<Record> batch, const Send& send) {
    try {
        send(batch);
    } catch (const Error& error) {
        if (error.code() != Errc::message_too_large || batch.size() < 2) {
            throw;
        }
        const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
        std::vector<Record> second{std::make_move_iterator(middle),
                                   std::make_move_iterator(batch.end())};
        batch.erase(middle, batch.end());
        send_in_parts(std::move(batch), send);
        send_in_parts(std::move(second), send);
    }
}

/// Splits the source into batches that `send` takes. `together` says whether a message may join
/// the batch of another.
template <typename Together, typename Send>
void send_all(MessageSource& source, const Together& together, const Send& send) {
    for (auto records = source.next(batch_messages); !records.empty();
         records = source.next(batch_messages)) {
        std::vector<Record> batch;
        std::size_t bytes = 0;
        for (Record& record : records) {
            bytes += record.message.body.size();
            if (!batch.empty() && (bytes > batch_bytes || !together(batch.front(), record))) {
                send_in_parts(std::exchange(batch, {}), send);
                bytes = record.message.body.size();
            }
            batch.push_back(std::move(record));
        }
        send_in_parts(std::move(batch), send);
    }
}

std::vector<Message> messages_of(const std::vector<Record>& records) {
    std::vector<Message> messages;
    messages.reserve(records.size());
    for (const Record& record : records) {
        messages.push_back(record.message);
    }
    return messages;
}

/// Sends messages that all have exact bytes, or all have none.
void send(const Sender& sender, const std::vector<Record>& records) {
    if (records.front().exact == nullptr) {
        sender.send_all(messages_of(records));
        return;
    }
    std::vector<MessageContentPtr> contents;
    contents.reserve(records.size());
    for (const Record& record : records) {
        contents.push_back(record.exact);
    }
    detail::client::block(detail::client::Access::core(sender)->send(std::move(contents), {}));
}

void print_scheduled(const Shared& shared, std::int64_t number, WallTime when) {
    if (shared.json) {
        Json line;
        line["sequence_number"] = number != 0 ? Json(number) : Json(nullptr);
        line["scheduled"] = time_text(when);
        write_output(line_of(line));
    } else if (number != 0) {
        write_output(std::to_string(number) + "\n");
    }
}

} // namespace

int run(const Client& client, const Shared& shared, const SendOptions& options) {
    Sender sender{client, options.entity};
    MessageSource source{options.input, wall_now};
    return report_count(shared, "sent", [&](std::size_t& sent) {
        send_all(
            source,
            [](const Record& one, const Record& other) {
                return (one.exact == nullptr) == (other.exact == nullptr);
            },
            [&](const std::vector<Record>& batch) {
                send(sender, batch);
                sent += batch.size();
            });
    });
}

int run(const Client& client, const Shared& shared, const ScheduleOptions& options) {
    Sender sender{client, options.entity};
    MessageSource source{options.input, wall_now};
    // Schedules the messages as the members say, not their exact bytes: the request has a form of
    // its own.
    const auto schedule = [&](const std::vector<Record>& batch) {
        const auto when = batch.front().message.scheduled_enqueue_time;
        if (!when) {
            throw UsageError{"schedule: a message has no time; give --at, --delay, or the member "
                             "scheduled or delay"};
        }
        const auto numbers = sender.schedule_all(messages_of(batch), *when);
        for (const std::int64_t number : numbers) {
            print_scheduled(shared, number, *when);
        }
        return numbers.size();
    };
    return report_count({}, "scheduled", [&](std::size_t& scheduled) { // its output are numbers
        send_all(
            source,
            [](const Record& one, const Record& other) {
                return one.message.scheduled_enqueue_time == other.message.scheduled_enqueue_time;
            },
            [&](const std::vector<Record>& batch) { scheduled += schedule(batch); });
    });
}

int run(const Client& client, const Shared& shared, const CancelOptions& options) {
    Sender sender{client, options.entity};
    return report_count(shared, "cancelled", [&](std::size_t& cancelled) {
        sender.cancel_scheduled(options.numbers);
        cancelled = options.numbers.size();
    });
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#include <iterator>
#include <utility>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/sender.hpp>

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
void send_in_parts(std::vector<Message> batch, const Send& send) {
    try {
        send(batch);
    } catch (const Error& error) {
        if (error.code() != Errc::message_too_large || batch.size() < 2) {
            throw;
        }
        const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
        std::vector<Message> second{std::make_move_iterator(middle),
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
    for (auto messages = source.next(batch_messages); !messages.empty();
         messages = source.next(batch_messages)) {
        std::vector<Message> batch;
        std::size_t bytes = 0;
        for (Message& message : messages) {
            bytes += message.body.size();
            if (!batch.empty() && (bytes > batch_bytes || !together(batch.front(), message))) {
                send_in_parts(std::exchange(batch, {}), send);
                bytes = message.body.size();
            }
            batch.push_back(std::move(message));
        }
        send_in_parts(std::move(batch), send);
    }
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
            source, [](const Message&, const Message&) { return true; },
            [&](const std::vector<Message>& batch) {
                sender.send(batch);
                sent += batch.size();
            });
    });
}

int run(const Client& client, const Shared& shared, const ScheduleOptions& options) {
    Sender sender{client, options.entity};
    MessageSource source{options.input, wall_now};
    const auto schedule = [&](const std::vector<Message>& batch) {
        const auto when = batch.front().scheduled_enqueue_time;
        if (!when) {
            throw UsageError{"schedule: a message has no time; give --at, --delay, or the member "
                             "scheduled or delay"};
        }
        const auto numbers = sender.schedule(batch, *when);
        for (const std::int64_t number : numbers) {
            print_scheduled(shared, number, *when);
        }
        return numbers.size();
    };
    return report_count({}, "scheduled", [&](std::size_t& scheduled) { // its output are numbers
        send_all(
            source,
            [](const Message& one, const Message& other) {
                return one.scheduled_enqueue_time == other.scheduled_enqueue_time;
            },
            [&](const std::vector<Message>& batch) { scheduled += schedule(batch); });
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

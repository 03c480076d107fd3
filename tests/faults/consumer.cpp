// SPDX-License-Identifier: MIT
#include "faults/consumer.hpp"

#include <charconv>
#include <stdexcept>
#include <thread>

#include "core/random.hpp"
#include "faults/now.hpp"

namespace sessionq::faults {
namespace {

using namespace std::chrono_literals;

std::uint32_t session_number(std::string_view id) {
    std::uint32_t number = 0;
    std::from_chars(id.data() + 1, id.data() + id.size(), number);
    return number;
}

std::int64_t message_number(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool is_loss(CloseReason why) {
    return why == CloseReason::lock_lost || why == CloseReason::connection_lost ||
           why == CloseReason::unresponsive;
}

SessionProcessorOptions processor_options(const ConsumerOptions& options) {
    return {.max_concurrent_sessions = options.slots,
            .session_idle_timeout = options.rolls_at_once ? 0ms : 100ms,
            .max_messages_per_turn = 200,
            .prefetch = Consumer::prefetch,
            .worker_threads = Consumer::workers,
            .accept_wait = 2s,
            .confirm_settlements = options.confirms,
            .error_backoff = {.min = 50ms, .max = 1s}};
}

void handle(MessageContext& call, std::uint32_t holder, std::uint64_t seed, EventLog& log,
            Promptness& promptness) {
    const ReceivedMessage& message = call.message();
    Event event{.kind = Event::Kind::begin,
                .is_late = call.session().lock_expires().passed(now()),
                .holder = holder,
                .session = session_number(message.session_id()),
                .number = message_number(message.text()),
                .sequence = message.sequence_number()};
    log.add(event);
    core::Random random{seed ^ (static_cast<std::uint64_t>(event.sequence) << 20U) ^ event.session};
    const std::uint64_t mood = random.below(400);
    std::this_thread::sleep_for(mood == 0  ? 700ms
                                : mood < 8 ? 60ms
                                           : std::chrono::milliseconds{random.below(3)});
    if (mood % 80 == 3 && message.delivery_count() == 0) {
        event.kind = Event::Kind::failed;
        log.add(event);
        throw std::runtime_error{"a failure by design"};
    }
    if (mood % 40 == 5) {
        promptness.watch("set_state", 1s, [&] {
            call.session().set_state(std::to_string(event.number), {.timeout = 1s});
        });
    }
    event.kind = Event::Kind::done;
    log.add(event);
    if (mood % 4 == 1) {
        const bool was_over = call.session().lock_expires().passed(now());
        try {
            call.complete();
        } catch (const Error&) {
            return; // the lock is lost
        }
        if (was_over && call.session().lock_expires().passed(now())) {
            event.kind = Event::Kind::intruder;
            log.add(event);
        }
    }
}

} // namespace

ClientOptions hasty_client(std::uint32_t receive_threads) {
    return {.receive_threads = receive_threads,
            .operation_timeout = operation_timeout,
            .connection_idle_timeout = 4s,
            .reconnect_backoff = {.min = 50ms, .max = 1s}};
}

std::string connection_string(std::uint16_t port) {
    return "Endpoint=sb://127.0.0.1:" + std::to_string(port) +
           ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"
           "UseDevelopmentEmulator=true";
}

Consumer::Consumer(ConsumerOptions options, EventLog& log, Promptness& promptness)
    : options_{std::move(options)},
      log_{log},
      promptness_{promptness},
      client_{Client::connect(options_.connection, hasty_client(1 + options_.holder % 2))},
      processor_{client_, options_.entity, processor_options(options_)} {
    const std::uint32_t holder = options_.holder;
    processor_.on_session_open([&log = log_, holder](SessionContext& session) {
        log.add({.kind = Event::Kind::open,
                 .holder = holder,
                 .session = session_number(session.session_id())});
    });
    processor_.on_session_close([&log = log_, holder](SessionContext& session, CloseReason why) {
        log.add({.kind = Event::Kind::close,
                 .is_late = is_loss(why),
                 .holder = holder,
                 .session = session_number(session.session_id()),
                 .number = static_cast<std::int64_t>(why)});
    });
    processor_.on_error(
        [&log = log_, &promptness = promptness_, holder](const ErrorContext& error) {
            promptness.note("(" + std::string{to_string(error.source)} + ")", error.failure);
            if (error.source == ErrorSource::settlement) {
                log.add({.kind = Event::Kind::trouble,
                         .holder = holder,
                         .session = session_number(error.session_id),
                         .number = static_cast<std::int64_t>(error.failure.code)});
            }
        });
    processor_.on_message([&log = log_, &promptness = promptness_, holder,
                           seed = options_.seed](MessageContext& call) {
        handle(call, holder, seed, log, promptness);
    });
    processor_.start();
}

bool Consumer::stop(Duration timeout) {
    const TimePoint began = now();
    const StopReport report = processor_.stop(timeout);
    promptness_.ended("stop", timeout, now() - began);
    if (!report.complete) {
        log_.add({.kind = Event::Kind::left, .holder = options_.holder});
    }
    return report.complete;
}

} // namespace sessionq::faults

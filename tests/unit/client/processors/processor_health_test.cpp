// SPDX-License-Identifier: MIT
#include <sessionq/health.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/logging.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_processor.hpp>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

/// Shows a sink what is logged at info, as long as this exists.
class LogWatch {
public:
    explicit LogWatch(LogSink sink) {
        set_log_sink(std::move(sink));
        set_log_level(LogLevel::info);
    }
    ~LogWatch() {
        set_log_level(before_);
        set_log_sink({});
    }
    LogWatch(const LogWatch&) = delete;
    LogWatch& operator=(const LogWatch&) = delete;

private:
    LogLevel before_{log_level()};
};

} // namespace

TEST_CASE("processor health: on_health_changed may stop the processor, whose handlers are told") {
    LocalBroker broker;
    broker.create_queue("orders");
    const Client client = Client::in_process(broker);
    Sender{client, "orders"}.send(Message::of("waits").in_session("ada"));
    SessionProcessor processor{client, {"orders", "nowhere"}, {.worker_threads = 1}};
    std::latch told{1};
    processor.on_message([&](MessageContext& context) {
        const std::stop_callback when{context.stop_token(), [&] { told.count_down(); }};
        told.wait(); // for the token, on the only worker
    });
    std::promise<StopReport> asked;
    processor.on_health_changed([&](const Health& health) {
        if (!health.reasons.empty()) { // an entity is not there
            asked.set_value(processor.stop({.timeout = 30s, .cancel_after = 0}));
        }
    });
    processor.start();
    CHECK(asked.get_future().get().requested_only);
    const StopReport report = processor.stop(30s);
    CHECK(report.complete);
    CHECK(report.left == 0);
}

TEST_CASE("processor health: the log tells a stop once, however often it is asked for") {
    std::atomic<int> stops{0};
    {
        const LogWatch watch{[&stops](const LogRecord& record) {
            stops += record.event == "processor_stopped" ? 1 : 0;
        }};
        LocalBroker broker;
        broker.create_queue("orders");
        SessionProcessor processor{Client::in_process(broker), "orders"};
        processor.on_message([](MessageContext&) {});
        processor.start();
        CHECK(processor.stop(30s).complete);
        CHECK(processor.stop(30s).complete);
    }
    CHECK(stops == 1);
}

TEST_CASE("processor health: the log tells new limits") {
    std::string told;
    const LogWatch watch{[&told](const LogRecord& record) {
        if (record.event == "limits_changed") {
            told = record.text;
        }
    }};
    LocalBroker broker;
    broker.create_queue("orders");
    SessionProcessor processor{Client::in_process(broker), "orders"};
    processor.on_message([](MessageContext&) {});
    processor.start();
    processor.update_limits({.max_concurrent_sessions = 3, .session_idle_timeout = 2s});
    CHECK(told == "has new limits: 3 sessions, 1 calls each, 0 calls in all, idle timeout in "
                  "ms 2000, prefetch 0");
}

TEST_CASE("processor health: a failure is told once: to on_error, or as a warning of the log") {
    for (const bool has_handler : {false, true}) {
        CAPTURE(has_handler);
        std::mutex mutex;
        std::optional<LogLevel> level;
        std::map<std::string, std::string, std::less<>> fields;
        {
            const LogWatch watch{[&](const LogRecord& record) {
                const std::lock_guard lock{mutex};
                if (record.event == "handler_failed") {
                    level = record.level;
                    for (const LogField& field : record.fields) {
                        fields.emplace(field.name, field.value);
                    }
                }
            }};
            set_log_level(LogLevel::debug);
            LocalBroker broker;
            broker.create_queue("orders");
            const Client client = Client::in_process(broker);
            Sender{client, "orders"}.send(Message::of("bad").in_session("a"));
            SessionProcessor processor{
                client, "orders", {.failure_policy = FailurePolicy::dead_letter()}};
            std::promise<void> failed;
            processor.on_message([&failed](MessageContext&) {
                failed.set_value();
                throw std::runtime_error{"no"};
            });
            if (has_handler) {
                processor.on_error([](const ErrorContext&) {});
            }
            processor.start();
            failed.get_future().wait();
            CHECK(processor.stop(30s).complete);
        }
        CHECK(level == (has_handler ? LogLevel::debug : LogLevel::warning));
        CHECK(fields.at("attempt") == "1");
        CHECK(fields.at("session") == "a");
    }
}

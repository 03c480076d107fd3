// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_processor.hpp>

#include <asio/steady_timer.hpp>
#include <asio/system_error.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>

#include "core/clock.hpp"
#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

constexpr auto patience = 30s; // never waited for in full unless something hangs

struct Setup {
    explicit Setup(QueueOptions queue = {}, ClientOptions options = {})
        : client{make(broker, queue, options)} {}

    static Client make(LocalBroker& broker, const QueueOptions& queue,
                       const ClientOptions& options) {
        broker.create_queue("orders", queue);
        return Client::in_process(broker, options);
    }

    void send(const std::string& session, int count) {
        std::vector<Message> messages;
        for (int i = 0; i < count; ++i) {
            messages.push_back(Message::of(std::to_string(i)).in_session(session));
        }
        Sender{client, "orders"}.send_all(std::move(messages));
    }

    LocalBroker broker{};
    Client client;
};

/// Counts down from any thread; the test waits for zero.
class Countdown {
public:
    explicit Countdown(int count) : left_{count} {}
    void hit() {
        if (left_.fetch_sub(1) == 1) {
            done_.set_value();
        }
    }
    [[nodiscard]] bool reached() {
        return done_.get_future().wait_for(patience) == std::future_status::ready;
    }

private:
    std::atomic<int> left_;
    std::promise<void> done_;
};

std::string text_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

} // namespace

TEST_CASE("session processor: every session's messages in order, many sessions, several receive "
          "threads") {
    for (const std::uint32_t receive_threads : {1U, 3U}) {
        CAPTURE(receive_threads);
        Setup setup{{}, {.receive_threads = receive_threads}};
        constexpr int sessions = 20;
        constexpr int each = 50;
        for (int i = 0; i < sessions; ++i) {
            setup.send("s" + std::to_string(i), each);
        }
        Countdown all{sessions * each};
        std::mutex mutex;
        std::map<std::string, std::vector<std::string>, std::less<>> seen;
        SessionProcessor processor{
            setup.client,
            "orders",
            {.max_concurrent_sessions = 7, .session_idle_timeout = 0ms, .worker_threads = 3}};
        processor.on_message([&](MessageContext& call) {
            {
                const std::lock_guard lock{mutex};
                seen[std::string{call.message().session_id()}].emplace_back(call.message().text());
            }
            all.hit();
        });
        processor.start();
        REQUIRE(all.reached());
        const StopReport report = processor.stop(patience);
        CHECK(report.complete);
        CHECK(report.left == 0);
        REQUIRE(seen.size() == sessions);
        for (const auto& [session, texts] : seen) {
            REQUIRE(texts.size() == each);
            for (int i = 0; i < each; ++i) {
                REQUIRE(texts[static_cast<std::size_t>(i)] == std::to_string(i));
            }
        }
        CHECK(setup.broker.counts("orders").active == 0);
        CHECK(processor.counters().messages_handled == sessions * each);
    }
}

TEST_CASE("session processor: bad values are refused before anything starts, by member name") {
    Setup setup;
    const auto refuse = [&](SessionProcessorOptions options) {
        return text_of([&] { SessionProcessor{setup.client, "orders", std::move(options)}; });
    };
    CHECK(refuse({.max_concurrent_sessions = 0}).find("max_concurrent_sessions") !=
          std::string::npos);
    CHECK(
        refuse({.max_concurrent_calls_per_session = 0}).find("max_concurrent_calls_per_session") !=
        std::string::npos);
    CHECK(refuse({.session_idle_timeout = -1ms}).find("session_idle_timeout") != std::string::npos);
    CHECK(refuse({.max_buffered_bytes = 1}).find("max_buffered_bytes") != std::string::npos);
    CHECK(refuse({.failure_policy = {.max_attempts = 0}}).find("failure_policy.max_attempts") !=
          std::string::npos);
    CHECK(code_of([&] { SessionProcessor{setup.client, ""}; }) == Errc::invalid_argument);
    // Two names in braces are names, not the ends of a range.
    CHECK(text_of([&] {
              SessionProcessor{setup.client, {"orders", "orders"}};
          }).find("orders") != std::string::npos);
    CHECK(code_of([&] { SessionProcessor{setup.client, {"a", "b"}}; }) == Errc{});
    CHECK(code_of([&] {
              SessionProcessor{setup.client, std::vector<std::string>{}};
          }) == Errc::invalid_argument);
}

TEST_CASE("session processor: start needs a handler and happens once") {
    Setup setup;
    SessionProcessor processor{setup.client, "orders"};
    CHECK(code_of([&] { processor.start(); }) == Errc::invalid_state);
    CHECK(code_of([&] { processor.update_limits({}); }) == Errc::invalid_state);
    processor.on_message([](MessageContext&) {});
    processor.start();
    CHECK(code_of([&] { processor.start(); }) == Errc::invalid_state);
    CHECK(code_of([&] { processor.on_error([](const ErrorContext&) {}); }) == Errc::invalid_state);
    CHECK(processor.stop(patience).complete);
    CHECK(processor.stop(patience).complete); // R18: again
    CHECK(processor.describe().state == ProcessorDescription::State::stopped);
}

TEST_CASE("session processor: a handler need not be copyable") {
    Setup setup;
    setup.send("a", 1);
    auto handled = std::make_unique<Countdown>(1);
    Countdown& watched = *handled;
    SessionProcessor processor{setup.client, "orders"};
    processor.on_message([own = std::move(handled)](MessageContext& /*context*/) { own->hit(); });
    processor.start();
    CHECK(watched.reached());
    processor.stop();
}

TEST_CASE("session processor: an unknown entity is told and does not end the processor") {
    Setup setup;
    std::promise<Failure> told;
    std::atomic<bool> once{false};
    SessionProcessor processor{setup.client, "nowhere"};
    processor.on_message([](MessageContext&) {});
    processor.on_error([&](const ErrorContext& context) {
        if (!once.exchange(true)) {
            told.set_value(context.failure);
        }
    });
    processor.start();
    auto failure = told.get_future();
    REQUIRE(failure.wait_for(patience) == std::future_status::ready);
    CHECK(failure.get().code == Errc::entity_not_found);
    CHECK(processor.stop(patience).complete);
}

TEST_CASE("R8: a message that its handler completes is gone before the handler ends") {
    Setup setup;
    setup.send("a", 1);
    std::promise<bool> gone;
    SessionProcessor processor{setup.client, "orders"};
    processor.on_message([&](MessageContext& call) {
        call.complete();
        const TimePoint end = core::system_clock().now() + patience;
        while (setup.broker.counts("orders").active != 0 && core::system_clock().now() < end) {
            std::this_thread::yield();
        }
        gone.set_value(setup.broker.counts("orders").active == 0);
    });
    processor.start();
    CHECK(gone.get_future().get());
    CHECK(processor.stop(patience).complete);
}

TEST_CASE("R18: stop from inside a handler is a request, not a join") {
    Setup setup;
    setup.send("a", 1);
    std::promise<StopReport> asked;
    SessionProcessor processor{setup.client, "orders"};
    std::promise<CloseReason> closed;
    processor.on_message([&](MessageContext&) { asked.set_value(processor.stop(patience)); });
    processor.on_session_close(
        [&](SessionContext&, CloseReason reason) { closed.set_value(reason); });
    processor.start();
    auto report = asked.get_future();
    REQUIRE(report.wait_for(patience) == std::future_status::ready);
    CHECK(report.get().requested_only);
    auto reason = closed.get_future();
    REQUIRE(reason.wait_for(patience) == std::future_status::ready);
    CHECK(reason.get() == CloseReason::stopped); // nobody else has asked
    const StopReport whole = processor.stop(patience);
    CHECK(whole.complete);
    CHECK(setup.broker.counts("orders").active == 0); // its message was completed
}

TEST_CASE("R18: stop is bounded when a handler does not return, and says so") {
    Setup setup;
    setup.send("a", 3);
    std::promise<void> entered;
    std::latch let_go{1};
    StopReport report;
    bool token_fired = false;
    {
        SessionProcessor processor{setup.client, "orders", {.worker_threads = 1}};
        std::promise<void> returned;
        processor.on_message([&](MessageContext& call) {
            std::promise<void> told;
            const std::stop_callback on_stop{call.stop_token(), [&] { told.set_value(); }};
            entered.set_value();
            let_go.wait();
            token_fired = told.get_future().wait_for(patience) ==
                          std::future_status::ready; // from a thread of its own, soon
            returned.set_value();
        });
        processor.start();
        REQUIRE(entered.get_future().wait_for(patience) == std::future_status::ready);
        report = processor.stop(50ms);
        CHECK_FALSE(report.complete);
        CHECK(report.left == 1);
        CHECK(report.released == 2);
        CHECK(setup.broker.counts("orders").active == 3); // all of it is back
        let_go.count_down();
        REQUIRE(returned.get_future().wait_for(patience) == std::future_status::ready);
    }
    CHECK(token_fired);
}

TEST_CASE("session processor: destroying it without stop ends it, also unstarted") {
    Setup setup;
    setup.send("a", 100);
    { const SessionProcessor never_started{setup.client, "orders"}; }
    Countdown some{3};
    {
        SessionProcessor processor{setup.client, "orders"};
        processor.on_message([&](MessageContext&) { some.hit(); });
        processor.start();
        CHECK(some.reached());
    }
    CHECK(setup.broker.counts("orders").sessions <= 1);
}

TEST_CASE("session processor: session handlers, state, and settling otherwise") {
    Setup setup;
    setup.send("a", 4);
    Countdown closed{1};
    std::mutex mutex;
    std::vector<std::string> events;
    const auto note = [&](std::string event) {
        const std::lock_guard lock{mutex};
        events.push_back(std::move(event));
    };
    SessionProcessor processor{setup.client, "orders", {.session_idle_timeout = 0ms}};
    processor.on_session_open([&](SessionContext& session) {
        note("open " + session.session_id() + " " + session.state().value_or("none"));
        session.set_state("seen");
    });
    processor.on_message([&](MessageContext& call) {
        note("message " + std::string{call.message().text()});
        switch (std::stoi(std::string{call.message().text()})) {
        case 1: call.defer(); break;
        case 2: call.dead_letter("bad", "really"); break;
        case 3:
            call.complete();
            try {
                call.complete();
            } catch (const Error& error) {
                note(std::string{to_string(error.failure().code)}); // R8
            }
            break;
        default: break;
        }
    });
    processor.on_session_close([&](SessionContext& session, CloseReason why) {
        note("close " + std::string{to_string(why)} + " " + session.state().value_or("none"));
        closed.hit();
    });
    processor.start();
    REQUIRE(closed.reached());
    CHECK(processor.stop(patience).complete);
    CHECK(events == std::vector<std::string>{"open a none", "message 0", "message 1", "message 2",
                                             "message 3", "already_settled", "close idle seen"});
    const QueueCounts counts = setup.broker.counts("orders");
    CHECK(counts.active == 0);
    CHECK(counts.deferred == 1);
    CHECK(counts.dead_lettered == 1);
}

TEST_CASE("R6: a failed message comes again before those behind it") {
    Setup setup;
    setup.send("a", 5);
    Countdown handled{5};
    std::mutex mutex;
    std::vector<std::string> seen;
    SessionProcessor processor{setup.client, "orders", {.session_idle_timeout = 0ms}};
    processor.on_message([&](MessageContext& call) {
        {
            const std::lock_guard lock{mutex};
            seen.emplace_back(call.message().text());
        }
        if (call.message().text() == "1" && call.message().delivery_count() < 2) {
            throw std::runtime_error{"not yet"};
        }
        handled.hit();
    });
    processor.start();
    REQUIRE(handled.reached());
    CHECK(processor.stop(patience).complete);
    CHECK(seen == std::vector<std::string>{"0", "1", "1", "1", "2", "3", "4"});
}

TEST_CASE("R7: limits can be changed while it runs") {
    Setup setup;
    constexpr int sessions = 6;
    for (int i = 0; i < sessions; ++i) {
        setup.send("s" + std::to_string(i), 1);
    }
    Countdown inside{sessions};
    Countdown first{1};
    std::latch let_go{1};
    SessionProcessor processor{
        setup.client, "orders", {.max_concurrent_sessions = 1, .worker_threads = sessions}};
    std::atomic<int> running{0};
    processor.on_message([&](MessageContext&) {
        if (running.fetch_add(1) == 0) {
            first.hit();
        }
        inside.hit();
        let_go.wait();
    });
    processor.start();
    REQUIRE(first.reached());
    CHECK(running == 1);
    processor.update_limits({.max_concurrent_sessions = sessions});
    CHECK(inside.reached()); // only possible with all of them at once
    CHECK(code_of([&] { processor.update_limits({.max_concurrent_sessions = 0}); }) ==
          Errc::invalid_option);
    CHECK(processor.options().max_concurrent_sessions == 1); // as constructed
    let_go.count_down();
    CHECK(processor.stop(patience).complete);
}

TEST_CASE("session processor: named sessions are all served, by fewer places than there are "
          "receive threads") {
    constexpr int names = 8;
    Setup setup{{}, {.receive_threads = 4}};
    SessionProcessorOptions options{.max_concurrent_sessions = 2, .session_idle_timeout = 1ms};
    Countdown handled{2 * names};
    for (int i = 0; i < names; ++i) {
        options.session_ids.push_back("s" + std::to_string(i));
        setup.send(options.session_ids.back(), 1);
    }
    SessionProcessor processor{setup.client, "orders", options};
    processor.on_message([&](MessageContext&) { handled.hit(); });
    processor.start();
    for (const std::string& name : options.session_ids) {
        setup.send(name, 1);
    }
    CHECK(handled.reached());
    processor.stop();
}

TEST_CASE("DG9: one processor over several queues") {
    Setup setup;
    setup.broker.create_queue("returns");
    Sender{setup.client, "returns"}.send(Message::of("r").in_session("r"));
    setup.send("o", 1);
    Countdown both{2};
    std::mutex mutex;
    std::map<std::string, std::string, std::less<>> seen;
    SessionProcessor processor{setup.client,
                               std::vector<std::string>{"orders", "returns"},
                               {.max_concurrent_sessions = 2}};
    processor.on_message([&](MessageContext& call) {
        {
            const std::lock_guard lock{mutex};
            seen[call.session().entity()] = call.message().session_id();
        }
        both.hit();
    });
    processor.start();
    REQUIRE(both.reached());
    CHECK(processor.stop(patience).complete);
    CHECK(seen ==
          std::map<std::string, std::string, std::less<>>{{"orders", "o"}, {"returns", "r"}});
}

TEST_CASE("session processor: handlers that are coroutines wait without a worker") {
    Setup setup;
    constexpr int sessions = 50;
    for (int i = 0; i < sessions; ++i) {
        setup.send("s" + std::to_string(i), 2);
    }
    Countdown handled{sessions * 2};
    std::mutex mutex;
    std::vector<Completion> waiting;
    bool open = false;
    Countdown all_wait{sessions};
    SessionProcessor processor{
        setup.client, "orders", {.max_concurrent_sessions = sessions, .worker_threads = 1}};
    processor.on_message(
        MessageHandler::started_by([&](MessageContext& call, Completion completion) {
            std::unique_lock lock{mutex};
            if (!open) {
                CHECK(call.message().text() == "0");
                waiting.push_back(std::move(completion));
                lock.unlock();
                all_wait.hit();
            } else {
                lock.unlock();
                completion.done(); // within the start
            }
            handled.hit();
        }));
    processor.start();
    REQUIRE(all_wait.reached()); // all sessions at once on one worker
    {
        const std::lock_guard lock{mutex};
        open = true;
    }
    for (const Completion& each : waiting) {
        each.done();
    }
    REQUIRE(handled.reached());
    CHECK(processor.stop(patience).complete);
    CHECK(setup.broker.counts("orders").active == 0);
}

TEST_CASE("session processor: a handler that is ended wrongly neither stalls nor completes") {
    Setup setup;
    setup.send("a", 20);
    std::atomic<int> started{0};
    std::atomic<int> failed{0};
    Countdown all{22};
    SessionProcessor processor{
        setup.client,
        "orders",
        {.max_concurrent_sessions = 1, .failure_policy = FailurePolicy::abandon_at_once()}};
    processor.on_error([&](const ErrorContext&) { ++failed; });
    processor.on_message(MessageHandler::started_by([&](MessageContext&, Completion completion) {
        const int number = started++;
        switch (number) {
        case 0: break; // dropped within the start
        case 1:
            completion.failed(std::exception_ptr{}); // of make_exception_ptr without exceptions
            break;
        default:
            std::jthread{[completion = std::move(completion)] {
                completion.done();
                completion.done();
                completion.failed(std::make_exception_ptr(std::runtime_error{"late"}));
            }}.join();
        }
        all.hit();
    }));
    processor.start();
    REQUIRE(all.reached()); // two of 20 came twice
    const ProcessorDescription found = processor.describe();
    CHECK(found.health.reasons.at(0).cause == HealthCause::handler_misused);
    CHECK(processor.stop(patience).complete);
    CHECK(failed == 2);
    CHECK(processor.counters().messages_completed == 20);
    CHECK(setup.broker.counts("orders").active == 0);
}

TEST_CASE("session processor: a handler that another thread drops has failed") {
    Setup setup;
    setup.send("a", 1);
    std::atomic<int> started{0};
    Countdown both{2};
    std::jthread other;
    SessionProcessor processor{
        setup.client, "orders", {.failure_policy = FailurePolicy::abandon_at_once()}};
    processor.on_message(MessageHandler::started_by([&](MessageContext&, Completion completion) {
        if (started++ == 0) {
            other = std::jthread{[dropped = std::move(completion)] {}};
        } else {
            completion.done();
        }
        both.hit();
    }));
    processor.start();
    REQUIRE(both.reached());
    CHECK(processor.stop(patience).complete);
    CHECK(processor.counters().messages_completed == 1);
}

TEST_CASE("session processor: as many handlers run at once as sessions are asked for") {
    constexpr int sessions = 16; // more than this machine has processors, most likely
    Setup setup;
    for (int i = 0; i < sessions; ++i) {
        setup.send("s" + std::to_string(i), 1);
    }
    std::latch all_running{sessions};
    Countdown handled{sessions};
    SessionProcessor processor{setup.client, "orders", {.max_concurrent_sessions = sessions}};
    CHECK(processor.options().worker_threads == sessions);
    processor.on_message([&](MessageContext&) {
        all_running.arrive_and_wait();
        handled.hit();
    });
    processor.start();
    REQUIRE(handled.reached());
    CHECK(processor.stop(patience).complete);
}

TEST_CASE("session processor: more workers come with higher limits") {
    constexpr int sessions = 4;
    Setup setup;
    for (int i = 0; i < sessions; ++i) {
        setup.send("s" + std::to_string(i), 1);
    }
    std::latch all_running{sessions};
    Countdown handled{sessions};
    SessionProcessor processor{setup.client, "orders", {.max_concurrent_sessions = 1}};
    CHECK(processor.options().worker_threads == 1);
    processor.on_message([&](MessageContext&) {
        all_running.arrive_and_wait();
        handled.hit();
    });
    processor.start();
    processor.update_limits({.max_concurrent_sessions = sessions});
    REQUIRE(handled.reached());
    CHECK(processor.stop(patience).complete);
}

TEST_CASE("session processor: the number of workers follows what is asked for") {
    Setup setup;
    const auto workers = [&](SessionProcessorOptions options) {
        return SessionProcessor{setup.client, "orders", options}.options().worker_threads;
    };
    CHECK(workers({}) == 8);
    CHECK(workers({.max_concurrent_sessions = 3, .max_concurrent_calls_per_session = 5}) == 15);
    CHECK(workers({.max_concurrent_sessions = 100, .max_concurrent_calls = 7}) == 7);
    CHECK(workers({.max_concurrent_sessions = 1'000}) == 64);
    CHECK(workers({.max_concurrent_sessions = 100, .worker_threads = 2}) == 2);
}

TEST_CASE("session processor: the idle timeout changes while it runs") {
    Setup setup;
    setup.send("a", 1);
    setup.send("b", 1);
    Countdown first{1};
    Countdown both{2};
    SessionProcessor processor{
        setup.client, "orders", {.max_concurrent_sessions = 1, .session_idle_timeout = 1h}};
    processor.on_message([&](MessageContext&) {
        first.hit();
        both.hit();
    });
    processor.start();
    REQUIRE(first.reached());
    CHECK(code_of([&] {
              processor.update_limits({.max_concurrent_sessions = 1, .session_idle_timeout = -1ms});
          }) == Errc::invalid_option);
    processor.update_limits({.max_concurrent_sessions = 1}); // as it is
    CHECK(code_of([&] {
              processor.update_limits({.max_concurrent_sessions = 1, .prefetch = 10'001});
          }) == Errc::invalid_option);
    processor.update_limits({.max_concurrent_sessions = 1, .prefetch = 3});
    CHECK(processor.describe().slots.at(0).window == 3);
    processor.update_limits({.max_concurrent_sessions = 1, .session_idle_timeout = 1ms});
    CHECK(both.reached());
    CHECK(processor.stop(patience).complete);
}

TEST_CASE("session processor: R18: stop cancels a coroutine that waits on Asio") {
    Setup setup;
    setup.send("a", 1);
    Countdown waits{1};
    std::promise<std::error_code> ended;
    SessionProcessor processor{setup.client, "orders"};
    processor.on_message(coroutine([&](MessageContext&) -> asio::awaitable<void> {
        asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
        waits.hit();
        try {
            co_await timer.async_wait(asio::use_awaitable);
        } catch (const asio::system_error& error) {
            ended.set_value(error.code());
            throw;
        }
    }));
    processor.start();
    REQUIRE(waits.reached());
    const auto began = core::system_clock().now();
    const StopReport report = processor.stop({.timeout = patience, .cancel_after = 0});
    CHECK(report.complete);
    CHECK(report.cancelled == 1);
    CHECK(core::system_clock().now() - began < patience / 2);
    auto error = ended.get_future();
    REQUIRE(error.wait_for(0s) == std::future_status::ready);
    CHECK(error.get() == asio::error::operation_aborted);
    CHECK(setup.broker.counts("orders").active == 1); // abandoned, not completed
}

TEST_CASE("session processor: a coroutine runs on a worker under the message's context") {
    Setup setup;
    setup.send("a", 2);
    Countdown handled{2};
    std::atomic<int> with_lock{0};
    SessionProcessor processor{setup.client, "orders"};
    processor.on_message(coroutine([&](MessageContext& context) -> asio::awaitable<void> {
        const OperationContext& ambient = OperationContext::current();
        with_lock += ambient.lock_expires() == context.session().lock_expires() &&
                             ambient.deadline().is_never()
                         ? 1
                         : 0;
        handled.hit();
        co_return;
    }));
    processor.start();
    REQUIRE(handled.reached());
    CHECK(processor.stop(patience).complete);
    CHECK(with_lock == 2);
}

TEST_CASE("session processor: what a handler sends belongs to the trace of its message") {
    const TraceContext trace{.traceparent =
                                 "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                             .tracestate = "a=1"};
    Setup setup;
    setup.broker.create_queue("bills");
    std::promise<std::optional<TraceContext>> billed;
    SessionProcessor bills{setup.client, "bills"};
    bills.on_message(coroutine([&](MessageContext&) -> asio::awaitable<void> {
        const TraceContext* ambient = OperationContext::current().trace();
        billed.set_value(ambient != nullptr ? std::optional{*ambient} : std::nullopt);
        co_return;
    }));
    SessionProcessor orders{setup.client, "orders"};
    Sender sender{setup.client, "bills"};
    orders.on_message([&](MessageContext& context) {
        // The trace in scope stays, because this context has none.
        sender.send(Message::of(context.message().text()).in_session("b"), {.timeout = patience});
    });
    bills.start();
    orders.start();
    std::optional<TraceContext> expected;
    SUBCASE("which has one") { expected = trace; }
    SUBCASE("which has none") {}
    const OperationContext context;
    Sender{setup.client, "orders"}.send(
        Message::of("1").in_session("a"),
        {.context = expected ? context.with_trace(trace) : context});
    auto got = billed.get_future();
    REQUIRE(got.wait_for(patience) == std::future_status::ready);
    CHECK(got.get() == expected);
    CHECK(orders.stop(patience).complete);
    CHECK(bills.stop(patience).complete);
}

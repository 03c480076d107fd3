// SPDX-License-Identifier: MIT
#include <sessionq/handler_executor.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/session_receiver.hpp>

#include "support/code_of.hpp"
#include "support/executors.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::FunctionExecutor;
using test::KeepingExecutor;
using test::ThreadsExecutor;

namespace {

constexpr auto executor_patience = 30s; // never waited for in full unless something hangs

struct ExecutorFixture : test::OrdersFixture {
    ExecutorFixture() { broker.create_queue("plain", {.requires_session = false}); }

    void send(const std::string& session, int count) {
        std::vector<Message> messages;
        for (int i = 0; i < count; ++i) {
            messages.push_back(Message::of(std::to_string(i)).in_session(session));
        }
        sender.send_all(std::move(messages));
    }
    void send_plain(int count) {
        Sender{client, "plain"}.send_all(
            std::vector<Message>(static_cast<std::size_t>(count), Message{.body = "x"}));
    }
};

} // namespace

TEST_CASE("executor: handlers run on its threads and nowhere else, in order within each session") {
    for (const std::uint32_t at_once : {1U, 8U}) {
        CAPTURE(at_once);
        ExecutorFixture f;
        constexpr int sessions = 10;
        constexpr int each = 40;
        for (int i = 0; i < sessions; ++i) {
            f.send("s" + std::to_string(i), each);
        }
        const auto executor = std::make_shared<ThreadsExecutor>(2U);
        SessionProcessor processor{f.client,
                                   "orders",
                                   {.max_concurrent_sessions = 8,
                                    .max_concurrent_calls = at_once,
                                    .session_idle_timeout = 0ms,
                                    .executor = executor}};
        std::latch all{sessions * each};
        std::mutex mutex;
        std::map<std::string, std::vector<int>, std::less<>> seen;
        std::atomic<bool> elsewhere{false};
        std::atomic<std::uint32_t> running{0};
        std::atomic<bool> too_many{false};
        processor.on_message([&](MessageContext& context) {
            too_many = too_many || running.fetch_add(1) >= at_once;
            elsewhere = elsewhere || !executor->is_mine(std::this_thread::get_id());
            {
                const std::lock_guard lock{mutex};
                seen[std::string{context.message().session_id()}].push_back(
                    std::stoi(std::string{context.message().text()}));
            }
            running.fetch_sub(1);
            all.count_down();
        });
        processor.start();
        all.wait();
        CHECK(processor.stop(executor_patience).complete);
        CHECK_FALSE(elsewhere);
        CHECK_FALSE(too_many);
        REQUIRE(seen.size() == sessions);
        for (const auto& [session, order] : seen) {
            CHECK(order.size() == each);
            CHECK(std::is_sorted(order.begin(), order.end()));
        }
        CHECK(f.broker.counts("orders").active == 0);
    }
}

TEST_CASE("executor: a processor of messages runs several handlers at once on it") {
    ExecutorFixture f;
    f.send_plain(4);
    Processor processor{
        f.client,
        "plain",
        {.max_concurrent_calls = 2, .executor = std::make_shared<ThreadsExecutor>(2U)}};
    std::latch both{2};
    std::latch all{4};
    std::atomic<int> entered{0};
    processor.on_message([&](MessageContext&) {
        if (++entered <= 2) {
            both.arrive_and_wait(); // passes only if two run at once
        }
        all.count_down();
    });
    processor.start();
    all.wait();
    CHECK(processor.stop(executor_patience).complete);
    CHECK(f.broker.counts("plain").active == 0);
}

TEST_CASE("executor: the description tells its works, and there are no workers") {
    ExecutorFixture f;
    f.send("ada", 1);
    const auto executor = std::make_shared<KeepingExecutor>();
    SessionProcessor processor{f.client, "orders", {.executor = executor}};
    processor.on_message([](MessageContext&) {});
    CHECK_FALSE(processor.describe().executor);
    processor.start();
    HandlerWork work = executor->take();
    const ProcessorDescription description = processor.describe();
    REQUIRE(description.executor);
    CHECK(description.executor->waiting == 1);
    CHECK(description.executor->running == 0);
    CHECK(processor.options().worker_threads == 0);
    work();
    CHECK(processor.describe().executor->waiting == 0);
    CHECK(processor.stop(executor_patience).complete);
    CHECK(processor.counters().messages_handled == 1);

    SessionProcessor with_workers{f.client, "orders"};
    with_workers.on_message([](MessageContext&) {});
    with_workers.start();
    CHECK_FALSE(with_workers.describe().executor);
}

TEST_CASE("executor: a stop returns messages whose works wait in it, and the works run nothing") {
    ExecutorFixture f;
    f.send("ada", 3);
    const auto executor = std::make_shared<KeepingExecutor>();
    std::atomic<int> handled{0};
    {
        SessionProcessor processor{f.client, "orders", {.executor = executor}};
        processor.on_message([&](MessageContext&) { ++handled; });
        processor.start();
        HandlerWork work = executor->take();
        const StopReport report = processor.stop(executor_patience);
        CHECK(report.complete);
        CHECK(report.released >= 1);
        work(); // late, while the processor is there
    }
    executor->run_all(); // and when it is gone
    CHECK(handled == 0);
    auto receiver = SessionReceiver::accept(f.client, "orders", "ada");
    const auto message = receiver.receive_one(executor_patience);
    REQUIRE(message);
    CHECK(message->message().delivery_count() == 0);
}

TEST_CASE("executor: a failure is told to on_error, and the messages are handled later") {
    ExecutorFixture f;
    std::string why;
    std::function<void(HandlerWork)> fails;
    SUBCASE("it throws") {
        why = "execute threw: the pool is full";
        fails = [](HandlerWork) { throw std::runtime_error{"the pool is full"}; };
    }
    SUBCASE("it destroys the work") {
        why = "a work was destroyed and was not run";
        fails = [](HandlerWork) {};
    }
    SUBCASE("it runs the work at once") {
        why = "a work was run within execute";
        fails = [](HandlerWork work) { work(); };
    }
    const auto threads = std::make_shared<ThreadsExecutor>(1U);
    std::atomic<bool> first{true};
    std::atomic<bool> handled_elsewhere{false};
    std::latch handled{1};
    std::promise<ErrorContext> told;
    SessionProcessor processor{
        f.client, "orders", {.executor = std::make_shared<FunctionExecutor>([&](HandlerWork work) {
                                 if (first.exchange(false)) {
                                     fails(std::move(work));
                                 } else {
                                     threads->execute(std::move(work));
                                 }
                             })}};
    processor.on_message([&](MessageContext&) {
        handled_elsewhere = !threads->is_mine(std::this_thread::get_id());
        handled.count_down();
    });
    processor.on_error([&](const ErrorContext& context) { told.set_value(context); });
    processor.start();
    f.send("ada", 1);
    handled.wait();
    auto future = told.get_future();
    REQUIRE(future.wait_for(executor_patience) == std::future_status::ready);
    const ErrorContext context = future.get();
    CHECK(context.source == ErrorSource::executor);
    CHECK(context.failure.code == Errc::handler_failed);
    CHECK(context.failure.detail == why);
    CHECK(context.entity == "orders");
    CHECK(context.fate == MessageFate::none);
    CHECK(context.to_string() == "'orders': the executor failed: " + why);
    CHECK_FALSE(handled_elsewhere);
    CHECK(processor.stop(executor_patience).complete);
    CHECK(processor.counters().messages_completed == 1);
}

TEST_CASE("executor: one that drops every work loses nothing, and a stop returns its messages") {
    ExecutorFixture f;
    f.send("ada", 2);
    std::latch told{1};
    SessionProcessor processor{
        f.client, "orders", {.executor = std::make_shared<FunctionExecutor>([](HandlerWork) {})}};
    processor.on_message([](MessageContext&) {});
    processor.on_error([&](const ErrorContext&) { told.count_down(); }); // once in a row
    processor.start();
    told.wait();
    const StopReport report = processor.stop(executor_patience);
    CHECK(report.complete);
    CHECK(report.left == 0);
    CHECK(processor.counters().messages_handled == 0);
    CHECK(f.broker.counts("orders").active == 2);
}

TEST_CASE("executor: a coroutine resumes on it") {
    ExecutorFixture f;
    f.send("ada", 2);
    const auto executor = std::make_shared<ThreadsExecutor>(2U);
    SessionProcessor processor{f.client, "orders", {.executor = executor}};
    std::atomic<bool> elsewhere{false};
    std::latch both{2};
    processor.on_message(coroutine([&](MessageContext&) -> asio::awaitable<void> {
        const auto here = co_await asio::this_coro::executor;
        co_await asio::post(here, asio::use_awaitable);
        elsewhere = elsewhere || !executor->is_mine(std::this_thread::get_id());
        both.count_down();
    }));
    processor.start();
    both.wait();
    CHECK(processor.stop(executor_patience).complete);
    CHECK_FALSE(elsewhere);
    CHECK(processor.counters().messages_completed == 2);
}

TEST_CASE("executor: a handler on it may request the stop, and may not wait for it") {
    ExecutorFixture f;
    f.send("ada", 1);
    SessionProcessor processor{
        f.client, "orders", {.executor = std::make_shared<ThreadsExecutor>(1U)}};
    std::atomic<bool> requested{false};
    std::atomic<bool> refused{false};
    processor.on_message([&](MessageContext&) {
        refused = test::code_of([&] { processor.wait(); }) == Errc::invalid_state;
        requested = processor.stop(executor_patience).requested_only;
    });
    processor.start();
    CHECK(processor.wait({.timeout = executor_patience}).complete);
    CHECK(refused);
    CHECK(requested);
}

TEST_CASE("executor: a stop gives up a handler on it at its timeout") {
    ExecutorFixture f;
    f.send("ada", 1);
    std::latch started{1};
    std::latch may_end{1};
    SessionProcessor processor{
        f.client, "orders", {.executor = std::make_shared<ThreadsExecutor>(1U)}};
    processor.on_message([&](MessageContext&) {
        started.count_down();
        may_end.wait();
    });
    processor.start();
    started.wait();
    const StopReport report = processor.stop(1ms);
    may_end.count_down();
    CHECK_FALSE(report.complete);
    CHECK(report.left == 1);
}

TEST_CASE("executor: the processor keeps it, and releases it when it is destroyed") {
    ExecutorFixture f;
    f.send("ada", 1);
    auto executor = std::make_shared<KeepingExecutor>();
    KeepingExecutor& kept = *executor;
    const std::weak_ptr<KeepingExecutor> watched = executor;
    std::latch handled{1};
    {
        SessionProcessor processor{f.client, "orders", {.executor = std::move(executor)}};
        processor.on_message([&](MessageContext&) { handled.count_down(); });
        processor.start();
        kept.run_one();
        CHECK(handled.try_wait());
        CHECK(processor.stop(executor_patience).complete);
        CHECK_FALSE(watched.expired());
    }
    CHECK(watched.expired());
}

TEST_CASE("executor: more handlers may run on it when the limits rise") {
    ExecutorFixture f;
    f.send_plain(100);
    Processor processor{
        f.client,
        "plain",
        {.max_concurrent_calls = 1, .executor = std::make_shared<ThreadsExecutor>(70U)}};
    std::latch first{1};
    std::latch seventy{70};
    std::atomic<int> entered{0};
    processor.on_message([&](MessageContext&) {
        const int number = ++entered;
        if (number == 1) {
            first.count_down();
        }
        if (number <= 70) {
            seventy.arrive_and_wait(); // passes only if 70 run at once
        }
    });
    processor.start();
    first.wait();
    processor.update_limits({.max_concurrent_calls = 70});
    seventy.wait();
    CHECK(processor.stop(executor_patience).complete);
}

TEST_CASE("executor: with worker_threads it is refused, and both are named") {
    ExecutorFixture f;
    const auto executor = std::make_shared<KeepingExecutor>();
    const auto words = [](const std::function<void()>& make) -> std::string {
        try {
            make();
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    const std::string wanted{
        "invalid option: executor: runs the handlers, so worker_threads must be 0"};
    CHECK(words([&] {
              SessionProcessor{f.client, "orders", {.worker_threads = 1, .executor = executor}};
          }) == wanted);
    CHECK(words([&] {
              Processor{f.client, "plain", {.worker_threads = 1, .executor = executor}};
          }) == wanted);
}

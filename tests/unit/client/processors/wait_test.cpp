// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <future>
#include <latch>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_future.hpp>

#include <sessionq/async.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_processor.hpp>

#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

constexpr auto wait_patience = 30s; // never waited for in full unless something hangs

} // namespace

TEST_CASE("wait: it returns the report of a stop by another thread, also to several threads") {
    test::OrdersFixture f;
    SessionProcessor processor{f.client, "orders"};
    processor.on_message([](MessageContext&) {});
    processor.start();
    std::latch waiting{2};
    std::vector<std::future<StopReport>> waits;
    for (int i = 0; i < 2; ++i) {
        waits.push_back(std::async(std::launch::async, [&] {
            waiting.count_down();
            return processor.wait();
        }));
    }
    waiting.wait();
    const StopReport report = processor.stop(wait_patience);
    CHECK(report.complete);
    for (auto& wait : waits) {
        const StopReport seen = wait.get();
        CHECK(seen.complete);
        CHECK_FALSE(seen.requested_only);
        CHECK(seen.drained == report.drained);
    }
    CHECK(processor.wait().complete); // it has stopped: at once
}

TEST_CASE("wait: a stop that a handler requests ends it, with the report of the whole stop") {
    test::OrdersFixture f;
    f.sender.send(Message::of("1").in_session("ada"));
    SessionProcessor processor{f.client, "orders"};
    std::atomic<bool> requested{false};
    processor.on_message(
        [&](MessageContext&) { requested = processor.stop(wait_patience).requested_only; });
    processor.start();
    const StopReport report = processor.wait({.timeout = wait_patience});
    CHECK(requested);
    CHECK(report.complete);
    CHECK_FALSE(report.requested_only);
    CHECK(report.drained <= 1); // the handler may end before the stop begins
    CHECK(processor.state() == ProcessorState::stopped);
    CHECK(processor.counters().messages_completed == 1);
}

TEST_CASE("wait: one that was never started is refused, also after a stop without effect") {
    test::OrdersFixture f;
    SessionProcessor processor{f.client, "orders"};
    CHECK(code_of([&] { processor.wait(); }) == Errc::invalid_state);
    CHECK(processor.state() == ProcessorState::created);
    processor.stop();
    CHECK(code_of([&] { processor.wait(); }) == Errc::invalid_state);
    const SessionProcessor moved = std::move(processor);
    CHECK(code_of([&] { processor.wait(); }) == Errc::invalid_state);
    CHECK(code_of([&] { static_cast<void>(processor.state()); }) == Errc::invalid_state);
}

TEST_CASE("wait: a handler of the processor is refused at once, and one of another may wait") {
    test::OrdersFixture f;
    f.broker.create_queue("others");
    f.sender.send(Message::of("1").in_session("ada"));
    SessionProcessor other{f.client, "others"};
    other.on_message([](MessageContext&) {});
    other.start();
    SessionProcessor processor{f.client, "orders"};
    std::optional<Errc> own;
    std::optional<Errc> own_async;
    std::latch refused{1};
    std::latch waited{1};
    processor.on_message([&](MessageContext&) {
        own = code_of([&] { processor.wait(); });
        own_async = code_of([&] { static_cast<void>(async_wait(processor)); });
        refused.count_down();
        other.wait({.timeout = wait_patience});
        waited.count_down();
    });
    processor.start();
    refused.wait();
    CHECK(other.stop(wait_patience).complete);
    waited.wait();
    CHECK(own == Errc::invalid_state);
    CHECK(own_async == Errc::invalid_state);
    CHECK(processor.stop(wait_patience).complete);
}

TEST_CASE("wait: a timeout and a stop token end the call and leave the processor running") {
    test::OrdersFixture f;
    SessionProcessor processor{f.client, "orders"};
    processor.on_message([](MessageContext&) {});
    processor.start();
    CHECK(code_of([&] { processor.wait({.timeout = 1ms}); }) == Errc::timeout);
    CHECK(code_of([&] { processor.wait({.timeout = 0ms}); }) == Errc::timeout);
    std::stop_source source;
    std::latch waiting{1};
    auto cancelled = std::async(std::launch::async, [&] {
        waiting.count_down();
        return code_of([&] { processor.wait({.stop = source.get_token()}); });
    });
    waiting.wait();
    source.request_stop();
    CHECK(cancelled.get() == Errc::cancelled);
    CHECK(processor.state() == ProcessorState::running);
    CHECK(processor.stop(wait_patience).complete);
}

TEST_CASE("state: it follows the life of a processor, through a second start") {
    test::OrdersFixture f;
    f.broker.create_queue("plain", {.requires_session = false});
    Processor processor{f.client, "plain", {.max_concurrent_calls = 1}};
    CHECK(processor.state() == ProcessorState::created);
    std::latch started{1};
    std::latch may_end{1};
    processor.on_message([&](MessageContext&) {
        started.count_down();
        may_end.wait();
    });
    Sender{f.client, "plain"}.send({.body = "1"});
    processor.start();
    started.wait();
    CHECK(processor.state() == ProcessorState::running);
    processor.pause();
    CHECK(processor.state() == ProcessorState::paused);
    processor.resume();
    CHECK(processor.state() == ProcessorState::running);
    auto stopped = std::async(std::launch::async, [&] { return processor.stop(wait_patience); });
    while (processor.state() != ProcessorState::stopping) {
        std::this_thread::yield();
    }
    may_end.count_down();
    CHECK(stopped.get().drained == 1);
    CHECK(processor.wait().drained == 1);
    CHECK(processor.state() == ProcessorState::stopped);
    processor.start();
    CHECK(processor.state() == ProcessorState::running);
    CHECK(code_of([&] { processor.wait({.timeout = 1ms}); }) == Errc::timeout); // the second run
    CHECK(processor.stop(wait_patience).drained == 0);
    CHECK(processor.wait().drained == 0);
}

TEST_CASE("wait: the awaitable twin ends with the stop, and when the processor is destroyed") {
    test::OrdersFixture f;
    f.broker.create_queue("plain", {.requires_session = false});
    asio::io_context context;
    int ended = 0;
    std::exception_ptr failure;
    const auto note = [&](std::exception_ptr error, const StopReport& report) {
        failure = error != nullptr ? error : failure;
        ended += report.complete ? 1 : 0;
    };
    {
        SessionProcessor sessions{f.client, "orders"};
        sessions.on_message([](MessageContext&) {});
        sessions.start();
        Processor plain{f.client, "plain"};
        plain.on_message([](MessageContext&) {});
        plain.start();
        asio::co_spawn(context, async_wait(sessions), note);
        asio::co_spawn(context, async_wait(plain), note);
        context.poll(); // both wait now
        CHECK(ended == 0);
        CHECK(plain.stop(wait_patience).complete);
    }
    context.run();
    CHECK(failure == nullptr);
    CHECK(ended == 2);
}

TEST_CASE("async_stop: it requests the stop at once, and ends with its report") {
    test::OrdersFixture f;
    f.broker.create_queue("plain", {.requires_session = false});
    SessionProcessor sessions{f.client, "orders"};
    sessions.on_message([](MessageContext&) {});
    const auto before = async_stop(sessions, {}, asio::use_future).get(); // never started
    CHECK(before.complete);
    sessions.start();
    Processor plain{f.client, "plain"};
    plain.on_message([](MessageContext&) {});
    plain.start();
    const StopOptions patient{.timeout = wait_patience};
    auto ended = async_stop(plain, patient, asio::use_future);
    CHECK(plain.state() != ProcessorState::running);
    CHECK(ended.get().complete);
    CHECK(plain.state() == ProcessorState::stopped);
    CHECK(async_stop(plain, patient, asio::use_future).get().complete); // again

    asio::io_context context;
    StopReport report;
    asio::co_spawn(context, async_stop(sessions, patient),
                   [&](std::exception_ptr, StopReport ending) { report = ending; });
    CHECK(sessions.state() != ProcessorState::running); // nobody awaits it yet
    context.run();
    CHECK(report.complete);
    CHECK_FALSE(report.requested_only);
}

TEST_CASE("async_stop: a handler of the processor only requests the stop, also as a coroutine") {
    test::OrdersFixture f;
    f.sender.send(Message::of("1").in_session("ada"));
    SessionProcessor processor{f.client, "orders"};
    std::atomic<bool> requested{false};
    processor.on_message(coroutine([&](MessageContext&) -> asio::awaitable<void> {
        const StopReport report = co_await async_stop(processor);
        requested = report.requested_only;
    }));
    processor.start();
    CHECK(processor.wait({.timeout = wait_patience}).complete);
    CHECK(requested);
}

TEST_CASE("async_stop: cancellation ends the wait, and the processor stops nevertheless") {
    test::OrdersFixture f;
    f.sender.send(Message::of("1").in_session("ada"));
    SessionProcessor processor{f.client, "orders"};
    std::latch started{1};
    std::latch may_end{1};
    processor.on_message([&](MessageContext&) {
        started.count_down();
        may_end.wait();
    });
    processor.start();
    started.wait();
    asio::io_context context;
    asio::cancellation_signal signal;
    std::optional<Errc> ended;
    const StopOptions patient{.timeout = wait_patience};
    async_stop(processor, patient,
               asio::bind_cancellation_slot(
                   signal.slot(),
                   asio::bind_executor(context, [&](const std::exception_ptr& why, StopReport) {
                       ended = code_of([&] { std::rethrow_exception(why); });
                   })));
    signal.emit(asio::cancellation_type::terminal);
    context.run();
    CHECK(ended == Errc::cancelled);
    may_end.count_down();
    CHECK(processor.wait({.timeout = wait_patience}).complete);
}

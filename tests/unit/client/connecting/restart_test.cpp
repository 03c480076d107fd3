// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/processor.hpp>
#include <sessionq/session_processor.hpp>

#include "core/clock.hpp"
#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;
using RunState = ProcessorDescription::State;

namespace {

constexpr auto restart_patience = 30s; // never waited for in full unless something hangs

std::string refusal_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

/// Calls `attempt` until it is true.
bool happens_soon(const std::function<bool()>& attempt) {
    const auto end = core::system_clock().now() + restart_patience;
    while (core::system_clock().now() < end) {
        if (attempt()) {
            return true;
        }
        std::this_thread::yield();
    }
    return false;
}

struct RestartFixture : test::OrdersFixture {
    void send(const std::string& session) { sender.send(Message::of("x").in_session(session)); }
};

} // namespace

TEST_CASE_FIXTURE(RestartFixture,
                  "restart: a processor that has stopped starts again, with its handlers") {
    SessionProcessor processor{client, "orders"};
    std::atomic<int> handled{0};
    std::atomic<int> closed{0};
    processor.on_message([&](MessageContext&) { ++handled; });
    processor.on_session_close([&](SessionContext&, CloseReason) { ++closed; });
    constexpr int runs = 20;
    for (int run = 1; run <= runs; ++run) {
        CAPTURE(run);
        send("a");
        processor.start();
        CHECK(happens_soon([&] { return handled == run; }));
        CHECK(processor.describe().state == RunState::running);
        CHECK(processor.stop(restart_patience).complete);
        CHECK(processor.describe().state == RunState::stopped);
        CHECK(processor.counters().messages_handled == 1); // of this run
    }
    CHECK(closed == runs);
    CHECK(broker.counts("orders").active == 0);
}

TEST_CASE_FIXTURE(RestartFixture,
                  "restart: limits and pauses end with a stop, handlers may be replaced") {
    SessionProcessor processor{client, "orders", {.max_concurrent_sessions = 2}};
    processor.on_message([](MessageContext&) {});
    processor.start();
    CHECK(code_of([&] { processor.on_message([](MessageContext&) {}); }) == Errc::invalid_state);
    processor.update_limits({.max_concurrent_sessions = 5});
    processor.pause();
    CHECK(processor.stop(restart_patience).complete);
    std::promise<void> other;
    processor.on_message([&](MessageContext&) { other.set_value(); });
    send("a");
    processor.start();
    CHECK(processor.describe().state == RunState::running);
    CHECK(processor.describe().slots.size() == 2);
    CHECK(other.get_future().wait_for(restart_patience) == std::future_status::ready);
    CHECK(processor.stop(restart_patience).complete);
}

TEST_CASE_FIXTURE(RestartFixture,
                  "restart: not before it has stopped and its handlers have returned") {
    send("a");
    SessionProcessor processor{client, "orders", {.worker_threads = 1}};
    std::promise<void> entered;
    std::latch let_go{1};
    processor.on_message([&](MessageContext&) {
        entered.set_value();
        let_go.wait();
    });
    processor.start();
    REQUIRE(entered.get_future().wait_for(restart_patience) == std::future_status::ready);
    CHECK(refusal_of([&] { processor.start(); }).find("has not stopped") != std::string::npos);
    CHECK_FALSE(processor.stop(1ms).complete);
    CHECK(refusal_of([&] { processor.start(); }).find("have not returned") != std::string::npos);
    CHECK(code_of([&] { processor.start(); }) == Errc::invalid_state);
    std::promise<void> again;
    processor.on_message([&](MessageContext&) { again.set_value(); });
    let_go.count_down();
    CHECK(happens_soon([&] { return code_of([&] { processor.start(); }) == Errc{}; }));
    CHECK(again.get_future().wait_for(restart_patience) == std::future_status::ready);
    CHECK(processor.stop(restart_patience).complete);
}

TEST_CASE_FIXTURE(RestartFixture, "restart: a handler that stops its processor cannot start it") {
    send("a");
    SessionProcessor processor{client, "orders"};
    std::promise<Errc> refused;
    std::atomic<int> calls{0};
    processor.on_message([&](MessageContext&) {
        if (++calls == 1) {
            CHECK(processor.stop(restart_patience).requested_only);
            refused.set_value(code_of([&] { processor.start(); }));
        }
    });
    processor.start();
    auto code = refused.get_future();
    REQUIRE(code.wait_for(restart_patience) == std::future_status::ready);
    CHECK(code.get() == Errc::invalid_state);
    CHECK(processor.stop(restart_patience).complete);
    send("b");
    processor.start();
    CHECK(happens_soon([&] { return calls == 2; }));
    CHECK(processor.stop(restart_patience).complete);
}

TEST_CASE_FIXTURE(RestartFixture, "restart: others may describe, count and stop meanwhile") {
    SessionProcessor processor{client, "orders", {.session_idle_timeout = 0ms}};
    std::atomic<int> handled{0};
    processor.on_message([&](MessageContext&) {
        ++handled;
        static_cast<void>(processor.counters());
    });
    constexpr int messages = 30;
    std::atomic<bool> over{false};
    {
        std::vector<std::jthread> threads;
        threads.emplace_back([&] {
            while (!over) {
                static_cast<void>(processor.describe());
                static_cast<void>(code_of([&] { processor.pause(); }));
                static_cast<void>(code_of([&] { processor.resume(); }));
            }
        });
        threads.emplace_back([&] {
            while (!over) {
                static_cast<void>(processor.counters());
                static_cast<void>(processor.stop(restart_patience));
            }
        });
        for (int i = 0; i < 2; ++i) {
            threads.emplace_back([&] {
                while (!over) {
                    static_cast<void>(code_of([&] { processor.start(); }));
                }
            });
        }
        for (int i = 0; i < messages; ++i) {
            send("s" + std::to_string(i % 3));
        }
        CHECK(happens_soon([&] { return handled == messages; }));
        over = true;
    }
    CHECK(processor.stop(restart_patience).complete);
    CHECK(broker.counts("orders").active == 0);
}

TEST_CASE_FIXTURE(RestartFixture, "restart: a processor without sessions") {
    broker.create_queue("plain", {.requires_session = false});
    Processor processor{client, "plain"};
    std::atomic<int> handled{0};
    processor.on_message([&](MessageContext&) { ++handled; });
    for (int run = 1; run <= 3; ++run) {
        Sender{client, "plain"}.send({.body = "x"});
        processor.start();
        CHECK(happens_soon([&] { return handled == run; }));
        CHECK(processor.stop(restart_patience).complete);
        CHECK(processor.counters().messages_handled == 1);
    }
    CHECK(broker.counts("plain").active == 0);
}

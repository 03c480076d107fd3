// SPDX-License-Identifier: MIT
#include <sessionq/browser.hpp>

#include <doctest/doctest.h>

#include <thread>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <sessionq/async.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_receiver.hpp>

#include "core/clock.hpp"
#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

struct BrowserFixture : test::OrdersFixture {
    Browser browser{client, "orders"};
};

} // namespace

TEST_CASE("browser: next shows what is there, in order, behind what peek showed") {
    BrowserFixture f;
    for (const char* text : {"1", "2", "3"}) {
        f.sender.send(Message::of(text).in_session("a"));
    }
    CHECK(f.browser.peek(1).size() == 1);
    CHECK(f.browser.next()->text() == "2");
    CHECK(f.browser.next(0s)->text() == "3");
    CHECK_FALSE(f.browser.next(0s));
    CHECK_FALSE(f.browser.next(1ms));
    f.browser.seek(0);
    CHECK(f.browser.next()->text() == "1");
    CHECK(f.browser.peek(10).size() == 2);
}

TEST_CASE("DG8: browser: next waits for messages, and leaves them to the receiver") {
    BrowserFixture f;
    SessionReceiver receiver = SessionReceiver::accept(f.client, "orders", "a");
    std::thread late{[&] {
        while (f.broker.counts("orders").active < 2) {
            f.sender.send(
                Message::of(std::to_string(f.broker.counts("orders").active + 1)).in_session("a"));
        }
    }};
    const auto first = f.browser.next(60s);
    const auto second = f.browser.next(60s);
    late.join();
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first->text() == "1");
    CHECK(second->text() == "2");
    for (const char* text : {"1", "2"}) {
        auto received = receiver.receive_one(60s);
        REQUIRE(received);
        CHECK(received->text() == text);
        CHECK(received->message().delivery_count() == 0);
        received->complete();
    }
    CHECK_FALSE(f.browser.next(0s));
}

TEST_CASE("browser: next ends with none at the deadline, and with cancelled by the stop token") {
    BrowserFixture f;
    CHECK_FALSE(f.browser.next(60s, {.timeout = 1ms}));
    CHECK_FALSE(f.browser.next(60s, {.timeout = 0s}));
    std::stop_source stop;
    std::thread stopper{[&] { stop.request_stop(); }};
    CHECK(code_of([&] { static_cast<void>(f.browser.next(60s, {.stop = stop.get_token()})); }) ==
          Errc::cancelled);
    stopper.join();
    CHECK(code_of([&] { static_cast<void>(f.browser.next(-1s)); }) == Errc::invalid_argument);
    std::thread deleter{[&] { f.broker.delete_queue("orders"); }};
    CHECK(code_of([&] { static_cast<void>(f.browser.next(60s)); }) == Errc::entity_not_found);
    deleter.join();
}

TEST_CASE("async: next is awaited, and resumes with the message") {
    BrowserFixture f;
    asio::io_context executor;
    std::string seen;
    asio::co_spawn(
        executor,
        [&]() -> asio::awaitable<void> {
            for (auto message = co_await async_next(f.browser, 60s); message->text() != "end";
                 message = co_await async_next(f.browser)) {
                seen += message->text();
            }
            const auto none = co_await async_next(f.browser, 0s);
            seen += none ? "?" : ".";
        },
        [](std::exception_ptr failure) { CHECK_FALSE(failure); });
    executor.poll();
    CHECK(seen.empty());
    for (const char* text : {"1", "2", "end"}) {
        f.sender.send(Message::of(text).in_session("a"));
    }
    executor.run();
    CHECK(seen == "12.");
}

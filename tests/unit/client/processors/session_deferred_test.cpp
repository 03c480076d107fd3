// SPDX-License-Identifier: MIT
#include "client/processors/session_deferred.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <optional>

#include <sessionq/async.hpp>
#include <sessionq/processor.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/session_receiver.hpp>

#include "client/receiving/session_receiver_operations.hpp"
#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"
#include "unit/client/processors/handler_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 20s;

/// The test is in the handler of a session and has asked for deferred messages.
struct DeferredFixture : test::HandlerFixture {
    void ask() {
        auto call = detail::client::receive_deferred(session(), {7, 8}, {});
        finish = std::move(call.finish);
        pending = run(std::move(*call.operation));
    }
    [[nodiscard]] std::vector<SessionMessage> receive() {
        ask();
        CHECK(link->answer_deferred({"x", "y"}));
        bench.run();
        REQUIRE(pending->answers.size() == 1);
        return finish(std::move(pending->answers.front()));
    }
    auto settle(const SessionMessage& message, ports::Outcome outcome) {
        return run(std::move(*detail::client::settle(message, outcome, {}).operation));
    }

    std::function<std::vector<SessionMessage>(core::Result<detail::client::Deliveries>)> finish{};
    std::shared_ptr<test::RecordingPending<detail::client::Deliveries>> pending{};
};

} // namespace

TEST_CASE("session deferred: a handler receives and settles them, and the processor does not") {
    DeferredFixture f;
    const auto messages = f.receive();
    REQUIRE(messages.size() == 2);
    CHECK(messages[0].text() == "x");
    CHECK_FALSE(messages[0].settled());
    CHECK(messages[0].lock_expires() == f.session().lock_expires());
    f.link->answers = false;
    const auto completed = f.settle(messages[0], ports::Outcome::complete);
    const auto released = f.settle(messages[1], ports::Outcome::release);
    CHECK(completed->answers.empty());
    CHECK(f.link->take_log() == "ask for 2, complete x, release y");
    const Failure refused{.code = Errc::message_not_found};
    f.link->answer_settlement();
    f.link->answer_settlement(&refused);
    REQUIRE(completed->answers.size() == 1);
    CHECK(completed->answers.front().ok());
    CHECK(released->answers.front().failure().code == Errc::message_not_found);
    CHECK(test::code_of([&] { f.settle(messages[0], ports::Outcome::complete); }) ==
          Errc::already_settled); // R8
    CHECK(f.bench.errors.empty());
    CHECK(f.bench.counters().messages_completed == 0);
    f.link->answers = true;
    f.bench.finish_all();
    CHECK(f.link->take_log() == "complete 1"); // the message of the handler itself
}

TEST_CASE("session deferred: what is not settled cannot be settled after the session") {
    DeferredFixture f;
    const auto messages = f.receive();
    f.bench.finish_all();
    CHECK(test::code_of([&] { f.settle(messages[0], ports::Outcome::complete); }) == Errc{});
    f.bench.stop(1s);
    CHECK(f.link->take_log() == "ask for 2, complete 1, complete x, drain, close");
    CHECK(test::code_of([&] { f.settle(messages[1], ports::Outcome::complete); }) ==
          Errc::lock_lost);
}

TEST_CASE("R15: session deferred: the end of the lock ends what is asked, and settlements") {
    DeferredFixture f;
    const auto messages = f.receive();
    f.link->answers = false;
    const auto asked = f.settle(messages[0], ports::Outcome::complete);
    f.ask();
    SUBCASE("the link tells") { f.link->lose(Errc::lock_lost); }
    SUBCASE("the processor gives it up") {
        f.bench.stop(1s);
        f.bench.advance(1s);
    }
    f.bench.run();
    REQUIRE(asked->answers.size() == 1);
    CHECK(asked->answers.front().failure().code == Errc::lock_lost);
    REQUIRE(f.pending->answers.size() == 1);
    CHECK(f.pending->answers.front().failure().code == Errc::lock_lost);
    const auto late = f.settle(messages[1], ports::Outcome::complete);
    REQUIRE(late->answers.size() == 1);
    CHECK(late->answers.front().failure().code == Errc::lock_lost);
    f.ask();
    CHECK(f.pending->answers.front().failure().code == Errc::lock_lost);
    f.bench.finish_all();
}

TEST_CASE("session deferred: a request that is given up is given up at the link") {
    DeferredFixture f;
    std::stop_source stop;
    auto call = detail::client::receive_deferred(f.session(), {7}, {.stop = stop.get_token()});
    const auto pending = f.run(std::move(*call.operation));
    stop.request_stop();
    f.bench.run();
    CHECK(f.link->take_log().starts_with("ask for 1, give up "));
    f.link->answer_deferred({"x"});
    f.bench.finish_all();
}

TEST_CASE("session deferred: none asked for, and what is refused") {
    DeferredFixture f;
    auto call = detail::client::receive_deferred(f.session(), {}, {});
    const auto none = f.run(std::move(*call.operation));
    REQUIRE(none->answers.size() == 1);
    CHECK(none->answers.front().value().empty());
    const auto messages = f.receive();
    CHECK(test::code_of([&] { static_cast<void>(detail::client::renew_lock(messages[0], {})); }) ==
          Errc::not_supported);
    f.bench.endpoint.can = {"scripted", {ports::Capability::lock_renewal}};
    CHECK(test::code_of([&] {
              static_cast<void>(detail::client::receive_deferred(f.session(), {1}, {}));
          }) == Errc::not_supported);
    CHECK(test::code_of([&] { f.settle(messages[0], ports::Outcome::dead_letter); }) ==
          Errc::not_supported);
    f.bench.host.reset(); // the client has ended
    CHECK(test::code_of([&] { f.settle(messages[0], ports::Outcome::complete); }) ==
          Errc::lock_lost);
    f.bench.finish_all();
}

TEST_CASE("session deferred: a session defers, and takes up again, within its handlers") {
    test::OrdersFixture f;
    for (const char* text : {"part", "rest", "end"}) {
        f.sender.send(Message::of(text).in_session("ada"));
    }
    std::promise<std::string> seen;
    SessionProcessor processor{f.client, "orders"};
    SUBCASE("blocking") {
        processor.on_message([&](MessageContext& context) {
            auto session = context.session();
            const std::int64_t number = context.message().sequence_number();
            if (context.message().text() == "part") {
                context.defer();
                session.set_state(std::to_string(number));
            } else if (context.message().text() == "rest") {
                auto parts = session.receive_deferred({std::stoll(*session.state())});
                session.set_state(std::string{parts.at(0).text()});
                parts.at(0).complete();
                CHECK(test::code_of([&] { parts.at(0).complete(); }) == Errc::already_settled);
                CHECK(test::code_of([&] {
                          static_cast<void>(session.receive_deferred({number}));
                      }) == Errc::message_not_found);
            } else {
                seen.set_value(session.state().value_or("none"));
            }
        });
    }
    SUBCASE("awaiting") {
        processor.on_message(coroutine([&](MessageContext& context) -> asio::awaitable<void> {
            const auto session = context.session();
            const std::int64_t number = context.message().sequence_number();
            if (context.message().text() == "part") {
                context.defer();
                co_await async_set_state(session, std::to_string(number));
            } else if (context.message().text() == "rest") {
                const auto state = co_await async_state(session);
                const std::vector<std::int64_t> numbers(1, std::stoll(*state));
                auto parts = co_await async_receive_deferred(session, numbers);
                co_await async_set_state(session, std::string{parts.at(0).text()});
                co_await async_complete(parts.at(0));
            } else {
                seen.set_value((co_await async_state(session)).value_or("none"));
            }
        }));
    }
    processor.start();
    auto future = seen.get_future();
    REQUIRE(future.wait_for(patience) == std::future_status::ready);
    CHECK(future.get() == "part");
    CHECK(processor.stop(patience).complete);
    CHECK(f.broker.counts("orders").deferred == 0);
}

TEST_CASE("session deferred: what a handler does not settle stays deferred, uncounted") {
    test::OrdersFixture f;
    f.sender.send(Message::of("part").in_session("ada"));
    f.sender.send(Message::of("rest").in_session("ada"));
    std::promise<std::int64_t> seen;
    std::optional<SessionMessage> kept;
    SessionProcessor processor{f.client, "orders"};
    processor.on_message([&, number = std::int64_t{0}](MessageContext& context) mutable {
        if (context.message().text() == "part") {
            number = context.message().sequence_number();
            context.defer();
        } else {
            auto parts = context.session().receive_deferred({number});
            kept.emplace(std::move(parts.at(0)));
            seen.set_value(number);
        }
    });
    processor.start();
    auto future = seen.get_future();
    REQUIRE(future.wait_for(patience) == std::future_status::ready);
    const std::int64_t number = future.get();
    CHECK(processor.stop(patience).complete);
    CHECK(f.broker.counts("orders").deferred == 1);
    CHECK(test::code_of([&] { kept->complete(); }) == Errc::lock_lost);
    SessionReceiver receiver = SessionReceiver::accept(f.client, "orders", "ada");
    auto again = receiver.receive_deferred({number});
    CHECK(again.at(0).message().delivery_count() == 0);
    again.at(0).complete();
}

TEST_CASE("session deferred: in an entity without sessions each has a lock of its own") {
    test::OrdersFixture f;
    f.broker.create_queue("plain", {.requires_session = false});
    const Sender sender{f.client, "plain"};
    const std::int64_t number = 1;
    sender.send(Message{.body = "part"});
    std::promise<Errc> seen;
    Processor processor{f.client, "plain", {.max_concurrent_calls = 1}};
    processor.on_message([&](MessageContext& context) {
        if (context.message().text() == "part") {
            context.defer();
            return;
        }
        auto parts = context.session().receive_deferred({number});
        CHECK_FALSE(parts.at(0).lock_expires().is_never());
        seen.set_value(test::code_of([&] { parts.at(0).complete(); }));
    });
    processor.start();
    const auto deferred = [&] { return f.broker.counts("plain").deferred == 1; };
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!deferred() && std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
    }
    sender.send(Message{.body = "rest"});
    auto future = seen.get_future();
    REQUIRE(future.wait_for(patience) == std::future_status::ready);
    CHECK(future.get() == Errc{});
    CHECK(processor.stop(patience).complete);
    CHECK(f.broker.counts("plain").deferred == 0);
}

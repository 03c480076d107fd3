// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/testing/fake_message.hpp>
#include <sessionq/testing/fake_session.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using Decider = testing::Settlement::Decider;
using Outcome = testing::Settlement::Outcome;
using testing::FakeMessage;
using testing::FakeSession;
using testing::FakeSessionOptions;

TEST_CASE("fake message: tells how its handler settled it") {
    struct Row {
        std::function<void(MessageContext&)> handle;
        Outcome outcome;
    };
    const Row rows[] = {
        {[](MessageContext& context) { context.complete(); }, Outcome::completed},
        {[](MessageContext& context) {
             context.abandon({{"seen", true}});
         },
         Outcome::abandoned},
        {[](MessageContext& context) { context.release(); }, Outcome::released},
        {[](MessageContext& context) { context.defer(); }, Outcome::deferred},
        {[](MessageContext& context) {
             context.dead_letter("Bad", "very", {{"seen", true}});
         },
         Outcome::dead_lettered},
    };
    FakeSession session{{.session_id = "ada"}};
    for (const Row& row : rows) {
        FakeMessage message{session, Message::of("1").in_session("ada")};
        CHECK_FALSE(message.settlement());
        message.run(MessageHandler{row.handle});
        REQUIRE(message.settlement());
        CHECK(message.settlement()->outcome == row.outcome);
        CHECK(message.settlement()->decided_by == Decider::handler);
        CHECK(message.context().settled());
        CHECK(test::code_of([&] { message.context().complete(); }) == Errc::already_settled);
    }
    FakeMessage dead{session, Message::of("1").in_session("ada")};
    dead.context().dead_letter("Bad", "very", {{"seen", true}});
    CHECK(dead.settlement()->reason == "Bad");
    CHECK(dead.settlement()->description == "very");
    CHECK(dead.settlement()->properties_to_modify.at("seen") == PropertyValue{true});
}

TEST_CASE("fake message: tells what a processor does when its handler has ended") {
    struct Row {
        FakeSessionOptions session;
        bool throws;
        std::optional<Outcome> outcome;
        std::string reason{};
        std::string description{};
    };
    const auto policy = [](FailurePolicy is) { return FakeSessionOptions{.failure_policy = is}; };
    const Row rows[] = {
        {{}, false, Outcome::completed},
        {{}, true, Outcome::abandoned},
        {policy(FailurePolicy::dead_letter()), false, Outcome::completed},
        {policy(FailurePolicy::dead_letter()), true, Outcome::dead_lettered, "HandlerFailed", "no"},
        {policy(FailurePolicy::dead_letter_session()), true, Outcome::dead_lettered,
         "HandlerFailed", "no"},
        {policy(FailurePolicy::park_session(1s)), true, Outcome::abandoned},
        {policy(FailurePolicy::retry_later({1s})), true, Outcome::abandoned},
        {policy(FailurePolicy::abandon_at_once()), true, Outcome::abandoned},
        {policy(FailurePolicy::dead_letter().after_attempts(2)), true, std::nullopt},
        {{.auto_complete = false}, false, Outcome::abandoned},
        {{.auto_complete = false, .failure_policy = FailurePolicy::dead_letter()},
         false,
         Outcome::dead_lettered,
         "HandlerFailed",
         "not possible in this state: the handler returned without settling the message"},
        {{.receive_and_delete = true}, false, std::nullopt},
        {{.receive_and_delete = true}, true, std::nullopt},
    };
    for (const Row& row : rows) {
        CAPTURE(&row - std::begin(rows));
        FakeSession session{row.session};
        FakeMessage message{session, Message::of("1")};
        CHECK_FALSE(message.settlement());
        try {
            message.run(MessageHandler{[&row](MessageContext&) {
                if (row.throws) {
                    throw std::runtime_error{"no"};
                }
            }});
            CHECK_FALSE(row.throws);
        } catch (const std::runtime_error&) {
            CHECK(row.throws);
        }
        const auto settlement = message.settlement();
        REQUIRE(settlement.has_value() == row.outcome.has_value());
        CHECK(message.context().settled() == row.outcome.has_value());
        if (settlement) {
            CHECK(settlement->outcome == *row.outcome);
            CHECK(settlement->decided_by == Decider::processor);
            CHECK(settlement->reason == row.reason);
            CHECK(settlement->description == row.description);
        }
    }
}

TEST_CASE("fake message: a policy counts attempts, and a lost lock settles nothing") {
    const FakeSessionOptions options{.failure_policy =
                                         FailurePolicy::dead_letter().after_attempts(2)};
    const auto fails = [](MessageContext&) { throw std::runtime_error{"no"}; };
    FakeSession session{options};
    FakeMessage last{session, Message::of("1"), {}, 2};
    CHECK_THROWS_AS(last.run(MessageHandler{fails}), std::runtime_error);
    CHECK(last.settlement()->outcome == Outcome::dead_lettered);
    FakeMessage settled{session, Message::of("1")};
    CHECK_THROWS_AS(settled.run(MessageHandler{[](MessageContext& context) {
        context.defer();
        throw std::runtime_error{"no"};
    }}),
                    std::runtime_error);
    CHECK(settled.settlement()->outcome == Outcome::deferred); // what it had decided stands
    CHECK(settled.settlement()->decided_by == Decider::handler);
    FakeMessage lost{session, Message::of("1")};
    lost.run(MessageHandler{[&](MessageContext&) { session.lose_lock(); }});
    CHECK_FALSE(lost.settlement());
}

TEST_CASE("fake session: options that a processor refuses are refused") {
    const auto complaint_of = [](FakeSessionOptions options) {
        try {
            const FakeSession session{std::move(options)};
        } catch (const Error& error) {
            CHECK(error.code() == Errc::invalid_option);
            return error.failure().detail;
        }
        return std::string{};
    };
    CHECK(
        complaint_of({.receive_and_delete = true, .auto_complete = false}).find("auto_complete") !=
        std::string::npos);
    CHECK(complaint_of({.failure_policy = FailurePolicy::retry_later({})}).find("retry_delays") !=
          std::string::npos);
    CHECK(complaint_of({}).empty());
}

TEST_CASE("fake message: shows the message as a broker would deliver it") {
    FakeSession session{{.session_id = "ada", .entity = "orders"}};
    FakeMessage first{session, Message{.body = "1"}};
    CHECK(first.message().session_id() == "ada");
    CHECK(first.message().sequence_number() == 1);
    CHECK(first.context().session().entity() == "orders");
    CHECK(first.context().session().session_id() == "ada");
    CHECK(first.context().session().lock_expires().is_never());
    const Deadline soon = Deadline::at(std::chrono::steady_clock::now() + 1h);
    FakeMessage second{session,
                       Message{.body = "2", .session_id = "Ada", .deadline = soon},
                       {.sequence_number = 9, .delivery_count = 3},
                       2};
    CHECK(second.context().message().text() == "2");
    CHECK(second.context().message().session_id() ==
          "Ada"); // ids that differ in case are one session
    CHECK(second.context().message().sequence_number() == 9);
    CHECK(second.context().message().delivery_count() == 3);
    CHECK(second.context().attempt() == 2);
    CHECK(second.context().deadline() == soon);
    second.run(MessageHandler{
        [&](MessageContext&) { CHECK(OperationContext::current().deadline() == soon); }});
}

TEST_CASE("fake message: a message of another session is refused") {
    FakeSession session{{.session_id = "ada"}};
    CHECK_THROWS_WITH_AS((FakeMessage{session, Message::of("1").in_session("bob")}),
                         "invalid argument: the message is of session 'bob', and the session is "
                         "'ada'",
                         Error);
    CHECK(test::code_of([&] { session.add_deferred(Message::of("1").in_session("bob")); }) ==
          Errc::invalid_argument);
}

TEST_CASE("fake message: the test of the guide to testing") {
    const auto handler = [](MessageContext& context) { context.session().set_state("3 parts"); };
    FakeSession session{{.session_id = "ada", .state = "2 parts"}};
    FakeMessage message{session, Message::of("part").in_session("ada")};
    message.run(handler);
    REQUIRE(message.settlement().has_value());
    CHECK(message.settlement()->outcome == Outcome::completed);
    CHECK(session.state() == "3 parts");
}

TEST_CASE("fake message: what a handler throws comes to the test") {
    FakeSession session;
    FakeMessage message{session, Message{.body = "1"}};
    CHECK_THROWS_AS(
        message.run(MessageHandler{[](MessageContext&) { throw std::runtime_error{"no"}; }}),
        std::runtime_error);
    const auto fails = coroutine([](MessageContext&) -> asio::awaitable<void> {
        throw std::runtime_error{"no"};
        co_return;
    });
    CHECK_THROWS_AS(message.run(fails), std::runtime_error);
    CHECK(message.settlement()->outcome == Outcome::abandoned);
}

TEST_CASE("fake message: the failure that a handler states is told, the first of them") {
    FakeSession session{{.session_id = "ada"}};
    FakeMessage message{session, Message::of("1").in_session("ada")};
    CHECK_FALSE(message.failure());
    message.run(MessageHandler{[](MessageContext& context) {
        context.fail({.code = Errc::handler_failed, .detail = "the order is empty"});
        context.fail({.code = Errc::timeout});
    }});
    REQUIRE(message.failure());
    CHECK(message.failure()->code == Errc::handler_failed);
    CHECK(message.failure()->detail == "the order is empty");
    REQUIRE(message.settlement());
    CHECK(message.settlement()->outcome == Outcome::abandoned);
    CHECK(message.settlement()->decided_by == Decider::processor);
    CHECK(message.context().try_complete().error().code == Errc::already_settled);
}

TEST_CASE("fake message: a handler of batches gets several, and what it did is told of each") {
    FakeSession session{{.session_id = "ada"}};
    std::vector<FakeMessage> batch;
    const Deadline soon = Deadline::at(std::chrono::steady_clock::now() + 1h);
    batch.emplace_back(session, Message{.body = "1"});
    batch.emplace_back(session, Message{.body = "2", .deadline = soon});
    batch.emplace_back(session, Message{.body = "3"});
    const auto handle = [&](std::span<MessageContext> messages) {
        REQUIRE(messages.size() == 3);
        CHECK(messages[2].message().text() == "3");
        CHECK(messages[0].session().session_id() == "ada");
        CHECK(OperationContext::current().deadline() == soon);
        messages[0].complete();
        messages[1].dead_letter("Bad");
    };
    SUBCASE("a function") { FakeMessage::run_batch(batch, handle); }
    SUBCASE("a coroutine") {
        FakeMessage::run_batch(
            batch, coroutine([&](std::span<MessageContext> messages) -> asio::awaitable<void> {
                handle(messages);
                co_await async_set_state(messages[0].session(), "done");
            }));
        CHECK(session.state() == "done");
    }
    CHECK(batch[0].settlement()->outcome == Outcome::completed);
    CHECK(batch[1].settlement()->reason == "Bad");
    CHECK(batch[1].settlement()->decided_by == Decider::handler);
    CHECK(batch[2].settlement()->outcome == Outcome::completed);
    CHECK(batch[2].settlement()->decided_by == Decider::processor);
    CHECK(batch[0].context().settled());
    CHECK(test::code_of([&] { batch[0].context().complete(); }) == Errc::already_settled);
}

TEST_CASE("fake message: in a batch that fails, the first message that is not settled has failed") {
    const auto batch_of = [](FakeSession& session) {
        std::vector<FakeMessage> made;
        for (const char* text : {"1", "2", "3"}) {
            made.emplace_back(session, Message::of(text));
        }
        return made;
    };
    SUBCASE("because its handler throws") {
        FakeSession session{{.failure_policy = FailurePolicy::dead_letter()}};
        std::vector<FakeMessage> batch = batch_of(session);
        CHECK_THROWS_AS(FakeMessage::run_batch(batch,
                                               [](std::span<MessageContext> messages) {
                                                   messages[0].complete();
                                                   messages[2].defer();
                                                   throw std::runtime_error{"no"};
                                               }),
                        std::runtime_error);
        CHECK(batch[0].settlement()->decided_by == Decider::handler);
        CHECK(batch[1].settlement()->outcome == Outcome::dead_lettered);
        CHECK(batch[1].settlement()->description == "no");
        CHECK(batch[2].settlement()->outcome == Outcome::deferred);
    }
    SUBCASE("because it has to settle them all, and those behind it come again") {
        FakeSession session{{.auto_complete = false}};
        std::vector<FakeMessage> batch = batch_of(session);
        FakeMessage::run_batch(batch,
                               [](std::span<MessageContext> messages) { messages[0].complete(); });
        CHECK(batch[0].settlement()->outcome == Outcome::completed);
        CHECK(batch[1].settlement()->outcome == Outcome::abandoned);
        CHECK(batch[1].settlement()->decided_by == Decider::processor);
        CHECK_FALSE(batch[2].settlement());
    }
}

TEST_CASE("fake message: a batch has messages, of one session, and its exception comes to the "
          "test") {
    FakeSession session;
    FakeSession other;
    std::vector<FakeMessage> batch;
    const auto run = [&](const BatchHandler& handler) {
        return test::code_of([&] { FakeMessage::run_batch(batch, handler); });
    };
    CHECK(run([](std::span<MessageContext>) {}) == Errc::invalid_argument);
    batch.emplace_back(session, Message{.body = "1"});
    CHECK_THROWS_AS(FakeMessage::run_batch(
                        batch, [](std::span<MessageContext>) { throw std::runtime_error{"no"}; }),
                    std::runtime_error);
    batch.emplace_back(other, Message{.body = "2"});
    CHECK(run([](std::span<MessageContext>) {}) == Errc::invalid_argument);
}

TEST_CASE("fake message: runs handlers that finish later") {
    FakeSession session{{.state = "old"}};
    FakeMessage message{session, Message{.body = "1"}};
    SUBCASE("a coroutine, on this thread") {
        const auto here = std::this_thread::get_id();
        message.run(coroutine([&](MessageContext& context) -> asio::awaitable<void> {
            asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
            co_await timer.async_wait(asio::use_awaitable);
            CHECK(std::this_thread::get_id() == here);
            const auto state = co_await async_state(context.session());
            co_await async_set_state(context.session(), *state + " new");
            context.complete();
        }));
    }
    SUBCASE("an operation that another thread ends") {
        std::jthread other;
        message.run(MessageHandler::started_by([&](MessageContext& context, Completion completion) {
            other = std::jthread{[&context, completion = std::move(completion)] {
                context.session().set_state("old new");
                context.complete();
                completion.done();
            }};
        }));
    }
    CHECK(session.state() == "old new");
    CHECK(message.settlement()->outcome == Outcome::completed);
}

TEST_CASE("fake session: state, release, the stop token, and what requests fail with") {
    FakeSession session{{.state = "1"}};
    SessionContext& context = session.context();
    CHECK(context.state() == "1");
    context.set_state(std::nullopt);
    CHECK_FALSE(session.state());
    session.set_state("2");
    CHECK(context.state() == "2");
    CHECK_FALSE(session.released());
    context.release();
    CHECK(session.released());
    session.fail_requests(Errc::timeout);
    CHECK(test::code_of([&] { static_cast<void>(context.state()); }) == Errc::timeout);
    CHECK(test::code_of([&] { context.set_state("3"); }) == Errc::timeout);
    session.fail_requests(std::nullopt);
    CHECK(context.state() == "2");
    FakeMessage message{session, Message{.body = "1"}};
    CHECK_FALSE(message.context().stop_token().stop_requested());
    session.request_stop();
    CHECK(message.context().stop_token().stop_requested());
    message.context().session().set_state("still held");
    session.lose_lock();
    CHECK(test::code_of([&] { message.context().complete(); }) == Errc::lock_lost);
    CHECK(test::code_of([&] { context.set_state("4"); }) == Errc::lock_lost);
    CHECK_FALSE(message.settlement());
}

TEST_CASE("fake session: runs session handlers to their end") {
    FakeSession session{{.session_id = "ada"}};
    SUBCASE("functions") {
        session.run([](SessionContext& opened) { opened.set_state(opened.session_id()); });
        CHECK(session.state() == "ada");
        session.run([](SessionContext& closed,
                       CloseReason reason) { closed.set_state(std::string{to_string(reason)}); },
                    CloseReason::max_hold);
        CHECK(session.state() == "max_hold");
    }
    SUBCASE("coroutines, on this thread") {
        const auto here = std::this_thread::get_id();
        session.run(coroutine([&](SessionContext& opened) -> asio::awaitable<void> {
            asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
            co_await timer.async_wait(asio::use_awaitable);
            CHECK(std::this_thread::get_id() == here);
            co_await async_set_state(opened, "opened");
        }));
        CHECK(session.state() == "opened");
        session.run(
            coroutine([](SessionContext& closed, CloseReason reason) -> asio::awaitable<void> {
                co_await async_set_state(closed, std::string{to_string(reason)});
            }),
            CloseReason::idle);
        CHECK(session.state() == "idle");
    }
    SUBCASE("one that another thread ends") {
        std::jthread other;
        session.run(
            SessionOpenHandler::started_by([&](SessionContext& opened, Completion completion) {
                other = std::jthread{[&opened, completion = std::move(completion)] {
                    opened.set_state("by another");
                    completion.done();
                }};
            }));
        CHECK(session.state() == "by another");
    }
    SUBCASE("and throws what they failed with") {
        CHECK_THROWS_WITH(
            session.run([](SessionContext&) { throw std::runtime_error{"no paper"}; }), "no paper");
        CHECK(test::code_of([&] {
                  session.run(SessionOpenHandler::started_by(
                      [](SessionContext&, const Completion& completion) {
                          completion.failed({.code = Errc::quota_exceeded, .detail = "no"});
                      }));
              }) == Errc::quota_exceeded);
        CHECK_THROWS_WITH(
            session.run(SessionOpenHandler::started_by(
                [](SessionContext&, const Completion&) { throw std::runtime_error{"no start"}; })),
            "no start");
        CHECK(test::code_of([&] {
                  session.run(SessionCloseHandler::started_by(
                                  [](SessionContext&, CloseReason, const Completion&) {}),
                              CloseReason::idle);
              }) == Errc::handler_failed);
    }
    SUBCASE("with the stop token as the ambient one") {
        session.request_stop();
        bool stopped = false;
        session.run([&](SessionContext&) {
            stopped = OperationContext::current().stop().stop_requested();
        });
        CHECK(stopped);
    }
}

TEST_CASE("fake session: its deferred messages are received and settled") {
    FakeSession session;
    const std::int64_t first = session.add_deferred(Message{.body = "1"});
    const std::int64_t second = session.add_deferred(Message{.body = "2"});
    FakeMessage message{session, Message{.body = "3"}};
    message.run(MessageHandler{[&](MessageContext& context) {
        auto held = context.session().receive_deferred({second, first});
        REQUIRE(held.size() == 2);
        CHECK(held[0].text() == "2");
        CHECK(held[0].message().facts().state == MessageState::deferred);
        held[0].complete();
        held[1].abandon();
        CHECK(test::code_of([&] { held[1].complete(); }) == Errc::already_settled);
        CHECK(test::code_of([&] { static_cast<void>(held[1].renew_lock()); }) ==
              Errc::already_settled);
    }});
    CHECK(session.settlement_of(second)->outcome == Outcome::completed);
    CHECK(session.settlement_of(first)->outcome == Outcome::abandoned);
    const auto receive = [&](std::int64_t number) {
        return test::code_of(
            [&] { static_cast<void>(session.context().receive_deferred({number})); });
    };
    CHECK(receive(second) == Errc::message_not_found); // it is gone
    CHECK(receive(first) == Errc{});                   // it came back
    CHECK(receive(first) == Errc::message_not_found);  // it is held
    CHECK(receive(99) == Errc::message_not_found);
    CHECK_FALSE(session.settlement_of(99));
}

TEST_CASE("fake session: with receive and delete nothing is settled") {
    FakeSession session{{.receive_and_delete = true}};
    FakeMessage message{session, Message{.body = "1"}};
    CHECK(test::code_of([&] { message.context().complete(); }) == Errc::already_settled);
    const std::int64_t number = session.add_deferred(Message{.body = "2"});
    auto held = session.context().receive_deferred({number});
    CHECK(held.at(0).settled());
}

// SPDX-License-Identifier: MIT
#include <sessionq/async.hpp>

#include <doctest/doctest.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <exception>
#include <optional>
#include <thread>

#include <sessionq/error.hpp>
#include <sessionq/local_broker.hpp>

#include "core/clock.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

struct AsyncFixture {
    AsyncFixture() { broker.create_queue("orders"); }

    /// Runs a coroutine to its end on this thread.
    void run(std::function<asio::awaitable<void>()> body) {
        std::exception_ptr failure;
        asio::co_spawn(executor, body(), [&](std::exception_ptr error) { failure = error; });
        executor.restart();
        executor.run();
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

    LocalBroker broker;
    Client client{Client::in_process(broker)};
    asio::io_context executor;
};

} // namespace

TEST_CASE("async: the twins do what the blocking calls do, and complete on the caller's executor") {
    AsyncFixture f;
    const auto here = std::this_thread::get_id();
    bool done = false;
    f.run([&]() -> asio::awaitable<void> {
        Sender sender{f.client, "orders"};
        co_await async_send(sender, Message::of("1").in_session("a"));
        CHECK(std::this_thread::get_id() == here);
        std::vector<Message> more(2, Message::of("2").in_session("a"));
        co_await async_send_all(sender, std::move(more));

        auto receiver = co_await async_accept(f.client, "orders", "a");
        auto messages = co_await async_receive(receiver, 3, 0s);
        REQUIRE(messages.size() == 3);
        co_await async_complete(messages[0]);
        co_await async_abandon(messages[1]);
        co_await async_dead_letter(messages[2], "bad");
        co_await async_set_state(receiver, "half");
        const auto state = co_await async_state(receiver);
        CHECK(state == "half");
        const Deadline renewed = co_await async_renew_lock(receiver);
        CHECK(renewed == receiver.lock_expires());
        auto again = co_await async_receive_one(receiver);
        REQUIRE(again);
        co_await async_defer(*again);
        std::vector<std::int64_t> numbers(1, again->sequence_number());
        auto deferred = co_await async_receive_deferred(receiver, std::move(numbers));
        REQUIRE(deferred.size() == 1);
        co_await async_release(deferred.front());

        Browser dead{f.client, "orders/$DeadLetterQueue"};
        const auto first = co_await async_peek(dead, 5);
        CHECK(first.size() == 1);
        const auto second = co_await async_peek(dead, 5);
        CHECK(second.empty());
        const auto sessions = co_await async_list_sessions(f.client, "orders");
        CHECK(sessions.size() == 1);
        const PurgeOptions dead_letters{.sub_queue = SubQueue::dead_letter};
        const auto purged = co_await async_purge(f.client, "orders", dead_letters);
        CHECK(purged == 1);
        co_await async_close(receiver);
        CHECK(std::this_thread::get_id() == here);
        done = true;
    });
    CHECK(done);
}

TEST_CASE("async: scheduled messages are taken back") {
    AsyncFixture f;
    f.run([&]() -> asio::awaitable<void> {
        Sender sender{f.client, "orders"};
        std::vector<Message> one(1, Message::of("1").in_session("a"));
        const auto numbers = co_await async_schedule_all(sender, std::move(one),
                                                         core::system_clock().wall_now() + 1h);
        CHECK(f.broker.counts("orders").scheduled == 1);
        co_await async_cancel_scheduled(sender, numbers);
        CHECK(f.broker.counts("orders").scheduled == 0);
        std::vector<std::int64_t> single(
            1, co_await async_schedule(sender, Message::of("2").in_session("a"),
                                       core::system_clock().wall_now() + 1h));
        CHECK(f.broker.counts("orders").scheduled == 1);
        co_await async_cancel_scheduled(sender, std::move(single));
        CHECK(f.broker.counts("orders").scheduled == 0);
    });
}

TEST_CASE("async: nothing to send, to schedule or to take back is done without asking anybody") {
    AsyncFixture f;
    int done = 0;
    f.run([&]() -> asio::awaitable<void> {
        const Sender sender{f.client, "no such queue"};
        std::vector<Message> none;
        co_await async_send_all(sender, none);
        ++done;
        const auto numbers =
            co_await async_schedule_all(sender, none, core::system_clock().wall_now() + 1h);
        done += numbers.empty() ? 1 : 0;
        co_await async_cancel_scheduled(sender, numbers);
        ++done;
    });
    CHECK(done == 3);
}

TEST_CASE("async: a failure is thrown where it is awaited, a bad argument where it is passed") {
    AsyncFixture f;
    bool thrown = false;
    f.run([&]() -> asio::awaitable<void> {
        try {
            co_await async_send(Sender{f.client, "none"}, Message::of("1").in_session("a"));
        } catch (const Error& error) {
            thrown = error.failure().code == Errc::entity_not_found;
        }
    });
    CHECK(thrown);
    CHECK_THROWS_AS(static_cast<void>(async_accept(f.client, "", "a")), Error);
}

TEST_CASE("R5: the twin of accept_next_if_any answers with nothing") {
    AsyncFixture f;
    std::optional<bool> found;
    f.run([&]() -> asio::awaitable<void> {
        found = (co_await async_accept_next_if_any(f.client, "orders")).has_value();
    });
    CHECK(found == false);
}

TEST_CASE("R20: a twin captures the context where it is called") {
    AsyncFixture f;
    std::optional<Errc> ended;
    f.run([&]() -> asio::awaitable<void> {
        const auto within_scope = [&] {
            const OperationContext::Scope scope{
                OperationContext{Deadline::after(1ms, core::system_clock().now())}};
            return async_accept_next(f.client, "orders");
        };
        auto accept = within_scope();
        try {
            static_cast<void>(co_await std::move(accept));
        } catch (const Error& error) {
            ended = error.failure().code;
        }
    });
    CHECK((ended == Errc::no_session_available || ended == Errc::timeout));
}

TEST_CASE("R20: a twin ends by the options of its call") {
    AsyncFixture f;
    std::optional<Errc> ended;
    CallOptions call;
    std::stop_source stop;
    SUBCASE("its timeout") { call.timeout = 0s; }
    SUBCASE("its stop token") {
        stop.request_stop();
        call.stop = stop.get_token();
    }
    f.run([&]() -> asio::awaitable<void> {
        try {
            co_await async_send(Sender{f.client, "orders"}, Message::of("1").in_session("a"), call);
        } catch (const Error& error) {
            ended = error.failure().code;
        }
    });
    CHECK(ended == (call.timeout ? Errc::timeout : Errc::cancelled));
    CHECK(f.broker.counts("orders").active == 0);
}

TEST_CASE("R15: Asio's cancellation of the coroutine ends what it waits for") {
    AsyncFixture f;
    asio::cancellation_signal signal;
    std::optional<Errc> ended;
    auto body = [&]() -> asio::awaitable<void> {
        asio::post(f.executor, [&] { signal.emit(asio::cancellation_type::all); });
        try {
            static_cast<void>(co_await async_accept_next(f.client, "orders"));
        } catch (const Error& error) {
            ended = error.failure().code;
        }
    };
    asio::co_spawn(f.executor, body(),
                   asio::bind_cancellation_slot(signal.slot(), [](std::exception_ptr) {}));
    f.executor.run();
    CHECK(ended == Errc::cancelled);
}

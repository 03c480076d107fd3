// SPDX-License-Identifier: MIT
// The completion tokens of <sessionq/async.hpp>. async_test.cpp has those of use_awaitable.
#include <sessionq/async.hpp>

#include <doctest/doctest.h>

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>

#if __has_include(<asio/deferred.hpp>)
#include <asio/as_tuple.hpp>
#include <asio/deferred.hpp>
namespace newer_tokens = asio;
#else
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/deferred.hpp>
namespace newer_tokens = asio::experimental;
#endif

#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include <sessionq/error.hpp>

#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;

namespace {

std::optional<Errc> code_of_failure(const std::exception_ptr& error) {
    if (error == nullptr) {
        return std::nullopt;
    }
    return code_of([&] { std::rethrow_exception(error); });
}

/// Counts what it allocates, also after it was rebound.
template <typename T>
struct CountingAllocator {
    using value_type = T;

    explicit CountingAllocator(int& counter) : count{&counter} {}
    template <typename U>
    // NOLINTNEXTLINE(google-explicit-constructor): as every allocator
    CountingAllocator(const CountingAllocator<U>& other) : count{other.count} {}

    T* allocate(std::size_t n) {
        ++*count;
        return std::allocator<T>{}.allocate(n);
    }
    void deallocate(T* memory, std::size_t n) { std::allocator<T>{}.deallocate(memory, n); }

    template <typename U>
    bool operator==(const CountingAllocator<U>& other) const {
        return count == other.count;
    }

    int* count;
};

} // namespace

TEST_CASE("tokens: futures have the results and the errors of the blocking calls") {
    test::OrdersFixture f;
    async_send(f.sender, Message::of("1").in_session("ada"), {}, asio::use_future).get();
    SessionReceiver receiver =
        async_accept(f.client, "orders", "ada", {}, {}, asio::use_future).get();
    auto message = async_receive_one(receiver, 30s, {}, asio::use_future).get();
    REQUIRE(message);
    CHECK(message->text() == "1");
    async_dead_letter(*message, "bad", {}, {}, {}, asio::use_future).get();
    async_close(receiver, {}, asio::use_future).get();
    const MessageBatch batch = async_create_batch(f.sender, 0, {}, asio::use_future).get();
    CHECK(batch.empty());
    // A redrive goes on on the handler's executor, and uses OpenSSL there. A thread of Asio's own
    // would keep OpenSSL's memory until after the end of the program.
    asio::thread_pool pool{1};
    const auto redrive_on_pool = [&](const char* entity) {
        return async_redrive(f.client, entity, {}, {},
                             asio::bind_executor(pool.get_executor(), asio::use_future));
    };
    CHECK(redrive_on_pool("orders").get().sent == 1);

    // Shared futures keep the exceptions alive while they are looked at. ThreadSanitizer does not
    // see how libstdc++ counts their users.
    const auto refused = async_accept(f.client, "none", "ada", {}, {}, asio::use_future).share();
    CHECK(code_of([&] { static_cast<void>(refused.get()); }) == Errc::entity_not_found);
    const CallOptions no_time{.timeout = 0s};
    const auto late =
        async_send(f.sender, Message::of("2").in_session("ada"), no_time, asio::use_future).share();
    CHECK(code_of([&] { late.get(); }) == Errc::timeout);
    const auto nowhere = redrive_on_pool("none").share();
    CHECK(code_of([&] { static_cast<void>(nowhere.get()); }) == Errc::entity_not_found);
}

TEST_CASE("tokens: a callback runs on its executor, later, and gets an empty object for an error") {
    test::OrdersFixture f;
    asio::io_context context;
    std::thread::id ran_on{};
    std::exception_ptr failure;
    async_send(f.sender, Message::of("1").in_session("ada"), {},
               asio::bind_executor(context, [&](std::exception_ptr error) {
                   ran_on = std::this_thread::get_id();
                   failure = std::move(error);
               }));
    CHECK(ran_on == std::thread::id{}); // nobody has run the context
    CHECK(context.run() == 1);          // it counted as work until it was posted
    CHECK(ran_on == std::this_thread::get_id());
    CHECK(failure == nullptr);

    std::optional<SessionReceiver> receiver;
    const auto note = [&](std::exception_ptr error, SessionReceiver accepted) {
        failure = std::move(error);
        receiver = std::move(accepted);
    };
    context.restart();
    async_accept(f.client, "orders", "ada", {}, {}, asio::bind_executor(context, note));
    context.run();
    CHECK(failure == nullptr);
    REQUIRE(receiver);
    CHECK(receiver->session_id() == "ada");

    context.restart();
    async_accept(f.client, "none", "ada", {}, {}, asio::bind_executor(context, note));
    context.run();
    CHECK(code_of_failure(failure) == Errc::entity_not_found);
    CHECK(code_of([&] { static_cast<void>(receiver->session_id()); }) == Errc::invalid_state);
}

TEST_CASE("tokens: a callback without an executor runs on a thread of Asio") {
    test::OrdersFixture f;
    std::promise<std::thread::id> ran_on;
    async_send(f.sender, Message::of("1").in_session("ada"), {}, [&](std::exception_ptr error) {
        CHECK(error == nullptr);
        ran_on.set_value(std::this_thread::get_id());
    });
    CHECK(ran_on.get_future().get() != std::this_thread::get_id());
}

TEST_CASE("tokens: the handler's allocator is used to post it, also where nothing is asked") {
    test::OrdersFixture f;
    asio::io_context context;
    int allocations = 0;
    int ended = 0;
    const CountingAllocator<char> allocator{allocations};
    const auto handler = [&](std::exception_ptr error) { ended += error == nullptr ? 1 : 0; };
    SUBCASE("a send") {
        async_send(f.sender, Message::of("1").in_session("ada"), {},
                   asio::bind_allocator(allocator, asio::bind_executor(context, handler)));
    }
    SUBCASE("nothing to send") {
        async_send_all(f.sender, {}, {},
                       asio::bind_allocator(allocator, asio::bind_executor(context, handler)));
        CHECK(ended == 0); // not within the call
    }
    context.run();
    CHECK(ended == 1);
    CHECK(allocations > 0);
}

TEST_CASE("R15: the handler's cancellation slot ends a call, once, with cancelled") {
    test::OrdersFixture f;
    asio::io_context context;
    asio::cancellation_signal signal;
    std::optional<Errc> ended;
    int calls = 0;
    auto type = asio::cancellation_type::terminal;
    SUBCASE("terminal") {}
    SUBCASE("total") { type = asio::cancellation_type::total; }
    async_accept_next(
        f.client, "orders", {}, {},
        asio::bind_cancellation_slot(
            signal.slot(),
            asio::bind_executor(context, [&](const std::exception_ptr& error, SessionReceiver) {
                ended = code_of_failure(error);
                ++calls;
            })));
    signal.emit(asio::cancellation_type::none);
    CHECK(context.poll() == 0); // it waits for a session
    signal.emit(type);
    context.run();
    CHECK(ended == Errc::cancelled);
    signal.emit(type); // it has ended
    CHECK(context.poll() == 0);
    CHECK(calls == 1);
}

TEST_CASE("R15: the handler's cancellation slot ends a redrive that waits") {
    test::OrdersFixture f;
    f.sender.send(Message::of("1").in_session("ada"));
    SessionReceiver receiver = SessionReceiver::accept(f.client, "orders", "ada");
    auto message = receiver.receive_one(30s);
    REQUIRE(message);
    message->dead_letter("bad"); // the session stays held, so the redrive waits for it
    asio::io_context context;
    asio::cancellation_signal signal;
    std::optional<Errc> ended;
    async_redrive(
        f.client, "orders", {}, {},
        asio::bind_cancellation_slot(
            signal.slot(),
            asio::bind_executor(context, [&](const std::exception_ptr& error, RedriveReport) {
                ended = code_of_failure(error);
            })));
    while (context.run_one() != 0) { // a request has ended, and the next one has started
        signal.emit(asio::cancellation_type::terminal);
    }
    CHECK(ended == Errc::cancelled);
}

TEST_CASE("tokens: as_tuple returns an error instead of throwing it") {
    test::OrdersFixture f;
    asio::io_context context;
    std::optional<Errc> ended;
    bool sent = false;
    const auto body = [&]() -> asio::awaitable<void> {
        constexpr auto token = newer_tokens::as_tuple(asio::use_awaitable);
        auto [error] = co_await async_send(f.sender, Message::of("1").in_session("ada"), {}, token);
        sent = error == nullptr;
        auto [refused, receiver] = co_await async_accept(f.client, "none", "ada", {}, {}, token);
        ended = code_of_failure(refused);
    };
    asio::co_spawn(context, body(), asio::detached);
    context.run();
    CHECK(sent);
    CHECK(ended == Errc::entity_not_found);
}

TEST_CASE("tokens: a deferred operation starts when it is called") {
    test::OrdersFixture f;
    auto send =
        async_send(f.sender, Message::of("1").in_session("ada"), {}, newer_tokens::deferred);
    CHECK(list_sessions(f.client, "orders").empty());
    std::move(send)(asio::use_future).get();
    CHECK(f.broker.counts("orders").active == 1);
}

// SPDX-License-Identifier: MIT
// A part of an application that runs sessionq's operations on Boost.Asio, while another part of it
// runs them on standalone Asio.
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_future.hpp>

#include <sessionq/boost_asio.hpp>
#include <sessionq/sessionq.hpp>

namespace net = boost::asio;
using namespace sessionq;
using namespace std::chrono_literals;

bool boost_awaits(LocalBroker& broker, const Client& client);

namespace {

net::awaitable<void> converse(Client client, bool& right) {
    Sender sender{client, "boost"};
    co_await async_send(sender, Message::of("hello").in_session("ben"));
    SessionReceiver receiver = co_await async_accept(client, "boost", "ben");
    auto message = co_await async_receive_one(receiver);
    co_await async_dead_letter(*message, "bad");
    co_await async_close(receiver);
    const RedriveReport report = co_await async_redrive(client, "boost");
    bool refused = false;
    try {
        static_cast<void>(co_await async_accept(client, "none", "ben"));
    } catch (const Error& error) {
        refused = error.code() == Errc::entity_not_found;
    }
    right = message->text() == "hello" && report.sent == 1 && refused;
}

bool awaitables_work(const Client& client) {
    net::io_context io;
    bool right = false;
    net::co_spawn(io, converse(client, right), net::detached);
    io.run();
    return right;
}

bool other_tokens_work(const Client& client) {
    const Sender sender{client, "boost"};
    async_send(sender, Message::of("hello").in_session("ben"), {}, net::use_future).get();
    net::io_context io;
    std::optional<std::thread::id> ran_on;
    std::exception_ptr failure;
    std::optional<SessionReceiver> receiver;
    async_accept(client, "none", "ben", {}, {},
                 net::bind_executor(io, [&](std::exception_ptr error, SessionReceiver empty) {
                     ran_on = std::this_thread::get_id();
                     failure = std::move(error);
                     receiver = std::move(empty);
                 }));
    const bool later = !ran_on;
    io.run();
    return later && ran_on == std::this_thread::get_id() && failure != nullptr && receiver;
}

/// Handlers of sessions and messages are coroutines, and one of them stops the processor.
bool handlers_work(const Client& client) {
    std::atomic<int> handled{0};
    std::atomic<int> closed{0};
    SessionProcessor processor{client, "boost"};
    processor.on_session_open(coroutine([](SessionContext& session) -> net::awaitable<void> {
        co_await async_set_state(session, "opened");
    }));
    processor.on_message(coroutine([&](MessageContext& context) -> net::awaitable<void> {
        net::steady_timer timer{co_await net::this_coro::executor, 1ms};
        co_await timer.async_wait(net::use_awaitable);
        auto session = context.session();
        const auto state = co_await async_state(session);
        handled += state == "opened" ? 1 : 0;
        const StopReport report = co_await async_stop(processor);
        handled += report.requested_only ? 1 : 0;
    }));
    processor.on_session_close(coroutine([&](SessionContext&, CloseReason) -> net::awaitable<void> {
        ++closed;
        co_return;
    }));
    processor.start();
    const StopReport report = async_wait(processor, {}, net::use_future).get();
    return report.complete && handled >= 2 && closed == 1;
}

} // namespace

bool boost_awaits(LocalBroker& broker, const Client& client) {
    broker.create_queue("boost");
    return awaitables_work(client) && other_tokens_work(client) && handlers_work(client);
}

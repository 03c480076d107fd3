// SPDX-License-Identifier: MIT
// An application that has an Asio of its own beside sessionq, and uses both at once. With
// COROUTINES it also awaits sessionq's operations on its own Asio. With BOOST another part of it
// awaits them on Boost.Asio.
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <iostream>
#include <string>
#include <thread>

#include <sessionq/sessionq.hpp>

#ifdef COROUTINES
#include <asio.hpp>

#include <sessionq/async.hpp>
#endif

using namespace sessionq;
using namespace std::chrono_literals;

bool asio_works_elsewhere();
#ifdef BOOST
bool boost_awaits(LocalBroker& broker, const Client& client);
#else
static bool boost_awaits(LocalBroker& /*broker*/, const Client& /*client*/) { return true; }
#endif

namespace {

bool handles_messages(const Client& client) {
    std::promise<std::string> handled;
    SessionProcessor orders{client, "orders"};
#ifdef COROUTINES
    orders.on_message(coroutine([&](MessageContext& context) -> asio::awaitable<void> {
        asio::steady_timer timer{co_await asio::this_coro::executor, 1ms};
        co_await timer.async_wait(asio::use_awaitable);
        handled.set_value(std::string{context.message().text()});
    }));
#else
    orders.on_message(
        [&](MessageContext& context) { handled.set_value(std::string{context.message().text()}); });
#endif
    orders.start();
    Sender{client, "orders"}.send(Message::of("placed").in_session("ada"));
    const bool right = handled.get_future().get() == "placed";
    return orders.stop().complete && right;
}

#ifdef COROUTINES
asio::awaitable<void> converse(Client client, bool& right) {
    Sender sender{client, "replies"};
    co_await async_send(sender, Message::of("hello").in_session("ben"));
    SessionReceiver receiver = co_await async_accept(client, "replies", "ben");
    auto message = co_await async_receive_one(receiver);
    co_await async_complete(*message);
    auto none = co_await async_receive_one(receiver, 1ms);
    right = message->text() == "hello" && !none;
    co_await async_close(receiver);
}

bool awaits(const Client& client) {
    asio::io_context io;
    bool right = false;
    asio::co_spawn(io, converse(client, right), asio::detached);
    io.run();
    return right;
}
#else
bool awaits(const Client& /*client*/) { return true; }
#endif

/// Opens sockets inside the library; nobody listens there.
bool is_refused() {
    try {
        static_cast<void>(
            Client::connect("Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=k",
                            {.operation_timeout = 20ms}));
    } catch (const Error&) {
        return true;
    }
    return false;
}

} // namespace

int main() {
    std::atomic<bool> done{false};
    std::atomic<bool> works{true};
    std::thread elsewhere{[&] {
        do {
            works = works && asio_works_elsewhere();
        } while (!done);
    }};
    LocalBroker broker;
    broker.create_queue("orders");
    broker.create_queue("replies");
    const auto client = Client::in_process(broker);
    const bool handled = handles_messages(client);
    const bool awaited = awaits(client);
    const bool boost_awaited = boost_awaits(broker, client);
    const bool refused = is_refused();
    done = true;
    elsewhere.join();
    std::cout << (works && handled && awaited && boost_awaited && refused ? "both work" : "broken")
              << '\n';
}

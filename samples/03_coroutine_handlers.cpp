// SPDX-License-Identifier: MIT
// Handlers that wait: two hundred coroutines run on two threads.

#include <chrono>
#include <iostream>
#include <latch>
#include <string>
#include <utility>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

using namespace std::chrono_literals;

namespace {

/// Stands for a slow remote service.
asio::awaitable<void> ask_the_bank() {
    asio::steady_timer answer{co_await asio::this_coro::executor, 100ms};
    co_await answer.async_wait(asio::use_awaitable);
}

} // namespace

int main() {
    constexpr int sessions = 200;

    sessionq::LocalBroker broker;
    broker.create_queue("payments");
    broker.create_queue("receipts", {.requires_session = false});
    const auto client = sessionq::Client::in_process(broker);

    std::vector<sessionq::Message> messages;
    for (int i = 0; i < sessions; ++i) {
        messages.push_back(
            sessionq::Message::of("payment").in_session("customer " + std::to_string(i)));
    }
    sessionq::Sender{client, "payments"}.send_all(std::move(messages));

    const sessionq::Sender receipts{client, "receipts"};
    std::latch handled{sessions};
    sessionq::SessionProcessor payments{
        client, "payments", {.max_concurrent_sessions = sessions, .worker_threads = 2}};
    payments.on_session_open(
        sessionq::coroutine([](sessionq::SessionContext& customer) -> asio::awaitable<void> {
            const auto state = co_await sessionq::async_state(customer);
            if (!state) { // the first payment
                co_await sessionq::async_set_state(customer, "known");
            }
        }));
    payments.on_message(
        sessionq::coroutine([&](sessionq::MessageContext& context) -> asio::awaitable<void> {
            co_await ask_the_bank(); // no thread waits
            // Inherits the time left until the message's deadline.
            sessionq::Message receipt{.body = std::string{context.message().session_id()} +
                                              " has paid"};
            co_await sessionq::async_send(receipts, std::move(receipt));
            handled.count_down();
        }));

    const auto began = std::chrono::steady_clock::now();
    payments.start();
    handled.wait();
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - began;
    payments.stop();

    std::cout << sessions << " handlers, each waiting 100 ms: " << static_cast<int>(elapsed.count())
              << " ms on 2 threads, " << broker.counts("receipts").active << " receipts\n";
}

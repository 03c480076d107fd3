// SPDX-License-Identifier: MIT
// The first program: two sessions at a time, each in order.

#include <iostream>
#include <latch>
#include <syncstream>

#include <sessionq/sessionq.hpp>

int main() {
    sessionq::LocalBroker broker; // a broker inside this process
    broker.create_queue("orders");
    const auto client = sessionq::Client::in_process(broker);

    sessionq::Sender sender{client, "orders"};
    for (const char* step : {"placed", "paid", "shipped"}) {
        for (const char* customer : {"ada", "ben", "cleo"}) {
            sender.send(sessionq::Message::of(step).in_session(customer));
        }
    }

    std::latch handled{9};
    sessionq::SessionProcessor orders{
        client,
        "orders",
        {.max_concurrent_sessions = 2, .session_idle_timeout = std::chrono::milliseconds{100}}};
    orders.on_message([&handled](sessionq::MessageContext& context) {
        std::osyncstream{std::cout} << context.message().session_id() << ": "
                                    << context.message().text() << '\n';
        handled.count_down();
    }); // a handler that returns has completed its message
    orders.start();

    handled.wait();
    orders.stop();
}

// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/sender.hpp>

namespace sessionq::test {

/// A local broker with the queue "orders", and who sends there.
struct OrdersFixture {
    OrdersFixture() { broker.create_queue("orders"); }

    LocalBroker broker{};
    Client client{Client::in_process(broker, {.receive_threads = 2})};
    Sender sender{client, "orders"};
};

} // namespace sessionq::test

// SPDX-License-Identifier: MIT
// A shared library of an application. It uses sessionq, and exports one function of its own.
#include <sessionq/sessionq.hpp>

extern "C" __attribute__((visibility("default"))) int handled_orders() {
    sessionq::LocalBroker broker;
    broker.create_queue("orders");
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender{client, "orders"}.send(sessionq::Message::of("placed").in_session("ada"));
    return static_cast<int>(
        sessionq::SessionReceiver::accept_next(client, "orders").receive_one().has_value());
}

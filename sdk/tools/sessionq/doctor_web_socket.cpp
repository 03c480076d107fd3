// SPDX-License-Identifier: MIT
#include "tools/sessionq/doctor_web_socket.hpp"

#include <future>
#include <memory>

#include "amqp/connector.hpp"
#include "client/connecting/client_core.hpp"

namespace sessionq::cli {

WebSocketFacts try_web_socket(const amqp::Target& target, Duration timeout) {
    WebSocketFacts facts{.where = core::to_string({target.host, target.port})};
    detail::client::ReceiveThread thread;
    std::unique_ptr<amqp::ConnectionHost> host; // used on the thread, as the attempt
    std::unique_ptr<amqp::Dialing> attempt;
    std::promise<core::Result<amqp::StreamPtr>> answer;
    const TimePoint start = core::system_clock().now();
    detail::client::run_on(thread, [&] {
        host = std::make_unique<amqp::ConnectionHost>(thread, thread.io_context());
        attempt = amqp::dial_socket(
            *host, target, thread.now() + timeout,
            [&](core::Result<amqp::StreamPtr> stream) { answer.set_value(std::move(stream)); });
    });
    core::Result<amqp::StreamPtr> stream = answer.get_future().get(); // by the deadline
    facts.took = core::system_clock().now() - start;
    detail::client::run_on(thread, [&] {
        if (stream.ok()) {
            stream.value()->close();
            stream.value().reset();
        }
        attempt.reset();
        host.reset();
    });
    if (!stream.ok()) {
        facts.failure = stream.failure();
    }
    return facts;
}

} // namespace sessionq::cli

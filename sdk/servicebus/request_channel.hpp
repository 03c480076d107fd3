// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "amqp/request_queue.hpp"
#include "ports/request.hpp"
#include "servicebus/request.hpp"

namespace sessionq::detail::servicebus {

/// Sends requests to one node and reports the answer of each once. The broker is told the time left
/// until the deadline.
class RequestChannel final : public amqp::RequestQueue<Request, Response> {
public:
    RequestChannel(core::EventLoop& loop, std::string node, WhenReady when_ready);

    /// `id` rises from call to call.
    void request(ports::RequestId id, Request request, Deadline deadline, Handler handler) {
        add(id, std::move(request), deadline, std::move(handler));
    }

private:
    [[nodiscard]] bool open_links() override;
    void drop_links() override;
    void transmit() override;
    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override;
    void on_disposition(amqp::DeliveryHandle delivery) override { delivery.settle(); }

    const std::string reply_to_;
    amqp::ReceiverLinkPtr receiver_{};
};

} // namespace sessionq::detail::servicebus

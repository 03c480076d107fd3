// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "client/calls/operation.hpp"

namespace sessionq::client {

/// An operation that is one request to an endpoint, made by `send(endpoint, deadline, answer_to)`.
template <typename T, typename Send>
Operation<T> endpoint_operation(const std::shared_ptr<ClientCore>& client, EndpointThread& thread,
                                const OperationContext& context, Send send) {
    return make_operation<T>(
        client, *thread.thread, context,
        [&thread, send = std::move(send)](const PendingPtr<T>& pending) mutable {
            ports::Endpoint& endpoint = *thread.endpoint;
            const auto id = send(endpoint, pending->deadline(), AnswerTo<T>{pending});
            pending->ask_port([&endpoint, id] { endpoint.give_up(id); });
        });
}

} // namespace sessionq::client

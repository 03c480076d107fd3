#pragma once

#include <memory>
#include <utility>

#include <sessionq/operation_context.hpp>

#include "client/client_core.hpp"
#include "client/pending.hpp"

namespace sessionq::client {

/// A public call, checked and ready to run: where, under which deadline and stop token, and what it
/// starts there. Made once, for the blocking call
/// (`block`) and its awaitable twin (`await`) alike.
template <typename T>
struct Operation {
    std::shared_ptr<ClientCore>
        client; ///< Held by whoever waits, so that the loop outlives the operation.
    core::EventLoop& loop;
    Deadline deadline;
    std::stop_token stop;
    Start<T> start;
};

/// An operation under `context`, whose deadline is the configured timeout where none is in scope
/// (R20).
template <typename T>
[[nodiscard]] Operation<T> make_operation(std::shared_ptr<ClientCore> client, core::EventLoop& loop,
                                          const OperationContext& context, Start<T> start) {
    const Deadline deadline =
        context.effective(client->options().operation_timeout, client->clock().now());
    return {.client = std::move(client),
            .loop = loop,
            .deadline = deadline,
            .stop = context.stop(),
            .start = std::move(start)};
}

} // namespace sessionq::client

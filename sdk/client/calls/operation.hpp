// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include <sessionq/operation_context.hpp>

#include "client/calls/pending.hpp"
#include "client/connecting/client_core.hpp"

namespace sessionq::client {

/// A public function's work, checked and ready to run. The blocking function (`block`) and its
/// awaitable twin (`await`) share it.
template <typename T>
struct Operation {
    /// The client. The waiting caller holds it, so that the loop outlives the operation.
    std::shared_ptr<const void> client;
    core::EventLoop& loop;
    Deadline deadline;
    OperationContext context; ///< whose stop token gives it up
    Start<T> start;
    /// Its answer if it is given up before it starts. Unset: the failure.
    std::function<core::Result<T>(Failure)> unstarted{};
    std::shared_ptr<core::OpenSpan> span{}; ///< Ends with it. Null: none.
};

/// Makes an operation under `context`, combined with the ambient one. If no deadline is in scope,
/// the configured timeout applies (R20).
template <typename T>
[[nodiscard]] Operation<T> make_operation(std::shared_ptr<ClientCore> client, core::EventLoop& loop,
                                          const OperationContext& context, Start<T> start) {
    OperationContext combined = context.within(OperationContext::current());
    const Deadline deadline =
        combined.effective(client->options().operation_timeout, client->clock().now());
    return {.client = std::move(client),
            .loop = loop,
            .deadline = deadline,
            .context = std::move(combined),
            .start = std::move(start)};
}

} // namespace sessionq::client

// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "client/calls/call_scope.hpp"
#include "client/calls/pending.hpp"
#include "client/connecting/client_core.hpp"

namespace sessionq::detail::client {

/// The work of a public function, before it begins. Its arguments are checked already.
/// `make_operation` makes the operation on the caller's thread. `launch` then posts the operation
/// to its loop, where it runs as a `Pending`. Both the blocking function (`block`) and its
/// awaitable twin (`await`) use it.
template <typename T>
struct Operation {
    /// The client. The waiting caller holds it, so the loop outlives the operation.
    std::shared_ptr<const void> client;
    core::EventLoop& loop;
    Deadline deadline;
    OperationContext context; ///< Its stop token gives up the operation.
    Start<T> start;
    /// Makes the answer if the operation is given up before a port works on it. Unset: the failure
    /// is the answer.
    std::function<core::Result<T>(Failure)> unstarted{};
    std::shared_ptr<core::OpenSpan> span{}; ///< Ends with the operation. Null: no span.
};

/// Makes an operation in the scope of `call`. If the scope has no deadline,
/// `ClientOptions::operation_timeout` applies (R20).
template <typename T>
[[nodiscard]] Operation<T> make_operation(std::shared_ptr<ClientCore> client, core::EventLoop& loop,
                                          const CallOptions& call, Start<T> start) {
    const TimePoint now = client->clock().now();
    CallScope scope = scope_of(call, now);
    const Deadline deadline = scope.deadline_or(client->options().operation_timeout, now);
    return {.client = std::move(client),
            .loop = loop,
            .deadline = deadline,
            .context = std::move(scope.context),
            .start = std::move(start)};
}

/// An operation that is one request to an endpoint, made by `send(endpoint, deadline, answer_to)`.
template <typename T, typename Send>
Operation<T> endpoint_operation(const std::shared_ptr<ClientCore>& client, EndpointThread& thread,
                                const CallOptions& call, Send send) {
    return make_operation<T>(
        client, *thread.thread, call,
        [&thread, send = std::move(send)](const PendingPtr<T>& pending) mutable {
            ports::Endpoint& endpoint = *thread.endpoint;
            const auto id = send(endpoint, pending->deadline(), AnswerTo<T>{pending});
            pending->ask_port([&endpoint, id] { endpoint.give_up(id); });
        });
}

/// The result that a public function makes from an answer of type `T`.
template <typename T>
using Returned = std::conditional_t<std::is_same_v<T, core::Done>, void, T>;

/// Holds a call of a public function before the call starts. It has the call's operation, and the
/// step that makes the caller's result from the operation's answer. The public function makes it on
/// the caller's thread. Then the blocking function (`block`) or its awaitable twin (`await`) runs
/// it.
template <typename T, typename R = Returned<T>>
struct PublicCall {
    std::optional<Operation<T>> operation{}; ///< Unset: there is nothing to do.
    /// Makes the caller's result from the answer, on the thread that waits for it. Throws if the
    /// answer is a failure.
    std::function<R(core::Result<T>)> finish{
        [](core::Result<T> answer) { return static_cast<R>(std::move(answer).take_or_throw()); }};
};

} // namespace sessionq::detail::client

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <stop_token>

#include <sessionq/operation_context.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// Limits the time of one call, and ties the call to a request. It is the last argument of the
/// functions that wait for the broker, and of their `async_` twins in <sessionq/async.hpp>.
/// `Client::connect` and `stop` of a processor have other options.
///
/// Example:
///
///     using namespace std::chrono_literals;
///     std::stop_source user_left;
///     sender.send(Message::of("placed").in_session("ada"), {.timeout = 200ms});
///     auto messages = receiver.receive(10, 1s, {.stop = user_left.get_token()});
///
/// A call ends with `timeout` at its deadline, and with `cancelled` when a stop token fires. If the
/// deadline has passed already, the call does not start. The deadline of a call is the earliest of
/// three: the end of `timeout`, the deadline of `context`, and the deadline of the ambient context
/// (`OperationContext::current()`). If none of them is set, it is
/// `ClientOptions::operation_timeout` after the call began, unless the function says otherwise.
///
/// Messages carry the deadline and the trace of the context that they are sent in. They do not
/// carry `timeout`: a message may be handled after the timeout of its send.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct CallOptions {
    /// The longest that the call may take, from the moment that it is made. Not set: the call has
    /// no timeout of its own. Zero or less: the call fails with `timeout` and does not start.
    /// Duration::max(): without end.
    std::optional<Timeout> timeout{};
    /// Ends the call with `cancelled` when it fires. Default: never fires.
    std::stop_token stop{};
    /// The request that the call belongs to. It combines with the ambient context: the earlier
    /// deadline holds, and either stop token ends the call. Default: adds nothing to the ambient
    /// context.
    OperationContext context{};
};

} // namespace sessionq::inline v1

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <stop_token>

#include <sessionq/operation_context.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

/// Bounds one call. Every function of sessionq that waits for the broker takes it as its last
/// argument, and so does its awaitable twin.
///
/// Example:
///
///     using namespace std::chrono_literals;
///     std::stop_source user_left;
///     sender.send(Message::text("ada", "placed"), {.timeout = 200ms});
///     auto messages = receiver.receive(10, 1s, {.stop = user_left.get_token()});
///
/// A call ends with `timeout` at its deadline, and with `cancelled` when a stop token fires. If the
/// deadline has passed already, it does not start. The deadline is the soonest of the ends of
/// `timeout`, of `context` and of the ambient context (`OperationContext::current()`). Without any
/// of them it comes `ClientOptions::operation_timeout` after the call, unless the function says
/// otherwise.
///
/// Only a context travels: messages that are sent in it carry its deadline and its trace. A message
/// that is sent with a `timeout` may be handled at any time after it.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct CallOptions {
    /// The longest that the call may take, from the moment that it is made. Not set: the call has
    /// no timeout of its own. Zero or less: the call fails with `timeout` and does not start.
    std::optional<Duration> timeout{};
    /// Ends the call when it fires.
    std::stop_token stop{};
    /// The request that the call belongs to. It combines with the ambient context.
    OperationContext context{};
};

} // namespace sessionq

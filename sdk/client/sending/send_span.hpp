// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include <sessionq/message.hpp>

#include "core/tracing.hpp"

namespace sessionq::detail::client {

/// The entity and the operation of a request with messages, for its span.
struct Sending {
    std::string_view entity{};
    std::string_view operation{}; ///< "send" or "schedule"
};

/// Begins the span of a request, on the caller's thread. Gives a trace context to each message that
/// has none. A single message gets the context of the request's span. Each of several messages gets
/// the context of a span of its own. Without a tracer, a message gets `ambient`, the context of the
/// request. `ambient` is null if the request has no context.
[[nodiscard]] core::OpenSpan begin_send(const core::TracingPtr& tracing, const Sending& sending,
                                        std::span<Message> messages, const TraceContext* ambient);

} // namespace sessionq::detail::client

// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include <sessionq/message.hpp>

#include "core/tracing.hpp"

namespace sessionq::client {

/// The entity and the operation of a request with messages.
struct Sending {
    std::string_view entity{};
    std::string_view operation{}; ///< "send" or "schedule"
};

/// Begins the span of the request. Gives a trace context to each message that has none: that of the
/// message's own span, or that of the request's span. Without a tracer it is `ambient`, the trace
/// of the request's context; null: there is none.
[[nodiscard]] core::OpenSpan begin_send(const core::TracingPtr& tracing, const Sending& sending,
                                        std::span<Message> messages, const TraceContext* ambient);

} // namespace sessionq::client

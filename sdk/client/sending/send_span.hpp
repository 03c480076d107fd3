// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include <sessionq/message.hpp>

#include "core/tracing.hpp"

namespace sessionq::client {

/// The entity and the operation of a request with messages, for its span.
struct Sending {
    std::string_view entity{};
    std::string_view operation{}; ///< "send" or "schedule"
};

/// Begins the span of a request, on the caller's thread. Gives a trace context to each message that
/// has none: the context of the message's own span or of the request's span. Without a tracer it is
/// `ambient`, the context of the request, which is null if it has none.
[[nodiscard]] core::OpenSpan begin_send(const core::TracingPtr& tracing, const Sending& sending,
                                        std::span<Message> messages, const TraceContext* ambient);

} // namespace sessionq::client

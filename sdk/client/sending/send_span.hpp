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

/// Begins the span of the request. Gives each message that has no trace context one: that of its
/// own span, of the request's, or without a tracer of the request's context. `ambient`: null if
/// that has none.
[[nodiscard]] core::OpenSpan begin_send(const core::TracingPtr& tracing, const Sending& sending,
                                        std::span<Message> messages, const TraceContext* ambient);

} // namespace sessionq::client

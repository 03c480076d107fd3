// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <utility>

#include <sessionq/message.hpp>
#include <sessionq/operation_context.hpp>
#include <sessionq/received_message.hpp>
#include <sessionq/trace_context.hpp>

namespace sessionq::core {

/// Adds `trace` to the application properties. No effect if it is invalid, or if the application
/// set one of these properties itself.
void add_trace(const TraceContext& trace, Properties& properties);

/// `context` with the trace of `message`, if it has one.
[[nodiscard]] inline OperationContext under_trace_of(const ReceivedMessage& message,
                                                     OperationContext context) {
    auto trace = message.trace();
    return trace ? context.with_trace(std::move(*trace)) : context;
}

} // namespace sessionq::core

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

/// Whether one of these properties is set. Then `add_trace` has no effect.
[[nodiscard]] bool has_trace(const Properties& properties);

/// The trace context in them, as `ReceivedMessage::trace`.
[[nodiscard]] std::optional<TraceContext> trace_in(const Properties& properties);

/// `context` with the trace of `message`, if it has one. A trace in `context`, the span of the
/// handler, stays.
[[nodiscard]] inline OperationContext under_trace_of(const ReceivedMessage& message,
                                                     OperationContext context) {
    if (context.trace() != nullptr) {
        return context;
    }
    if (auto trace = message.trace()) {
        return context.with_trace(std::move(*trace));
    }
    return context; // moved, not copied
}

} // namespace sessionq::core

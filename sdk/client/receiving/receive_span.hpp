// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <sessionq/locked_message.hpp>

#include "core/message_spans.hpp"

namespace sessionq::detail::client {

/// The trace context of a call, explicit or ambient. Null: none.
[[nodiscard]] inline const TraceContext* trace_of(const OperationContext& context) noexcept {
    return context.trace() != nullptr ? context.trace() : OperationContext::current().trace();
}

/// Makes the span of an accept or of a receive call. The span is made only if a session or messages
/// came, by the thread that waited for the answer. Its start time is the time of the call.
class ReceiveSpan {
public:
    /// `tracing` and `ambient` may be null. Without `tracing`, no span is made and no clock is
    /// read.
    ReceiveSpan(const core::TracingPtr& tracing, const TraceContext* ambient);

    /// A session came. The overload: messages of the session came.
    void came(const core::SpanPlace& place) const;
    void came(const core::SpanPlace& place, const std::vector<LockedMessage>& messages) const;

private:
    core::TracingPtr tracing_;
    TimePoint asked_{};
    std::optional<TraceContext> ambient_{};
};

/// Begins the span of a settlement. Returns null without a tracer.
[[nodiscard]] std::shared_ptr<core::OpenSpan> begin_settle(const core::TracingPtr& tracing,
                                                           const core::SpanPlace& place,
                                                           const ReceivedMessage& message,
                                                           std::string_view outcome,
                                                           const TraceContext* ambient);

} // namespace sessionq::detail::client

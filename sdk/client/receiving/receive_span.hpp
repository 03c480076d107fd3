// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <sessionq/locked_message.hpp>

#include "core/message_spans.hpp"

namespace sessionq::client {

/// The trace context of a call, explicit or ambient. Null: none.
[[nodiscard]] inline const TraceContext* trace_of(const OperationContext& context) noexcept {
    return context.trace() != nullptr ? context.trace() : OperationContext::current().trace();
}

/// The span of a request for a session or for messages. It begins with the request. If nothing
/// came, there is no span.
class ReceiveSpan {
public:
    /// `tracing` may be null: then there is no span, and no clock is read. `ambient` may be null
    /// too.
    ReceiveSpan(const core::TracingPtr& tracing, const TraceContext* ambient);

    /// A session came, or messages of it did.
    void came(const core::SpanPlace& place) const;
    void came(const core::SpanPlace& place, const std::vector<LockedMessage>& messages) const;

private:
    core::TracingPtr tracing_;
    TimePoint asked_{};
    std::optional<TraceContext> ambient_{};
};

/// The span of a settlement. Null: none.
[[nodiscard]] std::shared_ptr<core::OpenSpan> begin_settle(const core::TracingPtr& tracing,
                                                           const core::SpanPlace& place,
                                                           const ReceivedMessage& message,
                                                           std::string_view outcome,
                                                           const TraceContext* ambient);

} // namespace sessionq::client

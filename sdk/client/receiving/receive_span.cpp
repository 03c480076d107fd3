// SPDX-License-Identifier: MIT
#include "client/receiving/receive_span.hpp"

namespace sessionq::detail::client {

ReceiveSpan::ReceiveSpan(const core::TracingPtr& tracing, const TraceContext* ambient)
    : tracing_{tracing} {
    if (tracing_ != nullptr) {
        asked_ = tracing_->clock().now();
        ambient_ = ambient == nullptr ? std::nullopt : std::optional{*ambient};
    }
}

void ReceiveSpan::came(const core::SpanPlace& place) const { came(place, {}); }

void ReceiveSpan::came(const core::SpanPlace& place,
                       const std::vector<LockedMessage>& messages) const {
    if (tracing_ == nullptr) {
        return;
    }
    const auto draft = [&](const core::SpanPlan& plan) {
        std::vector<const ReceivedMessage*> received;
        received.reserve(messages.size());
        for (const LockedMessage& each : messages) {
            received.push_back(&each.message());
        }
        return plan.receive(place, received, ambient_ ? &*ambient_ : nullptr);
    };
    tracing_->start_at(asked_, draft).end();
}

std::shared_ptr<core::OpenSpan> begin_settle(const core::TracingPtr& tracing,
                                             const core::SpanPlace& place,
                                             const ReceivedMessage& message,
                                             std::string_view outcome,
                                             const TraceContext* ambient) {
    if (tracing == nullptr) {
        return nullptr;
    }
    return std::make_shared<core::OpenSpan>(tracing->start(
        [&](const core::SpanPlan& plan) { return plan.settle(place, message, outcome, ambient); }));
}

} // namespace sessionq::detail::client

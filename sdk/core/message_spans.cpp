// SPDX-License-Identifier: MIT
#include "core/message_spans.hpp"

#include <utility>

namespace sessionq::core {

MessageSpans::MessageSpans(const OpenSpan& handler)
    : handler_{handler.is_open() ? std::optional{*handler.context()} : std::nullopt},
      handler_span_{handler.handle()} {}

MessageSpansPtr MessageSpans::begin(const Tracing& tracing, const SpanPlace& place,
                                    const ReceivedMessage& message) {
    OpenSpan span =
        tracing.start([&](const SpanPlan& plan) { return plan.process(place, message); });
    MessageSpansPtr spans{new MessageSpans{span}};
    spans->process_ = std::move(span);
    return spans;
}

void MessageSpans::begin_settling(MessageSpansPtr& spans, const Tracing& tracing,
                                  const SpanPlace& place, const ReceivedMessage& message,
                                  const SpanOutcome& outcome) {
    if (spans == nullptr && outcome.goes_back) {
        return;
    }
    if (spans == nullptr) {
        spans = MessageSpansPtr{new MessageSpans{OpenSpan{}}};
    }
    const TraceContext* const handler = spans->handler_ ? &*spans->handler_ : nullptr;
    spans->settle_ = tracing.start(
        [&](const SpanPlan& plan) { return plan.settle(place, message, outcome.name, handler); });
}

} // namespace sessionq::core

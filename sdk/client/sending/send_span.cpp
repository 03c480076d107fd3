// SPDX-License-Identifier: MIT
#include "client/sending/send_span.hpp"

#include "core/trace_context.hpp"

namespace sessionq::detail::client {
namespace {

/// Adds the context of the span to the message. Without a span, adds `ambient`.
void give_context(const core::OpenSpan& span, const TraceContext* ambient, Message& message) {
    const TraceContext* const context = span.is_open() ? span.context() : ambient;
    if (context != nullptr) {
        core::add_trace(*context, message.properties);
    }
}

} // namespace

core::OpenSpan begin_send(const core::TracingPtr& tracing, const Sending& sending,
                          std::span<Message> messages, const TraceContext* ambient) {
    const auto begin_request = [&] {
        return tracing->start([&](const core::SpanPlan& plan) {
            return plan.send(sending.operation, sending.entity, messages, ambient);
        });
    };
    if (tracing != nullptr && messages.size() == 1) {
        core::OpenSpan span = begin_request();
        give_context(span, ambient, messages.front());
        return span;
    }
    for (Message& each : messages) {
        core::OpenSpan span;
        if (tracing != nullptr && !core::has_trace(each.properties)) {
            span = tracing->start([&](const core::SpanPlan& plan) {
                return plan.create(sending.entity, each, ambient);
            });
        }
        give_context(span, ambient, each);
        span.end();
    }
    return tracing == nullptr ? core::OpenSpan{} : begin_request();
}

} // namespace sessionq::detail::client

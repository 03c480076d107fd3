// SPDX-License-Identifier: MIT
#include "telemetry/span_context.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using opentelemetry::trace::SpanContext;
using telemetry::choose_parent;
using telemetry::ParentSource;

namespace {

const TraceContext ada{.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01",
                       .tracestate = "a=1,b=2"};
const TraceContext ada_inner{.traceparent =
                                 "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"};
const TraceContext ben{.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};

} // namespace

TEST_CASE("span context: it goes to OpenTelemetry and back") {
    for (const TraceContext& each : {ada, ada_inner, ben}) {
        const SpanContext span = to_span_context(each, false);
        CHECK(span.IsValid());
        CHECK_FALSE(span.IsRemote());
        CHECK(to_trace_context(span) == each);
    }
    CHECK(to_span_context(ada, true).IsRemote());
    CHECK(to_span_context(ada, true).IsSampled());
    CHECK_FALSE(to_span_context(ada_inner, true).IsSampled());
    CHECK(to_span_context(ada, true).trace_id() == to_span_context(ada_inner, true).trace_id());
}

TEST_CASE("span context: a later version is read as this one") {
    const TraceContext later{.traceparent =
                                 "01-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01-more",
                             .tracestate = "a=1,b=2"};
    CHECK(to_trace_context(to_span_context(later, true)) == ada);
}

TEST_CASE("span context: what is invalid stays invalid") {
    CHECK_FALSE(to_span_context({}, true).IsValid());
    CHECK_FALSE(to_span_context({.traceparent = "00-ada"}, true).IsValid());
    CHECK_FALSE(to_trace_context(SpanContext::GetInvalid()).has_value());
}

TEST_CASE("span context: the current span is the parent, unless it is in another trace") {
    const SpanContext none = SpanContext::GetInvalid();
    const SpanContext outer = to_span_context(ada, false);
    const SpanContext inner = to_span_context(ada_inner, false);
    const SpanContext other = to_span_context(ben, false);
    CHECK(choose_parent(none, none, SpanKind::producer) == ParentSource::none);
    CHECK(choose_parent(none, inner, SpanKind::producer) == ParentSource::current);
    CHECK(choose_parent(outer, none, SpanKind::producer) == ParentSource::given);
    CHECK(choose_parent(outer, inner, SpanKind::producer) == ParentSource::current);
    CHECK(choose_parent(outer, inner, SpanKind::client) == ParentSource::current);
    CHECK(choose_parent(other, inner, SpanKind::producer) == ParentSource::given);
}

TEST_CASE("span context: a handler's span belongs to its message, never to the current span") {
    const SpanContext none = SpanContext::GetInvalid();
    const SpanContext outer = to_span_context(ada, true);
    const SpanContext inner = to_span_context(ada_inner, false);
    CHECK(choose_parent(outer, inner, SpanKind::consumer) == ParentSource::given);
    CHECK(choose_parent(none, inner, SpanKind::consumer) == ParentSource::none);
}

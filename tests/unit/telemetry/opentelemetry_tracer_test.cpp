// SPDX-License-Identifier: MIT
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <opentelemetry/sdk/trace/samplers/always_off.h>
#include <opentelemetry/trace/scope.h>

#include "unit/telemetry/support/in_memory_sdk.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

const TraceContext sent{.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01",
                        .tracestate = "a=1"};
const TraceContext other{.traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"};

/// The parent's id of the span that `start` makes.
std::string parent_of(Sdk& sdk, const SpanStart& start) {
    OpenTelemetryTracer{sdk.tracer}.start_span(start)->end({});
    const Ended ended = sdk.take();
    REQUIRE(ended.size() == 1);
    return parent_id(*ended[0]);
}

} // namespace

TEST_CASE("OpenTelemetry tracer: a span has all that sessionq says of it") {
    Sdk sdk;
    OpenTelemetryTracer tracer{sdk.tracer};
    const std::vector<TraceContext> links{other, sent};
    const std::vector<SpanAttribute> attributes{{"a.text", std::string{"x\xFF"}},
                                                {"a.number", std::int64_t{7}},
                                                {"a.fraction", 0.5},
                                                {"a.truth", true}};
    const TimePoint began{10s};
    const WallTime wall{1000s};
    const auto span = tracer.start_span({.name = "process orders",
                                         .kind = SpanKind::consumer,
                                         .parent = &sent,
                                         .links = links,
                                         .attributes = attributes,
                                         .start = began,
                                         .wall_start = wall});
    REQUIRE(span != nullptr);
    span->set_attribute({.name = "a.number", .value = std::int64_t{8}});
    const TraceContext context = span->context();
    span->end({.end = began + 3s});

    const Ended ended = sdk.take();
    REQUIRE(ended.size() == 1);
    const sdk::SpanData& data = *ended[0];
    CHECK(std::string{data.GetName()} == "process orders");
    CHECK(data.GetSpanKind() == trace_api::SpanKind::kConsumer);
    CHECK(context_of(data) == context);
    CHECK(trace_id(context) == trace_id(sent));
    CHECK(span_id(context) != span_id(sent));
    CHECK(context.tracestate == "a=1");
    CHECK(parent_id(data) == span_id(sent));
    REQUIRE(data.GetLinks().size() == 2);
    CHECK(to_trace_context(data.GetLinks()[0].GetSpanContext()) == other);
    CHECK(to_trace_context(data.GetLinks()[1].GetSpanContext()) == sent);
    CHECK(text_of(data, "a.text") == "x\xEF\xBF\xBD");
    CHECK(nostd::get<std::int64_t>(data.GetAttributes().at("a.number")) == 8);
    CHECK(nostd::get<double>(data.GetAttributes().at("a.fraction")) == 0.5);
    CHECK(nostd::get<bool>(data.GetAttributes().at("a.truth")));
    CHECK(data.GetStartTime().time_since_epoch() == wall.time_since_epoch());
    CHECK(data.GetDuration() == 3s);
    CHECK(data.GetStatus() == trace_api::StatusCode::kUnset);
}

TEST_CASE("OpenTelemetry tracer: every kind has its like") {
    Sdk sdk;
    OpenTelemetryTracer tracer{sdk.tracer};
    const std::map<SpanKind, trace_api::SpanKind> kinds{
        {SpanKind::internal, trace_api::SpanKind::kInternal},
        {SpanKind::producer, trace_api::SpanKind::kProducer},
        {SpanKind::client, trace_api::SpanKind::kClient},
        {SpanKind::consumer, trace_api::SpanKind::kConsumer}};
    for (const auto& [ours, theirs] : kinds) {
        tracer.start_span({.name = "any", .kind = ours})->end({});
        CHECK(sdk.take().at(0)->GetSpanKind() == theirs);
    }
}

TEST_CASE("OpenTelemetry tracer: a failure is the span's status") {
    Sdk sdk;
    OpenTelemetryTracer tracer{sdk.tracer};
    tracer.start_span({.name = "settle orders"})
        ->end({.error_type = "lock_lost", .error_text = "it is over"});
    const Ended ended = sdk.take();
    REQUIRE(ended.size() == 1);
    CHECK(ended[0]->GetStatus() == trace_api::StatusCode::kError);
    CHECK(std::string{ended[0]->GetDescription()} == "it is over");
    CHECK(text_of(*ended[0], "error.type") == "lock_lost");
}

TEST_CASE("OpenTelemetry tracer: the current span is the parent where it belongs") {
    Sdk sdk;
    CHECK(parent_of(sdk, {.name = "send", .kind = SpanKind::producer}) == no_parent);
    CHECK(parent_of(sdk, {.name = "send", .kind = SpanKind::producer, .parent = &sent}) ==
          span_id(sent));
    const auto mine = sdk.tracer->StartSpan("mine");
    const trace_api::Scope scope{mine};
    const TraceContext current = to_trace_context(mine->GetContext()).value();
    CHECK(parent_of(sdk, {.name = "send", .kind = SpanKind::producer}) == span_id(current));
    CHECK(parent_of(sdk, {.name = "send", .kind = SpanKind::producer, .parent = &sent}) ==
          span_id(sent)); // of another trace
    CHECK(parent_of(sdk, {.name = "process", .kind = SpanKind::consumer}) == no_parent);
}

TEST_CASE("OpenTelemetry tracer: a span is current while it is entered") {
    Sdk sdk;
    OpenTelemetryTracer tracer{sdk.tracer};
    const auto now = [] {
        return to_trace_context(trace_api::Tracer::GetCurrentSpan()->GetContext());
    };
    const auto span = tracer.start_span({.name = "process", .kind = SpanKind::consumer});
    CHECK_FALSE(now().has_value());
    std::shared_ptr<void> entered = span->enter();
    CHECK(now() == span->context());
    span->end({});
    CHECK(now() == span->context());
    entered.reset();
    CHECK_FALSE(now().has_value());
}

TEST_CASE("OpenTelemetry tracer: a context that is not sampled travels on and is not exported") {
    Sdk sdk{std::make_unique<sdk::AlwaysOffSampler>()};
    const auto span = OpenTelemetryTracer{sdk.tracer}.start_span({.name = "send", .parent = &sent});
    REQUIRE(span != nullptr);
    CHECK(trace_id(span->context()) == trace_id(sent));
    CHECK(span->context().traceparent.ends_with("-00"));
    span->end({});
    CHECK(sdk.take().empty());
}

TEST_CASE("OpenTelemetry tracer: without a provider there are no spans of its own") {
    OpenTelemetryTracer tracer; // the global provider makes none
    const auto alone = tracer.start_span({.name = "send"});
    CHECK(alone == nullptr);
    const auto child = tracer.start_span({.name = "send", .parent = &sent});
    if (child != nullptr) { // OpenTelemetry may pass the parent's context on itself
        CHECK(trace_id(child->context()) == trace_id(sent));
        child->end({});
    }
}

// SPDX-License-Identifier: MIT
#include <sessionq/testing/recording_tracer.hpp>

#include <array>
#include <thread>

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using testing::RecordingTracer;

namespace {

const TraceContext outside{.traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00",
                           .tracestate = "a=1"};

} // namespace

TEST_CASE("recording tracer: keeps what a span was told, once it has ended") {
    RecordingTracer tracer;
    const std::array links{outside};
    const std::array<SpanAttribute, 2> attributes{{{"one", std::int64_t{1}}, {"two", false}}};
    const auto span = tracer.start_span({.name = "work",
                                         .kind = SpanKind::internal,
                                         .links = links,
                                         .attributes = attributes,
                                         .start = TimePoint{2s},
                                         .wall_start = WallTime{3s}});
    span->set_attribute({"two", 2.5});
    CHECK(tracer.spans().empty());
    CHECK(tracer.open() == 1);
    span->end({.end = TimePoint{5s}, .error_type = "timeout", .error_text = "too slow"});
    CHECK(tracer.open() == 0);
    const auto ended = tracer.wait_for(1, 0s);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].name == "work");
    CHECK(ended[0].kind == SpanKind::internal);
    CHECK_FALSE(ended[0].parent.has_value());
    CHECK(ended[0].links == std::vector{outside});
    CHECK(ended[0].attributes.at("one") == SpanValue{std::int64_t{1}});
    CHECK(ended[0].attributes.at("two") == SpanValue{2.5});
    CHECK(ended[0].start == TimePoint{2s});
    CHECK(ended[0].wall_start == WallTime{3s});
    CHECK(ended[0].end == TimePoint{5s});
    CHECK(ended[0].error_type == "timeout");
    CHECK(ended[0].error_text == "too slow");
    tracer.clear();
    CHECK(tracer.spans().empty());
}

TEST_CASE(
    "recording tracer: a span's context is valid, and that of a child in its parent's trace") {
    RecordingTracer tracer;
    const auto root = tracer.start_span({.name = "root"});
    const auto child = tracer.start_span({.name = "child", .parent = &outside});
    const auto sibling = tracer.start_span({.name = "sibling", .parent = &outside});
    CHECK(TraceContext::parse(root->context().traceparent).has_value());
    CHECK(child->context().traceparent.substr(0, 36) == outside.traceparent.substr(0, 36));
    CHECK(child->context().traceparent.substr(52) == "-00");
    CHECK(child->context().tracestate == "a=1");
    CHECK(child->context() != sibling->context());
    child->end({});
    CHECK(tracer.spans().at(0).parent == outside);
}

TEST_CASE("recording tracer: waits for spans of other threads, and lives shorter than they may") {
    auto tracer = std::make_unique<RecordingTracer>();
    auto early = tracer->start_span({.name = "early"});
    const auto late = tracer->start_span({.name = "late"});
    std::thread other{[span = std::move(early)] { span->end({}); }};
    CHECK(tracer->wait_for(1, 10s).size() == 1);
    other.join();
    tracer.reset();
    late->end({});
}

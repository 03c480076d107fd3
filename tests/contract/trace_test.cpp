// SPDX-License-Identifier: MIT
// Trace contexts cross every port: from a sender's context into its handler's, and into spans.
#include <sessionq/testing/recording_tracer.hpp>

#include "contract/processor_on_port.hpp"
#include "core/trace_context.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* sender_span = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01";

detail::processor::Handlers noting_ambient(std::vector<std::string>& into) {
    detail::processor::Handlers handlers;
    handlers.message = [&into](MessageContext&) {
        const TraceContext* ambient = OperationContext::current().trace();
        into.push_back(ambient == nullptr ? "none"
                                          : ambient->traceparent + " " + ambient->tracestate);
    };
    return handlers;
}

} // namespace

PORT_CASE("trace: a handler runs under that of its message, whichever client wrote it") {
    PortCase t{port};
    Message ours = Message::of("1").in_session("a");
    core::add_trace({.traceparent = sender_span, .tracestate = "a=1,b=2"}, ours.properties);
    Message azure = Message::of("2").in_session("a"); // an older client of Azure
    azure.properties["Diagnostic-Id"] = std::string{sender_span};
    Message open_telemetry = Message::of("3").in_session("a");
    open_telemetry.properties["traceparent"] = std::string{sender_span};
    open_telemetry.properties["tracestate"] = std::string{"c=3"};
    t.send({ours, azure, open_telemetry, Message::of("4").in_session("a")});
    std::vector<std::string> ambient;
    ProcessorOnPort processor{t, {.max_concurrent_sessions = 1}, noting_ambient(ambient)};
    CHECK(processor.until([&] { return ambient.size() == 4; }));
    processor.stop();
    const std::string parent = sender_span;
    CHECK(ambient ==
          std::vector<std::string>{parent + " a=1,b=2", parent + " ", parent + " c=3", "none"});
}

PORT_CASE("trace: the spans of a message are in the trace of its sender, up to its settlement") {
    PortCase t{port};
    Message traced = Message::of("1").in_session("a");
    core::add_trace({.traceparent = sender_span}, traced.properties);
    t.send({traced});
    const auto spans = std::make_shared<testing::RecordingTracer>();
    std::vector<std::string> ambient;
    ProcessorOnPort processor{
        t,
        {.max_concurrent_sessions = 1},
        noting_ambient(ambient),
        std::make_shared<const core::Tracing>(spans, core::system_clock(), core::SpanBroker{})};
    CHECK(processor.until([&] { return spans->spans().size() == 3; }));
    processor.stop();
    const auto ended = spans->spans();
    REQUIRE(ended.size() == 3);
    CHECK(ended[0].name == "receive " + t.entity);
    CHECK(ended[1].name == "process " + t.entity);
    CHECK(ended[1].parent == TraceContext{.traceparent = sender_span});
    CHECK(ambient == std::vector{ended[1].context.traceparent + " "});
    CHECK(ended[2].name == "settle " + t.entity);
    CHECK(ended[2].parent == ended[1].context);
    CHECK(ended[2].error_type.empty());
    CHECK(spans->open() == 0);
}

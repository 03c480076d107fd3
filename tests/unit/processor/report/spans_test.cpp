// SPDX-License-Identifier: MIT
// The spans of a processor, from the accept to the answers of settlements.
#include <span>

#include <doctest/doctest.h>

#include <sessionq/testing/recording_tracer.hpp>

#include "core/trace_context.hpp"
#include "support/tracers.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;
using testing::RecordedSpan;
using Batch = std::span<MessageContext>;

namespace {

const TraceContext sent{.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01",
                        .tracestate = "a=1"};

struct TracedBench : ProcessorBench {
    explicit TracedBench(SessionProcessorOptions options = {})
        : ProcessorBench{std::move(options)} {
        tracing = std::make_shared<const core::Tracing>(spans, loop.clock(),
                                                        core::SpanBroker{.system = "sessionq"});
    }
    /// Starts, and opens a session whose messages carry a trace.
    test::ScriptedLinkPtr start_traced() {
        start();
        auto link = open();
        core::add_trace(sent, link->properties);
        return link;
    }
    std::string names() const {
        std::string all;
        for (const RecordedSpan& each : spans->spans()) {
            all.append(all.empty() ? "" : ", ").append(each.name);
            all.append(each.error_type.empty() ? "" : " " + each.error_type);
        }
        return all;
    }
    RecordedSpan last() const { return spans->spans().back(); }

    std::shared_ptr<testing::RecordingTracer> spans{std::make_shared<testing::RecordingTracer>()};
};

void note_ambient(std::vector<TraceContext>& into) {
    if (const TraceContext* ambient = OperationContext::current().trace()) {
        into.push_back(*ambient);
    }
}

} // namespace

TEST_CASE("spans: a session that came is a span from its accept on, an empty wait is none") {
    TracedBench bench;
    bench.start();
    const TimePoint asked = bench.loop.now();
    bench.loop.advance(7s);
    bench.endpoint.answer(Failure{.code = Errc::no_session_available});
    bench.run();
    CHECK(bench.names().empty());
    bench.loop.advance(3s);
    const auto link = bench.open("ada");
    REQUIRE(bench.names() == "receive orders");
    CHECK(bench.last().start == asked + 7s);
    CHECK(bench.last().end == asked + 10s);
    CHECK(bench.last().attributes["sessionq.session.id"] == SpanValue{std::string{"ada"}});
}

TEST_CASE("spans: a handler runs in a span of its message's trace, as does its settlement") {
    TracedBench bench;
    std::vector<TraceContext> ambient;
    bench.handle = [&](MessageContext&) {
        note_ambient(ambient);
        bench.loop.advance(2s);
    };
    SUBCASE("which may end later") {}
    SUBCASE("or is a function") {
        bench.handlers.message = bench.handle;
        bench.handlers.start_message = nullptr;
    }
    const auto link = bench.start_traced();
    bench.deliver(link, {"1"});
    REQUIRE(bench.names() == "receive orders, process orders, settle orders");
    const RecordedSpan process = bench.spans->spans()[1];
    CHECK(process.kind == SpanKind::consumer);
    CHECK(process.parent == sent);
    CHECK(process.end - process.start == 2s);
    CHECK(ambient == std::vector{process.context});
    CHECK(bench.last().parent == process.context);
    CHECK(bench.last().attributes["messaging.servicebus.disposition_status"] ==
          SpanValue{std::string{"complete"}});
    CHECK(bench.spans->open() == 0);
}

TEST_CASE("spans: each try is a span, and the message is settled in the last one") {
    TracedBench bench{{.failure_policy = FailurePolicy::dead_letter().after_attempts(2)}};
    bench.handle = [](MessageContext&) { throw std::runtime_error{"no stock"}; };
    const auto link = bench.start_traced();
    bench.deliver(link, {"1"});
    bench.advance(1min);
    REQUIRE(bench.names() == "receive orders, process orders handler_failed, "
                             "process orders handler_failed, settle orders");
    const auto spans = bench.spans->spans();
    CHECK(spans[1].error_text == "no stock");
    CHECK(spans[1].context != spans[2].context);
    CHECK(spans[3].parent == spans[2].context);
    CHECK(bench.last().attributes["messaging.servicebus.disposition_status"] ==
          SpanValue{std::string{"dead_letter"}});
}

TEST_CASE("spans: a settlement within the handler ends when the broker answers") {
    TracedBench bench;
    bench.answers = false;
    bench.handle = [](MessageContext& context) { context.complete(); };
    const auto link = bench.start_traced();
    bench.deliver(link, {"1"});
    CHECK(bench.names() == "receive orders, process orders");
    SUBCASE("well") {
        link->answer_settlement();
        CHECK(bench.names() == "receive orders, process orders, settle orders");
    }
    SUBCASE("or not") {
        const Failure failure{.code = Errc::lock_lost};
        link->answer_settlement(&failure);
        CHECK(bench.names() == "receive orders, process orders, settle orders lock_lost");
    }
    SUBCASE("or is lost") {
        link->lose();
        CHECK(bench.names() == "receive orders, process orders, settle orders connection_lost");
    }
    bench.run();
    CHECK(bench.spans->open() == 0);
}

TEST_CASE("spans: what goes back unhandled is no span, what is too late is one") {
    TracedBench bench;
    SUBCASE("released when it stops") {
        bench.holds = true;
        const auto link = bench.start_traced();
        bench.deliver(link, {"1", "2"});
        bench.stop(10s);
        bench.finish();
        CHECK(link->take_log() == "drain, release 2, complete 1, close");
        CHECK(bench.names() == "receive orders, process orders, settle orders");
    }
    SUBCASE("dead-lettered past its deadline") {
        const auto link = bench.start_traced();
        link->deliver("1", Deadline::after(0s, bench.loop.now()));
        bench.run();
        CHECK(bench.take_handled().empty());
        REQUIRE(bench.names() == "receive orders, settle orders");
        CHECK(bench.last().parent == sent);
    }
}

TEST_CASE("spans: a batch is one span that links to every message") {
    TracedBench bench;
    std::vector<TraceContext> ambient;
    bool fails = false;
    bench.handlers.start_message = nullptr;
    bench.handlers.batch = {.max_messages = 3};
    const auto handle = [&](Batch /*all*/) {
        note_ambient(ambient);
        if (std::exchange(fails, false)) {
            throw std::runtime_error{"disk full"};
        }
    };
    bench.handlers.messages = handle;
    SUBCASE("completed") {
        bool later = false;
        SUBCASE("by a function") {}
        SUBCASE("by what may end later") { later = true; }
        if (later) {
            bench.handlers.messages = nullptr;
            bench.handlers.start_messages = [&](Batch all, const Completion& completion) {
                handle(all);
                completion.done();
            };
        }
        const auto link = bench.start_traced();
        link->deliver("1");
        link->deliver("2");
        bench.run();
        REQUIRE(bench.names() == "receive orders, process orders, settle orders, settle orders");
        const RecordedSpan process = bench.spans->spans()[1];
        CHECK_FALSE(process.parent.has_value());
        CHECK(process.links == std::vector{sent, sent});
        CHECK(ambient == std::vector{process.context});
        CHECK(bench.last().parent == process.context);
        CHECK(bench.last().links == std::vector{sent});
    }
    SUBCASE("or failed") {
        fails = true;
        const auto link = bench.start_traced();
        bench.deliver(link, {"1"});
        REQUIRE(bench.names() == "receive orders, process orders handler_failed, settle orders");
        CHECK(bench.spans->spans()[1].error_text == "disk full");
    }
    CHECK(bench.spans->open() == 0);
}

TEST_CASE("spans: a handler runs while its span is entered") {
    TracedBench bench;
    const auto tracer = std::make_shared<test::EnteredTracer>();
    bench.tracing =
        std::make_shared<const core::Tracing>(tracer, bench.loop.clock(), core::SpanBroker{});
    std::vector<int> inside;
    bench.handle = [&](MessageContext&) { inside.push_back(tracer->inside); };
    SUBCASE("that may end later") {}
    SUBCASE("that is a function") {
        bench.handlers.message = bench.handle;
        bench.handlers.start_message = nullptr;
    }
    SUBCASE("of a batch") {
        bench.handlers.start_message = nullptr;
        bench.handlers.batch = {.max_messages = 3};
        bench.handlers.messages = [&](Batch /*all*/) { inside.push_back(tracer->inside); };
    }
    const auto link = bench.start_traced();
    bench.deliver(link, {"1"});
    CHECK(inside == std::vector{1});
    CHECK(tracer->inside == 0);
}

TEST_CASE("spans: with a tracer that wants no span all goes on as without one") {
    TracedBench bench;
    bench.tracing = std::make_shared<const core::Tracing>(std::make_shared<test::NoSpans>(),
                                                          bench.loop.clock(), core::SpanBroker{});
    std::vector<TraceContext> ambient;
    bench.handle = [&](MessageContext&) { note_ambient(ambient); };
    bench.handlers.message = bench.handle;
    bench.handlers.start_message = nullptr;
    const auto link = bench.start_traced();
    bench.deliver(link, {"1"});
    CHECK(link->take_log() == "complete 1");
    CHECK(ambient == std::vector{sent});
}

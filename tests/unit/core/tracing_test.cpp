// SPDX-License-Identifier: MIT
#include "core/tracing.hpp"

#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <sessionq/logging.hpp>
#include <sessionq/testing/recording_tracer.hpp>

#include "support/manual_clock.hpp"
#include "support/tracers.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using core::OpenSpan;
using core::SpanPlan;

namespace {

/// Throws where it is told to.
struct ThrowingTracer final : Tracer {
    struct ThrowingSpan final : Span {
        const TraceContext& context() const noexcept override { return none; }
        void set_attribute(const SpanAttribute& /*attribute*/) override {}
        std::shared_ptr<void> enter() override { throw std::runtime_error{"enter"}; }
        void end(const SpanEnd& /*how*/) override { throw std::runtime_error{"end"}; }
        TraceContext none{};
    };

    std::unique_ptr<Span> start_span(const SpanStart& /*start*/) override {
        if (at_start) {
            throw std::runtime_error{"start"};
        }
        return std::make_unique<ThrowingSpan>();
    }
    bool at_start{false};
};

const auto an_accept = [](const SpanPlan& plan) { return plan.receive({.entity = "orders"}); };

struct Setup {
    test::ManualClock clock{};
    std::shared_ptr<testing::RecordingTracer> spans{std::make_shared<testing::RecordingTracer>()};
    core::TracingPtr tracing{tracing_with(spans)};

    core::TracingPtr tracing_with(std::shared_ptr<Tracer> tracer) {
        return std::make_shared<const core::Tracing>(std::move(tracer), clock,
                                                     core::SpanBroker{.system = "sessionq"});
    }
};

} // namespace

TEST_CASE("tracing: a span tells when it began on both clocks, and when it ended") {
    Setup setup;
    const TimePoint began = setup.clock.now();
    const WallTime wall = setup.clock.wall_now();
    setup.clock.advance(5s);
    OpenSpan span = setup.tracing->start_at(began, an_accept);
    REQUIRE(span.is_open());
    CHECK(span.context()->traceparent.size() == 55);
    setup.clock.advance(1s);
    span.end();
    span.end("late");
    CHECK_FALSE(span.is_open());
    CHECK(span.context() == nullptr);
    const auto ended = setup.spans->spans();
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].name == "receive orders");
    CHECK(ended[0].start == began);
    CHECK(ended[0].wall_start == wall);
    CHECK(ended[0].end == began + 6s);
    CHECK(ended[0].error_type.empty());
}

TEST_CASE("tracing: a span ends with a failure, and one that nobody ended as cancelled") {
    Setup setup;
    OpenSpan failed = setup.tracing->start(an_accept);
    const Failure failure{.code = Errc::lock_lost, .detail = "gone"};
    failed.end(&failure);
    OpenSpan fine = setup.tracing->start(an_accept);
    const Failure* const none = nullptr;
    fine.end(none);
    { const OpenSpan dropped = setup.tracing->start(an_accept); }
    OpenSpan replaced = setup.tracing->start(an_accept);
    replaced = {};
    const auto ended = setup.spans->spans();
    REQUIRE(ended.size() == 4);
    CHECK(ended[0].error_type == "lock_lost");
    CHECK(ended[0].error_text == failure.to_string());
    CHECK(ended[1].error_type.empty());
    CHECK(ended[2].error_type == "cancelled");
    CHECK(ended[3].error_type == "cancelled");
    CHECK(setup.spans->open() == 0);
}

TEST_CASE("tracing: spans keep the tracer") {
    Setup setup;
    OpenSpan span = setup.tracing->start(an_accept);
    setup.tracing.reset();
    span.end();
    CHECK(setup.spans->spans().size() == 1);
}

TEST_CASE("tracing: what throws is logged and does no harm") {
    Setup setup;
    std::string lines;
    set_log_sink([&lines](const LogRecord& record) {
        lines.append(record.component).append(": ").append(record.text).append("\n");
    });
    const auto tracer = std::make_shared<ThrowingTracer>();
    const core::TracingPtr tracing = setup.tracing_with(tracer);
    OpenSpan first = tracing->start(an_accept);
    first.end();
    CHECK(lines == "tracing: the tracer threw an exception; the span is incomplete\n");
    CHECK(tracing->start(an_accept).enter() == nullptr); // logged, and again at its end
    tracer->at_start = true;
    const OpenSpan span = tracing->start(an_accept);
    set_log_sink({});
    CHECK_FALSE(span.is_open());
    CHECK(lines.size() == 4 * (lines.find('\n') + 1));
}

TEST_CASE("tracing: a span is entered until what it returned is gone, also past its end") {
    Setup setup;
    const auto tracer = std::make_shared<test::EnteredTracer>();
    OpenSpan span = setup.tracing_with(tracer)->start(an_accept);
    CHECK(tracer->inside == 0);
    std::shared_ptr<void> entered = span.enter();
    CHECK(tracer->inside == 1);
    span.end();
    CHECK(tracer->inside == 1);
    entered.reset();
    CHECK(tracer->inside == 0);
    CHECK(span.enter() == nullptr);
    CHECK(setup.tracing->start(an_accept).enter() == nullptr); // the default
}

TEST_CASE("tracing: a tracer may want no span") {
    Setup setup;
    OpenSpan span = setup.tracing_with(std::make_shared<test::NoSpans>())->start(an_accept);
    CHECK_FALSE(span.is_open());
    CHECK(span.context() == nullptr);
    span.end();
}

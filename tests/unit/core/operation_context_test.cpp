#include <sessionq/operation_context.hpp>

#include <doctest/doctest.h>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};

} // namespace

TEST_CASE("operation context: is empty outside of any scope") {
    CHECK(OperationContext::current().is_clean());
    CHECK_FALSE(OperationContext{Deadline::at(t0)}.is_clean());
    CHECK_FALSE(OperationContext{}.with_trace({.traceparent = "00-1"}).is_clean());
    const std::stop_source stop;
    CHECK_FALSE(OperationContext{}.with_stop(stop.get_token()).is_clean());
}

TEST_CASE("operation context: R20: a nested deadline shortens and never extends") {
    const OperationContext outer{Deadline::at(t0 + 10s)};
    CHECK(outer.with_deadline(Deadline::at(t0 + 3s)).deadline().time() == t0 + 3s);
    CHECK(outer.with_deadline(Deadline::at(t0 + 30s)).deadline().time() == t0 + 10s);
    CHECK(outer.with_deadline(Deadline::never()).deadline().time() == t0 + 10s);
}

TEST_CASE(
    "operation context: R20: a configured timeout applies only where no deadline is in scope") {
    CHECK(OperationContext{}.effective(5s, t0).time() == t0 + 5s);
    CHECK(OperationContext{Deadline::at(t0 + 60s)}.effective(5s, t0).time() == t0 + 60s);
    CHECK(OperationContext{}.effective(Duration::max(), t0).is_never());
}

TEST_CASE("operation context: a change leaves the other members and the original alone") {
    std::stop_source stop;
    const OperationContext plain{Deadline::at(t0)};
    const OperationContext full =
        plain.with_stop(stop.get_token()).with_trace({.traceparent = "p", .tracestate = "s"});
    CHECK(full.deadline().time() == t0);
    REQUIRE(full.trace() != nullptr);
    CHECK(*full.trace() == TraceContext{.traceparent = "p", .tracestate = "s"});
    CHECK(plain.trace() == nullptr);
    CHECK_FALSE(full.stop().stop_requested());
    stop.request_stop();
    CHECK(full.stop().stop_requested());
}

TEST_CASE("operation context: scopes nest and restore the previous context") {
    {
        const OperationContext::Scope outer{OperationContext{Deadline::at(t0 + 1s)}};
        {
            const OperationContext::Scope inner{OperationContext{}};
            CHECK(OperationContext::current().is_clean());
        }
        CHECK(OperationContext::current().deadline().time() == t0 + 1s);
    }
    CHECK(OperationContext::current().is_clean());
}

TEST_CASE("operation context: R21: a task runs under the context of the thread that posted it, and "
          "the context is cleared after") {
    test::ManualLoop loop;
    Deadline first;
    bool second_is_clean = false;
    {
        const OperationContext::Scope scope{OperationContext{Deadline::at(t0 + 7s)}};
        loop.post([&] { first = OperationContext::current().deadline(); });
    }
    loop.post([&] { second_is_clean = OperationContext::current().is_clean(); });
    loop.run_until_idle();
    CHECK(first.time() == t0 + 7s);
    CHECK(second_is_clean);
    CHECK(OperationContext::current().is_clean());
}

// SPDX-License-Identifier: MIT
#include "client/calls/call_scope.hpp"

#include <doctest/doctest.h>

#include <sessionq/browser.hpp>

#include "core/clock.hpp"
#include "unit/client/orders_fixture.hpp"

namespace sessionq::inline v1 {
namespace {

using namespace std::chrono_literals;

const TimePoint now{24h};
const Deadline soon = Deadline::after(1s, now);
const Deadline late = Deadline::after(1h, now);

} // namespace

TEST_CASE("call scope: R20: the soonest of timeout, context and ambient context is the deadline") {
    CHECK(detail::client::scope_of({}, now).deadline.is_never());
    CHECK(detail::client::scope_of({.timeout = 1s}, now).deadline == soon);
    CHECK(detail::client::scope_of({.timeout = 1h, .context = OperationContext{soon}}, now)
              .deadline == soon);
    CHECK(detail::client::scope_of({.timeout = 1s, .context = OperationContext{late}}, now)
              .deadline == soon);
    const OperationContext::Scope request{OperationContext{soon}};
    CHECK(detail::client::scope_of({}, now).deadline == soon);
    CHECK(detail::client::scope_of({.timeout = 1h, .context = OperationContext{late}}, now)
              .deadline == soon);
    CHECK(detail::client::scope_of({.timeout = 10ms}, now).deadline == Deadline::after(10ms, now));
}

TEST_CASE("call scope: a timeout of zero or less has passed, and the longest never does") {
    CHECK(detail::client::scope_of({.timeout = 0s}, now).deadline.passed(now));
    CHECK(detail::client::scope_of({.timeout = -1s}, now).deadline.passed(now));
    CHECK(detail::client::scope_of({.timeout = Duration::max()}, now).deadline.is_never());
    CHECK(
        detail::client::scope_of({.timeout = std::chrono::hours::max()}, now).deadline.is_never());
}

TEST_CASE("call scope: the configured timeout applies only where there is no deadline") {
    CHECK(detail::client::scope_of({}, now).deadline_or(1s, now) == soon);
    CHECK(detail::client::scope_of({.timeout = 1h}, now).deadline_or(1s, now) == late);
    CHECK(detail::client::scope_of({.context = OperationContext{late}}, now).deadline_or(1s, now) ==
          late);
    CHECK(detail::client::scope_of({}, now).deadline_or(Duration::max(), now).is_never());
}

TEST_CASE("call scope: each of three stop tokens stops the call") {
    std::stop_source own;
    std::stop_source passed;
    std::stop_source ambient;
    const OperationContext::Scope request{OperationContext{Deadline{}, ambient.get_token()}};
    const auto scope = detail::client::scope_of(
        {.stop = own.get_token(), .context = OperationContext{Deadline{}, passed.get_token()}},
        now);
    CHECK_FALSE(scope.context.stop().stop_requested());
    SUBCASE("its own") { own.request_stop(); }
    SUBCASE("that of its context") { passed.request_stop(); }
    SUBCASE("the ambient one") { ambient.request_stop(); }
    CHECK(scope.context.stop().stop_requested());
}

TEST_CASE("call scope: R22: a timeout bounds the call, and only a context travels") {
    test::OrdersFixture f;
    const auto deadline_sent = [&](const CallOptions& call) {
        f.sender.send(Message::of("placed").in_session("ada"), call);
        auto sent = Browser{f.client, "orders"}.peek(10);
        return sent.back().deadline();
    };
    CHECK(deadline_sent({}).is_never());
    CHECK(deadline_sent({.timeout = 1h}).is_never());
    const TimePoint began = core::system_clock().now();
    const Deadline travelled =
        deadline_sent({.timeout = 1h, .context = OperationContext{Deadline::in(2h)}});
    CHECK(travelled > Deadline::after(1h, began));
    CHECK(travelled <= Deadline::after(2h + 1min, began));
    const OperationContext::Scope request{OperationContext{Deadline::in(2h)}};
    CHECK(deadline_sent({.timeout = 1min}) > Deadline::after(1h, began));
}

} // namespace sessionq::inline v1

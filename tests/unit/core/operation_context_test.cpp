// SPDX-License-Identifier: MIT
#include <sessionq/operation_context.hpp>

#include <doctest/doctest.h>

#include <array>
#include <coroutine>
#include <exception>
#include <memory>

#include "core/lock_bound.hpp"
#include "support/code_of.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint t0{std::chrono::hours{1}};

/// A coroutine that runs until it suspends or ends, and is resumed once.
struct Suspended {
    struct promise_type {
        Suspended get_return_object() {
            return Suspended{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { thrown = std::current_exception(); }
        std::exception_ptr thrown{};
    };

    explicit Suspended(std::coroutine_handle<promise_type> made) : handle{made} {}
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;
    ~Suspended() { handle.destroy(); }

    std::coroutine_handle<promise_type> handle;
};

template <typename Scope, typename... Context>
Suspended suspends_in_scope(Context... context) {
    const Scope scope{context...};
    co_await std::suspend_always{};
}

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

TEST_CASE("operation context: a scope in a coroutine is refused, so it does not leak") {
    const OperationContext::Scope outer{OperationContext{Deadline::at(t0 + 1s)}};
    const auto is_refused = [](const Suspended& coroutine) {
        REQUIRE(coroutine.handle.done());
        REQUIRE(coroutine.handle.promise().thrown);
        CHECK(test::code_of([&] { std::rethrow_exception(coroutine.handle.promise().thrown); }) ==
              Errc::invalid_state);
        return OperationContext::current().deadline().time() == t0 + 1s;
    };
    CHECK(is_refused(suspends_in_scope<OperationContext::Scope>(OperationContext{})));
    CHECK(is_refused(suspends_in_scope<OperationContext::DetachedScope>()));
}

TEST_CASE("operation context: a scope on the heap is refused") {
    CHECK(test::code_of([] {
              static_cast<void>(std::make_unique<OperationContext::Scope>(OperationContext{}));
          }) == Errc::invalid_state);
    CHECK(OperationContext::current().is_clean());
}

TEST_CASE("operation context: scopes nest and restore the previous context") {
    {
        const OperationContext::Scope outer{OperationContext{Deadline::at(t0 + 1s)}};
        {
            const OperationContext::Scope inner{OperationContext{}.with_trace({"p", "s"})};
            CHECK(OperationContext::current().deadline().time() == t0 + 1s);
            CHECK(OperationContext::current().trace()->traceparent == "p");
        }
        {
            const OperationContext::DetachedScope detached;
            CHECK(OperationContext::current().is_clean());
            const OperationContext::Scope own{OperationContext{Deadline::at(t0 + 1h)}};
            CHECK(OperationContext::current().deadline().time() == t0 + 1h);
        }
        CHECK(OperationContext::current().trace() == nullptr);
        CHECK(OperationContext::current().deadline().time() == t0 + 1s);
    }
    CHECK(OperationContext::current().is_clean());
}

TEST_CASE("operation context: R20: a scope within a scope has the sooner deadline") {
    const OperationContext::Scope outer{OperationContext{Deadline::at(t0 + 10s)}};
    for (const Duration own : {3s, 10s, 3600s}) {
        const OperationContext::Scope inner{OperationContext{Deadline::at(t0 + own)}};
        CHECK(OperationContext::current().deadline().time() == t0 + std::min(own, Duration{10s}));
    }
}

TEST_CASE("operation context: either of the combined stop tokens stops, as long as a copy exists") {
    for (int fires = 0; fires < 3; ++fires) {
        CAPTURE(fires);
        std::array<std::stop_source, 3> sources;
        OperationContext kept;
        {
            const OperationContext::Scope a{OperationContext{}.with_stop(sources[0].get_token())};
            const OperationContext::Scope b{OperationContext{}.with_stop(sources[1].get_token())};
            kept = OperationContext{}
                       .with_stop(sources[2].get_token())
                       .within(OperationContext::current());
        }
        CHECK_FALSE(kept.stop().stop_requested());
        sources[static_cast<std::size_t>(fires)].request_stop();
        CHECK(kept.stop().stop_requested());
    }
}

TEST_CASE("operation context: the same token combined with itself stays the same token") {
    std::stop_source source;
    const OperationContext one = OperationContext{}.with_stop(source.get_token());
    CHECK(one.within(one).stop() == source.get_token());
    CHECK(one.within(OperationContext{}).stop() == source.get_token());
    CHECK(OperationContext{}.within(one).stop() == source.get_token());
}

TEST_CASE("operation context: R20: the end of a lock moves with renewals and is no deadline") {
    const auto lock = std::make_shared<LockBound>();
    lock->set_expires(Deadline::at(t0 + 4s));
    const OperationContext handler = LockBound::context(lock, Deadline::at(t0 + 1h));
    const OperationContext nested = OperationContext{Deadline::at(t0 + 2h)}.within(handler);
    CHECK(nested.deadline().time() == t0 + 1h);
    CHECK(nested.lock_expires().time() == t0 + 4s);
    lock->set_expires(Deadline::at(t0 + 8s));
    CHECK(nested.lock_expires().time() == t0 + 8s);
    lock->request_stop();
    CHECK(nested.stop().stop_requested());
    CHECK(OperationContext{}.lock_expires().is_never());
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

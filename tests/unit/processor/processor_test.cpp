// SPDX-License-Identifier: MIT
#include "processor/processor.hpp"

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;

TEST_CASE("processor: starts once, and not after it was stopped") {
    ProcessorBench bench;
    bench.start();
    CHECK_THROWS_AS(bench.processor->start(), Error);
}

TEST_CASE("processor: R18: stopped before it was started, it has stopped") {
    ProcessorBench bench;
    detail::processor::Processor never{
        {},
        {"orders"},
        bench.handlers,
        {.endpoints = {&bench.endpoint}, .dispatcher = &bench.dispatcher}};
    bool complete = false;
    never.stop(Deadline::never(), [&](const StopReport& report) { complete = report.complete; });
    CHECK(complete);
    CHECK(never.state() == ProcessorDescription::State::stopped);
    CHECK_THROWS_AS(never.start(), Error);
}

TEST_CASE("processor: R18: stop gives back what never started, waits for what runs, and reports") {
    ProcessorBench bench;
    bench.handle = [](MessageContext& context) {
        if (context.message().text() == "0") {
            throw std::runtime_error{"no"};
        }
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"0", "x"}); // x goes back here, which is not what stop does
    CHECK(link->take_log() == "drain, release x, abandon 0");
    bench.holds = true;
    bench.deliver(link, {"1", "2", "3"});
    bench.stop(10s);
    CHECK(bench.stopped.empty());
    CHECK(bench.endpoint.accepts.empty());
    CHECK(bench.slot().state == "leaving");
    CHECK(bench.slot().waits_for == "handlers");
    bench.finish();
    CHECK(link->take_log() == "drain, release 2, release 3, complete 1, close");
    REQUIRE(bench.stopped.size() == 1);
    CHECK(bench.stopped[0].complete);
    CHECK(bench.stopped[0].drained == 1);
    CHECK(bench.stopped[0].released == 2);
    CHECK(bench.stopped[0].left == 0);
    CHECK(bench.stopped[0].sessions == 1);
    bench.stop(1s); // again: the same
    REQUIRE(bench.stopped.size() == 2);
    CHECK(bench.stopped[1].released == 2);
}

TEST_CASE(
    "processor: R18: stop ends at its deadline though a handler is stuck, which is told before") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    const auto stop = bench.started.front().context->stop_token();
    bench.stop(10s);
    bench.advance(8s);
    CHECK_FALSE(stop.stop_requested());
    bench.advance(1500ms);
    CHECK(stop.stop_requested());
    CHECK(bench.stopped.empty());
    bench.advance(600ms);
    REQUIRE(bench.stopped.size() == 1);
    CHECK_FALSE(bench.stopped[0].complete);
    CHECK(bench.stopped[0].left == 1);
    CHECK(bench.stopped[0].released == 1);
    bench.finish(); // whenever: does no harm
    CHECK(bench.stopped.size() == 1);
}

TEST_CASE(
    "processor: R19: a session that comes after its accept was given up is released at once") {
    ProcessorBench bench;
    bench.start();
    bench.stop(10s);
    REQUIRE(bench.endpoint.accepts.size() == 1);
    CHECK(bench.endpoint.accepts.front().cancelled);
    CHECK(bench.stopped.empty());
    const auto link = bench.open();
    CHECK(link->take_log() == "close");
    CHECK(bench.counters().late_accepts == 1);
    CHECK(bench.counters().sessions_opened == 0);
    REQUIRE(bench.stopped.size() == 1);
    CHECK(bench.stopped[0].complete);
}

TEST_CASE("processor: R15: a late session that the broker does not let go of is dropped in time, "
          "others stay") {
    ProcessorBench bench;
    bench.answers = false;
    bench.start();
    bench.advance(66s); // the first accept is overdue
    const auto first = bench.open("first");
    CHECK(first->take_log() == "close");
    bench.advance(100ms);
    bench.stop(1h);
    const auto second = bench.open("second");
    CHECK(second->take_log() == "close");
    REQUIRE(second->answer_close());
    bench.run();
    CHECK_FALSE(second->alive);
    CHECK(first->alive);
    CHECK(bench.stopped.empty());
    bench.advance(10s);
    CHECK_FALSE(first->alive);
    REQUIRE(bench.stopped.size() == 1);
    CHECK(bench.stopped[0].complete);
}

TEST_CASE("processor: R16: an accept that is never answered is told, given up and repeated") {
    ProcessorBench bench{{.accept_wait = 60s}};
    bench.start();
    CHECK(bench.slot().state == "accepting");
    CHECK(bench.slot().waits_for == "a session");
    bench.advance(66s);
    CHECK(bench.errors == "accept timeout");
    CHECK(bench.endpoint.accepts.size() == 2);
    CHECK(bench.endpoint.accepts.front().cancelled);
    const auto link = bench.open(); // R19
    CHECK(link->take_log() == "close");
    bench.endpoint.refuse(Errc::no_session_available);
    bench.run();
    CHECK(bench.counters().accept_failures == 1);
}

TEST_CASE("processor: R17: failed accepts are told and wait, no session is neither (R5)") {
    ProcessorBench bench;
    bench.start();
    bench.endpoint.refuse(Errc::connection_refused);
    bench.run();
    CHECK(bench.errors == "accept connection_refused");
    CHECK(bench.slot().state == "backing_off");
    CHECK(bench.slot().waits_for == "the end of a backoff");
    CHECK(bench.endpoint.accepts.empty());
    while (bench.endpoint.accepts.empty()) {
        bench.advance(1ms);
    }
    bench.endpoint.refuse(Errc::no_session_available);
    bench.advance(99ms);
    CHECK(bench.endpoint.accepts.empty()); // spaced
    bench.advance(2ms);
    CHECK(bench.endpoint.accepts.size() == 1);
    CHECK(bench.counters().empty_accepts == 1);
    CHECK(bench.counters().accept_failures == 1);
    CHECK(bench.errors == "accept connection_refused");
}

TEST_CASE("processor: R17: a broker that refuses everything is asked a bounded number of times") {
    ProcessorBench bench;
    bench.start();
    const TimePoint end = bench.loop.now() + 60s;
    while (bench.loop.now() < end) {
        if (!bench.endpoint.accepts.empty()) {
            bench.endpoint.refuse(Errc::server_busy);
        }
        bench.advance(10ms);
    }
    CHECK(bench.endpoint.asked() <= 13);
    CHECK(bench.processor->describe_here().health.reasons.size() == 1);
}

TEST_CASE("processor: limits follow while it runs") {
    ProcessorBench bench{{.max_concurrent_sessions = 2}};
    bench.holds = true;
    bench.start();
    CHECK(bench.endpoint.accepts.size() == 2);
    const auto a = bench.open("a");
    const auto b = bench.open("b");
    bench.deliver(b, {"1"});
    bench.processor->update_limits({.max_concurrent_sessions = 1});
    bench.run();
    CHECK(b->take_log() == "drain");
    CHECK(bench.processor->describe_here().slots.size() == 2);
    bench.finish();
    CHECK(b->take_log() == "complete 1, close");
    CHECK(bench.processor->describe_here().slots.size() == 1);
    bench.processor->update_limits({.max_concurrent_sessions = 3});
    bench.run();
    CHECK(bench.endpoint.accepts.size() == 2);
    CHECK_THROWS_AS(bench.processor->update_limits({.max_concurrent_sessions = 0}), Error);
}

TEST_CASE("processor: the prefetch changes for sessions that are held, and for later ones") {
    ProcessorBench bench{{.max_concurrent_sessions = 2,
                          .session_idle_timeout = 1h,
                          .max_buffered_bytes = std::size_t{1} << 30U}};
    bench.start();
    const auto a = bench.open("a");
    CHECK(bench.slot(0).window == 32);
    bench.processor->update_limits({.max_concurrent_sessions = 2, .prefetch = 100});
    bench.run();
    CHECK(bench.slot(0).window == 100);
    CHECK(a->credit == 100);
    bench.processor->update_limits({.session_idle_timeout = 2h});
    bench.run();
    CHECK(bench.slot(0).window == 100); // as it is
    const auto b = bench.open("b");
    CHECK(bench.slot(1).window == 100);
    CHECK(b->credit == 100);
    bench.processor->update_limits({.max_concurrent_sessions = 3, .prefetch = 7});
    bench.run();
    REQUIRE(bench.endpoint.accepts.size() == 1);
    CHECK(bench.endpoint.accepts.front().request.first.count == 7);
    CHECK(bench.slot(0).window == 7);
    CHECK_THROWS_AS(
        bench.processor->update_limits({.max_concurrent_sessions = 3, .prefetch = 10'001}), Error);
}

TEST_CASE("processor: the calls per session change for sessions that are held, and later ones") {
    ProcessorBench bench{{.max_concurrent_sessions = 2, .session_idle_timeout = 1h}};
    bench.holds = true;
    bench.start();
    const auto a = bench.open("a");
    bench.deliver(a, {"1", "2", "3"});
    CHECK(bench.take_handled() == "1");
    bench.processor->update_limits(
        {.max_concurrent_sessions = 2, .max_concurrent_calls_per_session = 2});
    bench.run();
    CHECK(bench.take_handled() == "2");
    const auto b = bench.open("b");
    bench.deliver(b, {"4", "5", "6"});
    CHECK(bench.take_handled() == "4 5");
    bench.processor->update_limits({.max_concurrent_calls_per_session = 1});
    bench.finish();
    bench.finish();
    CHECK(bench.take_handled() == "3");
}

TEST_CASE("processor: limits that are not set stay as they are") {
    ProcessorBench bench{{.max_concurrent_sessions = 64,
                          .max_concurrent_calls_per_session = 3,
                          .max_concurrent_calls = 100,
                          .session_idle_timeout = 1h,
                          .prefetch = 12}};
    bench.start();
    const SessionProcessorOptions later =
        bench.processor->update_limits({.session_idle_timeout = 5s});
    CHECK(later.session_idle_timeout == 5s);
    CHECK(later.max_concurrent_sessions == 64);
    CHECK(later.max_concurrent_calls_per_session == 3);
    CHECK(later.max_concurrent_calls == 100);
    CHECK(later.prefetch == 12);
    bench.run();
    CHECK(bench.endpoint.accepts.size() == 64);
    CHECK(bench.processor->update_limits({.max_concurrent_calls = 7}).session_idle_timeout == 5s);
}

TEST_CASE("processor: limits are refused once it stops, and stay as they are") {
    ProcessorBench bench{{.max_concurrent_sessions = 2}};
    bench.start();
    const auto a = bench.open("a");
    a->answers = false;
    bench.processor->stop(Deadline::after(1min, bench.loop.now()), [](const StopReport&) {});
    const auto code = [&] {
        try {
            bench.processor->update_limits({.max_concurrent_sessions = 3});
            return Errc{};
        } catch (const Error& error) {
            return error.failure().code;
        }
    };
    CHECK(code() == Errc::invalid_state);
    bench.run();
    CHECK(code() == Errc::invalid_state);
    bench.advance(10min);
    CHECK(bench.processor->state() == ProcessorDescription::State::stopped);
    CHECK(code() == Errc::invalid_state);
}

TEST_CASE("processor: R17: a session lost while its slot was to go backs off all the same when the "
          "slot is wanted again") {
    ProcessorBench bench{{.max_concurrent_sessions = 2, .session_idle_timeout = 1min}};
    bench.start();
    const auto a = bench.open("a");
    const auto b = bench.open("b");
    b->answers = false;
    bench.processor->update_limits({.max_concurrent_sessions = 1});
    bench.run();
    CHECK(b->take_log() == "drain");
    bench.processor->update_limits({.max_concurrent_sessions = 2});
    bench.run();
    b->lose();
    bench.run();
    CHECK(bench.endpoint.accepts.empty());
    bench.advance(1s);
    CHECK(bench.endpoint.accepts.size() == 1);
}

TEST_CASE("processor: named sessions are kept while idle where there are slots for all, not once "
          "there are fewer") {
    ProcessorBench bench{
        {.max_concurrent_sessions = 2, .session_idle_timeout = 1s, .session_ids = {"x", "y"}}};
    bench.start();
    REQUIRE(bench.endpoint.accepts.size() == 2);
    CHECK(bench.endpoint.accepts[0].request.session_id.value_or("") == "x");
    CHECK(bench.endpoint.accepts[1].request.session_id.value_or("") == "y");
    const auto x = bench.open("x");
    const auto y = bench.open("y");
    bench.advance(1min);
    CHECK(x->take_log().empty());
    bench.processor->update_limits({.max_concurrent_sessions = 1});
    bench.run();
    CHECK(y->take_log() == "drain, close");
    x->lose();
    bench.advance(1s);
    REQUIRE(bench.endpoint.accepts.size() == 1);
    CHECK(bench.endpoint.accepts[0].request.session_id.value_or("") == "x");
    const auto again = bench.open("x");
    bench.advance(2s);
    CHECK(again->take_log() == "drain, close"); // y has its turn
}

TEST_CASE("processor: more slots than named sessions: the others wait and say for what") {
    ProcessorBench bench{{.max_concurrent_sessions = 2, .session_ids = {"x"}}};
    bench.start();
    CHECK(bench.endpoint.accepts.size() == 1);
    CHECK(bench.slot(1).state == "vacant");
    CHECK(bench.slot(1).waits_for == "one of the named sessions to be free");
}

TEST_CASE("processor: R25: one slot over several entities has an accept at each, and takes what "
          "comes first") {
    ProcessorBench bench{{.max_concurrent_sessions = 1, .accept_wait = 60s}, {"a", "b", "c"}};
    bench.start();
    CHECK(bench.endpoint.accepts.size() == 1); // one slot: no more than it can take, at first
    bench.advance(1s);
    REQUIRE(bench.endpoint.accepts.size() == 3);
    CHECK(bench.slot().state == "accepting");
    bench.endpoint.accepts.pop_front(); // b answers first
    const auto first = bench.open("x");
    CHECK(bench.slot().session_id == "x");
    CHECK(bench.slot().entity == "b");
    const auto second = bench.open("y"); // c does too
    CHECK(second->take_log() == "close");
    CHECK(bench.counters().surplus_accepts == 1);
    CHECK(bench.counters().late_accepts == 0);
    CHECK(bench.slot().session_id == "x");
}

TEST_CASE(
    "processor: R25: one accept waits at all entities where the broker can do that, until one "
    "of them fails") {
    ProcessorBench bench{{.max_concurrent_sessions = 2}, {"a", "b", "c"}};
    bench.endpoint.can = {"scripted",
                          {ports::Capability::accept_next, ports::Capability::accept_any_entity}};
    bench.start();
    REQUIRE(bench.endpoint.accepts.size() == 2); // one for each slot
    CHECK(bench.endpoint.accepts.front().request.entity == "a");
    CHECK(bench.endpoint.accepts.front().request.further_entities ==
          std::vector<std::string>{"b", "c"});
    bench.endpoint.refuse(Errc::no_session_available);
    bench.advance(100ms);
    REQUIRE(bench.endpoint.accepts.size() == 2);
    CHECK_FALSE(bench.endpoint.accepts.back().request.further_entities.empty());

    bench.endpoint.refuse(Errc::entity_not_found); // one of them
    bench.run();
    CHECK(bench.errors.empty()); // which one, its own accept says
    CHECK(bench.endpoint.accepts.front().cancelled);
    bench.endpoint.refuse(Errc::cancelled);
    bench.advance(1s);
    std::set<std::string> asked;
    for (const auto& each : bench.endpoint.accepts) {
        CHECK(each.request.further_entities.empty());
        asked.insert(each.request.entity);
    }
    CHECK(asked == std::set<std::string>{"a", "b", "c"});
    bench.endpoint.refuse(Errc::entity_not_found);
    bench.run();
    CHECK(bench.errors == "accept entity_not_found");
    CHECK(bench.slot().state == "accepting"); // at the others
}

TEST_CASE("processor: R16: the watchdog finds nothing wrong with a processor that waits") {
    ProcessorBench bench{{.max_concurrent_sessions = 2, .session_idle_timeout = Duration::max()}};
    bench.start();
    static_cast<void>(bench.open("a"));
    bench.advance(30s);
    const ProcessorDescription description = bench.processor->describe_here();
    CHECK(description.health.reasons.empty());
    CHECK(description.slots.at(0).waits_for == "messages");
    CHECK(description.slots.at(1).waits_for == "a session");
}

TEST_CASE("processor: options and entities are checked before anything starts") {
    ProcessorBench bench;
    const detail::processor::Environment environment{.endpoints = {&bench.endpoint},
                                                     .dispatcher = &bench.dispatcher};
    CHECK_THROWS_AS(detail::processor::Processor({.max_concurrent_sessions = 0}, {"a"},
                                                 bench.handlers, environment),
                    Error);
    CHECK_THROWS_AS(detail::processor::Processor({}, {}, bench.handlers, environment), Error);
    CHECK(bench.endpoint.asked() == 0);
}

TEST_CASE("processor: R18: a second stop with an earlier deadline shortens the first, a later one "
          "does not lengthen it") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    bench.deliver(bench.open(), {"1"});
    bench.stop(60s);
    bench.stop(100s);
    bench.stop(2s);
    bench.advance(1900ms);
    CHECK(bench.stopped.empty());
    bench.advance(200ms);
    REQUIRE(bench.stopped.size() == 3);
    CHECK(bench.stopped[0].left == 1);
    bench.finish();
}

TEST_CASE("processor: it may be destroyed once the last handler has returned, which is told") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.stop(Duration::zero());
    bench.advance(10s);
    CHECK(bench.stopped.size() == 1);
    CHECK_FALSE(link->alive);
    CHECK_FALSE(bench.emptied);
    bench.finish();
    CHECK(bench.emptied);
    bench.processor.reset();
    bench.run();
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>

#include "support/code_of.hpp"
#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::code_of;
using test::ProcessorBench;
using PauseState = ProcessorDescription::State;

namespace {

struct PauseBench : ProcessorBench {
    using ProcessorBench::ProcessorBench;

    void pause() {
        processor->pause();
        run();
    }
    void resume() {
        processor->resume();
        run();
    }
    auto start_with_handler() { // a session in which the handler of a message runs
        holds = true;
        start();
        const auto link = open();
        deliver(link, {"1"});
        return link;
    }
    void on_close() {
        handlers.session_close = [this](SessionContext&, CloseReason why) {
            closed.append(closed.empty() ? "" : " ").append(to_string(why));
        };
    }
    [[nodiscard]] std::size_t outstanding() const { // accepts that nobody gave up
        return static_cast<std::size_t>(
            std::count_if(endpoint.accepts.begin(), endpoint.accepts.end(),
                          [](const auto& accept) { return !accept.cancelled; }));
    }

    std::string closed{};
};

} // namespace

TEST_CASE("pause: what never started goes back, what runs finishes, and the session is left") {
    PauseBench bench;
    bench.on_close();
    bench.holds = true;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    const auto token = bench.started.front().context->stop_token();
    bench.pause();
    CHECK(bench.processor->state() == PauseState::paused);
    CHECK(link->take_log() == "drain, release 2, release 3");
    CHECK(bench.slot().state == "leaving");
    CHECK(bench.slot().waits_for == "handlers");
    bench.advance(10min); // renewing its lock
    CHECK_FALSE(token.stop_requested());
    bench.finish();
    CHECK(link->take_log() == "complete 1, close");
    CHECK(bench.take_handled() == "1");
    CHECK(bench.closed == "paused");
    CHECK(bench.slot().state == "paused");
    CHECK(bench.slot().waits_for == "resume");
    CHECK(bench.outstanding() == 0);
    bench.advance(10min);
    CHECK(bench.outstanding() == 0);
    CHECK(bench.processor->describe_here().health.reasons.empty());
    CHECK(bench.processor->describe_here().to_string().find(
              "paused, 0 bytes buffered, healthy\n") == 0);

    bench.holds = false;
    bench.resume();
    CHECK(bench.processor->state() == PauseState::running);
    CHECK(bench.slot().state == "accepting");
    bench.deliver(bench.open(), {"2"});
    CHECK(bench.take_handled() == "2");
    CHECK(bench.errors.empty());
}

TEST_CASE("pause: the session is kept until the broker has answered its settlements") {
    PauseBench bench;
    bench.holds = true;
    bench.answers = false;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.finish();
    bench.pause();
    REQUIRE(link->answer_drain());
    bench.run();
    CHECK(link->take_log() == "complete 1, drain");
    REQUIRE(link->answer_settlement());
    bench.run();
    CHECK(link->take_log() == "close");
}

TEST_CASE("pause: R19: a session that comes late is given back") {
    PauseBench bench;
    bench.start();
    bench.pause();
    CHECK(bench.endpoint.accepts.size() == 1);
    CHECK(bench.outstanding() == 0);
    const auto link = bench.open();
    CHECK(link->take_log() == "close");
    CHECK(bench.counters().late_accepts == 1);
    CHECK(bench.counters().sessions_opened == 0);
    bench.resume();
    CHECK(bench.outstanding() == 1);
}

TEST_CASE("pause: sessions that are parked without a slot are left") {
    PauseBench bench{{.failure_policy = FailurePolicy::park_session(1h)}};
    bench.on_close();
    bench.holds = true;
    bench.start();
    const auto parked = bench.open("a");
    bench.deliver(parked, {"1", "2"});
    bench.finish("no");
    CHECK(bench.processor->describe_here().parked.size() == 1);
    CHECK(bench.slot().state == "accepting");
    static_cast<void>(parked->take_log());
    bench.pause();
    CHECK(parked->take_log() == "abandon 1, close");
    CHECK(bench.closed == "paused");
    CHECK(bench.processor->describe_here().parked.empty());
    CHECK(bench.slot().state == "paused");
    bench.resume();
    CHECK(bench.outstanding() == 1);
}

TEST_CASE("pause: a session that others must not handle yet keeps its delay when it is left") {
    PauseBench bench{{.failure_policy = FailurePolicy::retry_later({1h})}};
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a");
    link->answers_state = true;
    bench.deliver(link, {"1"});
    bench.finish("no");
    CHECK(bench.processor->describe_here().parked.size() == 1);
    CHECK(link->take_log() == "drain, state read, state written, abandon 1");
    bench.pause();
    CHECK(link->take_log() == "close"); // its record is not removed
}

TEST_CASE("pause: resumed amid the leaving, the session ends first, and then its slot asks") {
    PauseBench bench;
    const auto link = bench.start_with_handler();
    bench.pause();
    bench.resume();
    CHECK(bench.slot().state == "leaving");
    CHECK(bench.outstanding() == 0);
    bench.pause(); // and so on
    bench.resume();
    bench.finish();
    CHECK(link->take_log() == "drain, complete 1, close");
    CHECK(bench.outstanding() == 1);
}

TEST_CASE("pause: again, and resuming what runs, do nothing") {
    PauseBench bench;
    bench.start();
    const auto link = bench.open();
    bench.resume();
    CHECK(link->take_log().empty());
    bench.pause();
    CHECK(link->take_log() == "drain, close");
    bench.pause();
    bench.resume();
    CHECK(bench.outstanding() == 1);
}

TEST_CASE("pause: limits that are set meanwhile count after it") {
    PauseBench bench{{.max_concurrent_sessions = 2}};
    bench.start();
    bench.pause();
    bench.processor->update_limits({.max_concurrent_sessions = 3});
    bench.run();
    CHECK(bench.outstanding() == 0);
    CHECK(bench.processor->describe_here().slots.size() == 3);
    CHECK(bench.slot(2).state == "paused");
    bench.resume();
    CHECK(bench.outstanding() == 3);
    bench.pause();
    bench.processor->update_limits({.max_concurrent_sessions = 1});
    bench.resume();
    CHECK(bench.outstanding() == 1);
}

TEST_CASE("pause: named sessions are left, and asked for after it") {
    PauseBench bench{{.max_concurrent_sessions = 2, .session_ids = {"x", "y"}}};
    bench.start();
    const auto x = bench.open("x");
    bench.pause();
    CHECK(x->take_log() == "drain, close");
    const auto y = bench.open("y"); // too late
    CHECK(y->take_log() == "close");
    CHECK(bench.outstanding() == 0);
    bench.resume();
    CHECK(bench.outstanding() == 2);
}

TEST_CASE("pause: where received messages are deleted, they are handled first") {
    PauseBench bench{{.receive_and_delete = true}};
    bench.start();
    bench.holds = true;
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    bench.pause();
    bench.finish();
    CHECK(bench.slot().state == "leaving");
    bench.finish();
    CHECK(bench.take_handled() == "1 2");
    CHECK(bench.slot().state == "paused");
}

TEST_CASE("pause: R18: a paused processor stops, also while sessions are being left") {
    PauseBench bench;
    const auto link = bench.start_with_handler();
    bench.pause();
    bench.stop(10s);
    CHECK(bench.stopped.empty());
    bench.finish();
    CHECK(link->take_log() == "drain, complete 1, close");
    REQUIRE(bench.stopped.size() == 1);
    CHECK(bench.stopped[0].complete);
    CHECK(bench.stopped[0].sessions == 1);

    PauseBench idle;
    idle.start();
    idle.pause();
    idle.endpoint.refuse(Errc::cancelled);
    idle.run();
    idle.stop(10s);
    REQUIRE(idle.stopped.size() == 1);
    CHECK(idle.stopped[0].complete);
    CHECK(idle.emptied);
}

TEST_CASE("pause: a fault amid the leaving causes no backoff") {
    PauseBench bench;
    const auto link = bench.start_with_handler();
    bench.pause();
    link->lose();
    bench.finish();
    CHECK(bench.slot().state == "paused");
    bench.resume();
    CHECK(bench.outstanding() == 1);
}

TEST_CASE("pause: it needs a processor that was started and not stopped") {
    PauseBench bench;
    bench.start();
    detail::processor::Processor never{
        {},
        {"orders"},
        bench.handlers,
        {.endpoints = {&bench.endpoint}, .dispatcher = &bench.dispatcher}};
    CHECK(code_of([&] { never.pause(); }) == Errc::invalid_state);
    CHECK(code_of([&] { never.resume(); }) == Errc::invalid_state);
    bench.stop(1s);
    CHECK(code_of([&] { bench.processor->pause(); }) == Errc::invalid_state);
    CHECK(code_of([&] { bench.processor->resume(); }) == Errc::invalid_state);
}

// SPDX-License-Identifier: MIT
// Handlers of opened and closed sessions that finish later than they start.
#include "processor/session/session_call.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;

namespace {

/// The session handlers that have started and have not ended.
struct HeldHandlers {
    struct Held {
        SessionContext* session;
        std::optional<CloseReason> reason; ///< unset: the session opens
        Completion completion;
    };

    void start(SessionContext& session, std::optional<CloseReason> reason, Completion completion) {
        if (holds) {
            calls.push_back({&session, reason, std::move(completion)});
        } else {
            completion.done();
        }
    }

    bool holds{true};
    std::deque<Held> calls{};
};

/// A bench whose session handlers end when the test says so.
struct SessionCallBench : ProcessorBench {
    explicit SessionCallBench(SessionProcessorOptions options = {})
        : ProcessorBench{std::move(options)} {}
    ~SessionCallBench() {
        held->holds = false;
        held->calls.clear();
        run();
    }
    SessionCallBench(const SessionCallBench&) = delete;
    SessionCallBench& operator=(const SessionCallBench&) = delete;

    void hold_open() {
        handlers.start_session_open = [held = held](SessionContext& session,
                                                    Completion completion) {
            held->start(session, std::nullopt, std::move(completion));
        };
    }
    void hold_close() {
        handlers.start_session_close = [held = held](SessionContext& session, CloseReason reason,
                                                     Completion completion) {
            held->start(session, reason, std::move(completion));
        };
    }
    [[nodiscard]] Completion take() {
        Completion completion = std::move(held->calls.front().completion);
        held->calls.pop_front();
        return completion;
    }
    /// Ends the oldest handler.
    void end() {
        take().done();
        run();
    }
    void fail(const char* why) {
        take().failed({.code = Errc::handler_failed, .detail = why});
        run();
    }
    [[nodiscard]] std::size_t held_calls() const { return held->calls.size(); }

    std::shared_ptr<HeldHandlers> held{std::make_shared<HeldHandlers>()};
};

} // namespace

TEST_CASE("session call: an open handler that ends later keeps the messages waiting, no worker") {
    SessionCallBench bench{{.max_concurrent_sessions = 2}};
    bench.hold_open();
    bench.start();
    const auto a = bench.open("a");
    const auto b = bench.open("b");
    bench.deliver(a, {"1"});
    bench.deliver(b, {"2"});
    CHECK(bench.held_calls() == 2); // at once on the one worker
    CHECK(bench.handled.empty());
    bench.end();
    CHECK(bench.take_handled() == "1");
    bench.end();
    CHECK(bench.take_handled() == "2");
    CHECK(bench.errors.empty());
}

TEST_CASE("session call: R17, R25: an open handler that ends later and failed parks its session") {
    SessionCallBench bench;
    bench.hold_open();
    std::string why;
    SUBCASE("as it says, later") {
        bench.start();
        why = "no paper";
    }
    SUBCASE("as it says, within the start") {
        bench.handlers.start_session_open = [](SessionContext&, const Completion& completion) {
            completion.failed(std::make_exception_ptr(std::runtime_error{"no ink"}));
        };
        bench.start();
        why = "no ink";
    }
    SUBCASE("without an exception") {
        bench.handlers.start_session_open = [](SessionContext&, const Completion& completion) {
            completion.failed(std::exception_ptr{});
        };
        bench.start();
        why = "null exception";
    }
    SUBCASE("because its start threw") {
        bench.handlers.start_session_open = [](SessionContext&, const Completion&) {
            throw std::runtime_error{"no start"};
        };
        bench.start();
        why = "no start";
    }
    SUBCASE("because its start dropped its completion") {
        bench.handlers.start_session_open = [](SessionContext&, const Completion&) {};
        bench.start();
        why = "destroyed and never used";
    }
    SUBCASE("because its completion was dropped later") {
        bench.start();
        why = "destroyed and never used";
    }
    const auto link = bench.open("bad");
    if (why == "no paper") {
        bench.fail("no paper");
    } else if (bench.held_calls() != 0) {
        bench.held->calls.clear();
        bench.run();
    }
    CHECK(bench.errors == "session_open handler_failed");
    CHECK(bench.last_error.detail.find(why) != std::string::npos);
    CHECK(link->take_log() == "drain");
    CHECK(bench.endpoint.accepts.size() == 1); // the slot takes the next session at once
    CHECK(bench.processor->describe_here().parked.size() == 1);
    bench.advance(100ms);
    CHECK(link->take_log() == "close");
}

TEST_CASE("session call: a session is given back when its close handler has ended") {
    SessionCallBench bench;
    bench.hold_close();
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.advance(2s);
    REQUIRE(bench.held_calls() == 1);
    CHECK(bench.held->calls.front().reason == CloseReason::idle);
    CHECK(bench.held->calls.front().session->session_id() == "a");
    bench.advance(1min);
    CHECK(link->take_log() == "complete 1, drain");
    SUBCASE("and succeeded") {
        bench.end();
        CHECK(bench.errors.empty());
    }
    SUBCASE("and failed") {
        bench.fail("no");
        CHECK(bench.errors == "session_close handler_failed");
    }
    CHECK(link->take_log() == "close");
}

TEST_CASE("session call: R18: stop ends at its deadline though a close handler waits, which is "
          "told before") {
    SessionCallBench bench;
    bench.hold_close();
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.stop(10s);
    REQUIRE(bench.held_calls() == 1);
    CHECK(bench.held->calls.front().reason == CloseReason::stopped);
    const auto token = bench.held->calls.front().session->stop_token();
    bench.advance(8s);
    CHECK_FALSE(token.stop_requested());
    bench.advance(1500ms);
    CHECK(token.stop_requested());
    CHECK(bench.stopped.empty());
    bench.advance(600ms);
    REQUIRE(bench.stopped.size() == 1);
    CHECK_FALSE(bench.stopped[0].complete);
    CHECK(bench.stopped[0].left == 1);
    CHECK_FALSE(bench.emptied);
    bench.end();
    CHECK(bench.emptied);
}

TEST_CASE("session call: R18: stop waits for an open handler that ends later, until its deadline") {
    SessionCallBench bench;
    bench.hold_open();
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.stop(10s);
    CHECK(bench.stopped.empty());
    bool ends = false;
    SUBCASE("it ends in time") { ends = true; }
    SUBCASE("it does not") {}
    if (ends) {
        bench.end();
    } else {
        bench.advance(11s);
    }
    REQUIRE(bench.stopped.size() == 1);
    CHECK(bench.stopped[0].complete == ends);
    CHECK(bench.stopped[0].left == (ends ? 0U : 1U));
    if (!ends) {
        bench.end();
    }
    CHECK(bench.emptied);
    CHECK(bench.handled.empty());
}

TEST_CASE("session call: a pause waits for session handlers that end later") {
    SessionCallBench bench;
    bench.hold_open();
    bench.hold_close();
    bench.start();
    const auto link = bench.open();
    bench.processor->pause();
    bench.run();
    CHECK(bench.slot().state == "leaving");
    bench.end(); // on_session_open
    REQUIRE(bench.held_calls() == 1);
    CHECK(bench.held->calls.front().reason == CloseReason::paused);
    CHECK(link->take_log().find("close") == std::string::npos);
    bench.end();
    CHECK(bench.slot().state == "paused");
    CHECK(link->take_log() == "close");
}

TEST_CASE("session call: a session handler that hangs is a cause of health, until it ends") {
    SessionCallBench bench;
    bench.hold_open();
    bench.start();
    bench.open("ada");
    bench.advance(59s);
    CHECK(bench.processor->describe_here().health.state == Health::State::healthy);
    bench.advance(2s);
    const Health health = bench.processor->describe_here().health;
    REQUIRE(health.reasons.size() == 1);
    CHECK(health.reasons.front().cause == HealthCause::handler_slow);
    CHECK(health.reasons.front().session_id == "ada");
    bench.end();
    bench.advance(100ms);
    CHECK(bench.processor->describe_here().health.state == Health::State::healthy);
}

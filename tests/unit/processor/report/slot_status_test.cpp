// SPDX-License-Identifier: MIT
#include "processor/report/slot_status.hpp"

#include <doctest/doctest.h>

#include "processor/slots/slot_machine.hpp"
#include "unit/processor/support/session_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::SessionMachine;
using detail::processor::SlotMachine;
using test::SessionBench;

TEST_CASE(
    "slot words: a slot without a session says what it waits for, or that it waits for nothing") {
    core::Random random{1};
    SlotMachine slot{BackoffOptions{}, random};
    CHECK(slot.status({}).state == "stopped");
    static_cast<void>(slot.follow(std::nullopt));
    CHECK(slot.status({.named_sessions = true}).waits_for ==
          "one of the named sessions to be free");
    CHECK(slot.status({}).waits_for.empty());
    CHECK(slot.status({.accept = true, .pause = true}).waits_for == "a session");
    CHECK(slot.status({.named_sessions = true, .pause = true}).waits_for == "the end of a backoff");
    slot.accepted();
    CHECK(slot.session_left(CloseReason::lock_lost, std::nullopt, 0s).wait);
    CHECK(slot.status({.timer = true}).waits_for == "its backoff");
    CHECK(slot.status({.named_sessions = true, .accept = true}).waits_for.empty());
    static_cast<void>(slot.follow(CloseReason::paused));
    CHECK(slot.status({}).state == "paused");
    CHECK(slot.status({.timer = true}).waits_for == "resume");
    static_cast<void>(slot.follow(CloseReason::stopped));
    CHECK(slot.status({}).state == "stopped");
    CHECK(slot.status({}).waits_for == "nothing: stopped");
}

TEST_CASE("slot words: of an open session the nearest wait is told") {
    SessionBench bench{{.max_concurrent_calls_per_session = 3,
                        .session_idle_timeout = 1s,
                        .failure_policy = FailurePolicy::abandon().after_attempts(2)}};
    const auto waits_for = [&] { return bench.machine.status().waits_for; };
    CHECK(waits_for() == "the handlers of an earlier lock");
    static_cast<void>(bench.begin());
    CHECK(bench.machine.status().state == "open");
    CHECK(waits_for() == "messages");
    static_cast<void>(bench.pass(1s));
    CHECK(waits_for() == "the drain's answer");
    auto& first = bench.arrive_and_start();
    CHECK(waits_for() == "handlers");
    auto& second = bench.arrive_and_start();
    static_cast<void>(bench.succeed(first));
    CHECK(waits_for() == "handlers and settlements");
    bench.holds = false;
    static_cast<void>(bench.fail(second));
    CHECK(waits_for() == "the next try of a message");

    SessionBench quiet{{.session_idle_timeout = 1s}};
    static_cast<void>(quiet.begin());
    static_cast<void>(quiet.succeed(quiet.arrive_and_start()));
    CHECK(quiet.machine.status().waits_for == "settlements");
}

// SPDX-License-Identifier: MIT
#include "processor/credit/session_flow.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::SessionFlow;

namespace {

constexpr std::uint32_t unbounded = std::numeric_limits<std::uint32_t>::max();

/// A session of one call at a time, with `prefetch` messages fetched ahead.
struct FlowBench {
    explicit FlowBench(std::uint32_t prefetch = 0, core::ReceiveSharePtr share = {})
        : flow{{.options = options,
                .tuning = tuning,
                .budget = budget,
                .random = random,
                .parked = sessions,
                .settling = sessions,
                .drain_time = drain_time,
                .action_memory = action_memory},
               {.limits = {.idle_timeout = 1s, .prefetch = prefetch}, .share = std::move(share)}} {}

    void arrive(std::uint32_t messages) {
        for (std::uint32_t i = 0; i < messages; ++i) {
            flow.arrived(100, now);
        }
    }
    /// The broker answers a drain after `taken`.
    void drain(Duration taken) {
        REQUIRE(flow.drain(now));
        now += taken;
        REQUIRE(flow.drained(now));
    }

    const SessionProcessorOptions options{};
    const detail::processor::Tuning tuning{};
    core::ByteBudget budget{std::size_t{64} << 20U, 1024};
    core::Random random{1};
    detail::processor::SessionCount sessions{};
    detail::processor::DrainTime drain_time{};
    detail::processor::SessionActions::Spare action_memory{};
    SessionFlow flow;
    TimePoint now{1h};
};

struct NoRoomWaiter final : core::RoomWaiter {
    void on_room() override {}
};

} // namespace

TEST_CASE("session flow: it asks for a window of messages, and for more once half of it is free") {
    FlowBench bench;
    CHECK(bench.flow.grant(0, 0, unbounded) == 32);
    CHECK(bench.flow.credit() == 32);
    CHECK(bench.flow.grant(0, 0, unbounded) == 0);
    bench.arrive(32);
    CHECK(bench.flow.grant(17, 0, unbounded) == 0);
    CHECK(bench.flow.grant(16, 0, unbounded) == 16);
}

TEST_CASE("session flow: R14: it asks for no more than the turn may have, on their way or here") {
    FlowBench bench;
    CHECK(bench.flow.grant(0, 0, 5) == 5);
    CHECK(bench.flow.grant(0, 0, 5) == 0); // they are on their way
    bench.arrive(2);
    CHECK(bench.flow.grant(2, 0, 5) == 0);
    bench.arrive(3);
    CHECK(bench.flow.grant(0, 0, 3) == 3);
    FlowBench small{4};
    CHECK(small.flow.grant(0, 0, 100) == 4); // nor more than the window
}

TEST_CASE("session flow: messages that are set aside take no place in the window") {
    FlowBench bench{8};
    CHECK(bench.flow.grant(0, 0, unbounded) == 8);
    bench.arrive(8);
    CHECK(bench.flow.grant(8, 0, unbounded) == 0);
    CHECK(bench.flow.grant(8, 8, unbounded) == 8);
}

TEST_CASE("session flow: its window is as configured, else it follows the calls") {
    FlowBench bench;
    CHECK(bench.flow.window() == 32);
    bench.flow.limit_handled(40);
    CHECK(bench.flow.window() == 80);
    bench.flow.configure(7);
    CHECK(bench.flow.window() == 7);
    CHECK(bench.flow.grant(0, 0, unbounded) == 7);
}

TEST_CASE("session flow: the window grows when handlers waited although the last credit was used") {
    FlowBench bench;
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    bench.flow.handled(0, true, bench.now);
    bench.now += 50ms;
    bench.arrive(31);
    CHECK(bench.flow.window() == 32);
    bench.arrive(1);
    CHECK(bench.flow.window() == 64);
    for (int i = 0; i < 63; ++i) {
        bench.flow.handled(40, false, bench.now);
    }
    CHECK(bench.flow.window() == 64);
    bench.flow.handled(40, false, bench.now); // more than half of it was never used
    CHECK(bench.flow.window() == 32);
}

TEST_CASE("session flow: R23: messages count in the budget and in their connection's share") {
    const auto room = std::make_shared<core::ReceiveRoom>();
    NoRoomWaiter waiter;
    FlowBench bench{8, std::make_shared<core::ReceiveShare>(room, waiter, 1024)};
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 8);
    CHECK(bench.budget.expected() == 8);
    bench.arrive(2);
    CHECK(bench.budget.expected() == 6);
    CHECK(bench.budget.buffered_bytes() == 200);
    CHECK(room->kept() == 200);
    bench.flow.left(100);
    CHECK(bench.budget.buffered_bytes() == 100);
    CHECK(room->kept() == 100);
}

TEST_CASE("session flow: R4: without an idle timeout it rolls once the broker has shown no more") {
    FlowBench bench;
    CHECK_FALSE(bench.flow.rolls(0s)); // nothing was shown
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    CHECK(bench.flow.drain(bench.now));
    CHECK_FALSE(bench.flow.drain(bench.now + 30ms)); // it is asked for already
    CHECK(bench.flow.is_draining());
    CHECK_FALSE(bench.flow.rolls(0s));
    CHECK(bench.flow.drained(bench.now + 40ms));
    CHECK(bench.drain_time.least() == 40ms);
    CHECK_FALSE(bench.flow.is_draining());
    CHECK(bench.flow.credit() == 0);
    CHECK(bench.flow.rolls(0s));
    CHECK_FALSE(bench.flow.rolls(1s)); // the drain was for another purpose
    bench.arrive(1);
    CHECK_FALSE(bench.flow.rolls(0s));
}

TEST_CASE("session flow: R4: credit that was used up shows nothing") {
    FlowBench bench{2};
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 2);
    REQUIRE(bench.flow.drain(bench.now));
    bench.arrive(2);
    CHECK(bench.flow.drained(bench.now));
    CHECK_FALSE(bench.flow.rolls(0s));
}

TEST_CASE("session flow: a drain that goes ahead of the idle timeout lets it roll at its answer") {
    for (const bool message_comes : {false, true}) {
        for (const bool timeout_changes : {false, true}) {
            CAPTURE(message_comes);
            CAPTURE(timeout_changes);
            FlowBench bench;
            REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
            REQUIRE(bench.flow.drain(bench.now));
            bench.flow.goes_ahead();
            CHECK_FALSE(bench.flow.rolls(1s)); // not answered
            if (message_comes) {
                bench.arrive(1);
            }
            if (timeout_changes) {
                bench.flow.forget_ahead();
            }
            REQUIRE(bench.flow.drained(bench.now));
            CHECK(bench.flow.rolls(1s) == (!message_comes && !timeout_changes));
            CHECK(bench.flow.rolls(0s)); // it is empty anyhow
        }
    }
}

TEST_CASE("session flow: the credit is asked back so early that the answer is there at the end") {
    FlowBench bench;
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    const TimePoint idle_end = bench.now + 1min;
    CHECK(bench.flow.ask_at(idle_end, 1s) == idle_end); // no drain was answered yet
    bench.drain(40ms);
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    CHECK(bench.flow.ask_at(idle_end, 1s) == idle_end - 40ms);
    CHECK(bench.flow.ask_at(idle_end, 10ms) == idle_end - 10ms); // not before it is idle
}

TEST_CASE("session flow: without credit, without an end and while draining nothing is asked back") {
    FlowBench bench;
    const TimePoint idle_end = bench.now + 1min;
    CHECK(bench.flow.ask_at(idle_end, 1s) == TimePoint::max());
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    bench.drain(40ms);
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    CHECK(bench.flow.ask_at(idle_end, 1s) == idle_end - 40ms);
    CHECK(bench.flow.ask_at(TimePoint::max(), Duration::max()) == TimePoint::max());
    REQUIRE(bench.flow.drain(bench.now));
    CHECK(bench.flow.ask_at(idle_end, 1s) == TimePoint::max());
    bench.flow.close();
    CHECK(bench.flow.ask_at(idle_end, 1s) == TimePoint::max());
}

TEST_CASE("session flow: R15: a drain is overdue after the drain timeout") {
    FlowBench bench;
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    CHECK(bench.flow.drain_by() == TimePoint::max());
    REQUIRE(bench.flow.drain(bench.now));
    CHECK(bench.flow.drain_by() == bench.now + bench.tuning.drain_timeout);
    REQUIRE(bench.flow.drained(bench.now));
    CHECK(bench.flow.drain_by() == TimePoint::max());
}

TEST_CASE("session flow: credit and a drain that went out with the accept count, and measure no "
          "drain") {
    FlowBench bench;
    bench.flow.given({.count = 8, .drain = true}, bench.now);
    CHECK(bench.flow.credit() == 8);
    CHECK(bench.flow.is_draining());
    CHECK(bench.flow.drain_by() == bench.now + bench.tuning.drain_timeout);
    CHECK_FALSE(bench.flow.drained(bench.now + 30ms)); // it may be older than the grant
    CHECK_FALSE(bench.flow.rolls(0s));
    CHECK(bench.drain_time.least() == Duration::zero());
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    bench.drain(20ms);
    CHECK(bench.drain_time.least() == 20ms);
}

TEST_CASE("session flow: closed, it asks for nothing more") {
    FlowBench bench;
    REQUIRE(bench.flow.grant(0, 0, unbounded) == 32);
    CHECK_FALSE(bench.flow.is_closed());
    bench.flow.close();
    CHECK(bench.flow.is_closed());
    CHECK(bench.flow.credit() == 0);
    CHECK(bench.budget.expected() == 0);
    CHECK(bench.flow.grant(0, 0, unbounded) == 0);
    CHECK_FALSE(bench.flow.drain(bench.now));
}

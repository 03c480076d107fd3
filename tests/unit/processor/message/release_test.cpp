// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <stdexcept>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;

namespace {

void releases_the_first(MessageContext& context) {
    if (context.message().text() == "1") {
        context.release();
        CHECK(context.settled());
    }
}

} // namespace

TEST_CASE("release: R6: what is behind the message goes back first, and then it, uncounted") {
    ProcessorBench bench;
    bench.handle = releases_the_first;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2", "3"});
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain, release 2, release 3, release 1");
    CHECK(bench.counters().messages_handled == 1);
    CHECK(bench.counters().messages_released == 3);
    bench.deliver(link, {"1b"}); // the session goes on
    CHECK(bench.handled == "1 1b");
}

TEST_CASE("release: R17: the session is parked for the delay of abandoning, and then left") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::abandon_after({.min = 2s, .max = 8s})}};
    bench.handle = releases_the_first;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1", "2"});
    bench.advance(900ms);
    CHECK(bench.handled == "1");
    CHECK(link->take_log() == "drain, release 2");
    CHECK(bench.slot().state == "accepting"); // the slot is free meanwhile
    bench.advance(1200ms);
    CHECK(link->take_log() == "release 1, close");
}

TEST_CASE("release: R18: a stop does not wait for the delay") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::abandon_after({.min = 1h, .max = 1h})}};
    bench.handle = releases_the_first;
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    bench.stop(10s);
    CHECK(link->take_log() == "drain, release 1, close");
}

TEST_CASE("release: R8: it stands, also when the handler throws afterwards") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter()}};
    bench.handle = [](MessageContext& context) {
        context.release();
        throw std::runtime_error{"no"};
    };
    bench.start();
    const auto link = bench.open();
    bench.deliver(link, {"1"});
    CHECK(link->take_log() == "drain, release 1");
}

TEST_CASE("release: R8: nothing is released once the lock is lost") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 10s);
    bench.deliver(link, {"1"});
    MessageContext& context = *bench.started.front().context;
    link->lose(Errc::lock_lost);
    bench.run();
    try {
        context.release();
        FAIL("it was released");
    } catch (const Error& error) {
        CHECK(error.failure().code == Errc::lock_lost);
    }
    bench.finish_all();
}

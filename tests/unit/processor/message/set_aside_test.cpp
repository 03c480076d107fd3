// SPDX-License-Identifier: MIT
// Messages of an entity without sessions wait alone for a retry or for the return to the broker.
#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using test::ProcessorBench;

namespace {

void fails_with_poison(MessageContext& context) {
    if (context.message().text().starts_with("poison")) {
        throw std::runtime_error{"poison"};
    }
}

/// As a `Processor` works.
SessionProcessorOptions of_entity(
    FailurePolicy policy = FailurePolicy::abandon_after({.min = 2s, .max = 8s})) {
    return {.max_concurrent_calls_per_session = 2,
            .session_idle_timeout = Duration::max(),
            .prefetch = 8,
            .failure_policy = std::move(policy)};
}

void poison(ProcessorBench& bench, const test::ScriptedLinkPtr& link, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        bench.deliver(link, {"poison"});
    }
}

} // namespace

TEST_CASE("set aside: R9: a failed message waits with its lock, and others are handled meanwhile") {
    ProcessorBench bench{of_entity()};
    bench.scope = ports::Scope::entity;
    bench.handle = fails_with_poison;
    bench.start();
    const auto link = bench.open("");
    bench.deliver(link, {"poison", "2"});
    CHECK(bench.handled == "poison 2");
    CHECK(link->take_log() == "complete 2");
    bench.advance(999ms);
    CHECK(link->take_log().empty());
    bench.advance(1002ms);
    CHECK(link->take_log() == "abandon poison");
    CHECK(bench.handled == "poison 2"); // it was not tried again
}

TEST_CASE("set aside: a released message waits in the same way, and goes back uncounted") {
    ProcessorBench bench{of_entity()};
    bench.scope = ports::Scope::entity;
    bench.handle = [](MessageContext& context) {
        if (context.message().text() == "1") {
            context.release();
        }
    };
    bench.start();
    const auto link = bench.open("");
    bench.deliver(link, {"1", "2"});
    CHECK(link->take_log() == "complete 2");
    bench.advance(2001ms);
    CHECK(link->take_log() == "release 1");
    CHECK(bench.handled == "1 2");
}

TEST_CASE("set aside: R18: a stop does not wait, and what waits goes back") {
    ProcessorBench bench{of_entity(FailurePolicy::abandon_after({.min = 1h, .max = 1h}))};
    bench.scope = ports::Scope::entity;
    bench.handle = fails_with_poison;
    bench.start();
    const auto link = bench.open("");
    bench.deliver(link, {"poison"});
    bench.stop(10s);
    CHECK(link->take_log() == "drain, abandon poison, close");
}

TEST_CASE("set aside: a window full of messages that wait does not keep the others out") {
    ProcessorBench bench{of_entity()};
    bench.scope = ports::Scope::entity;
    bench.handle = fails_with_poison;
    bench.start();
    const auto link = bench.open("");
    REQUIRE(link->credit == 8);
    poison(bench, link, 8);
    CHECK(link->credit == 8); // no place of them is taken
    bench.deliver(link, {"9"});
    CHECK(link->take_log() == "complete 9");
}

TEST_CASE("set aside: retries in place take no place either, and their handlers run again") {
    ProcessorBench bench{
        of_entity(FailurePolicy::dead_letter().after_attempts(2, {.min = 2s, .max = 8s}))};
    bench.scope = ports::Scope::entity;
    bench.handle = fails_with_poison;
    bench.start();
    const auto link = bench.open("");
    poison(bench, link, 8);
    CHECK(link->credit == 8);
    CHECK(link->take_log().empty());
    bench.advance(2001ms);
    CHECK(bench.handled.size() == 16 * 7 - 1);
    CHECK(link->take_log().starts_with("dead-letter"));
}

TEST_CASE("set aside: more than a thousand take places, so that there is an end") {
    ProcessorBench bench{of_entity(FailurePolicy::abandon_after({.min = 1h, .max = 1h}))};
    bench.scope = ports::Scope::entity;
    bench.handle = fails_with_poison;
    bench.start();
    const auto link = bench.open("");
    std::uint32_t sent = 0;
    while (const std::uint32_t credit = link->credit) {
        poison(bench, link, credit);
        sent += credit;
        REQUIRE(sent <= 1008);
    }
    CHECK(sent > 1000);
}

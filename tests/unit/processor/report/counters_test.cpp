// SPDX-License-Identifier: MIT
#include "processor/report/counters.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using detail::processor::Counters;
using detail::processor::Ending;
using ports::Outcome;

TEST_CASE("counters: each way in which a handler ends") {
    Counters counters;
    counters.ended(Ending::handled, 1);
    counters.ended(Ending::handled, 1);
    counters.ended(Ending::failed, 1);
    counters.ended(Ending::handled, 2);
    counters.ended(Ending::failed, 3);
    counters.ended(Ending::not_started, 4); // no attempt
    counters.ended(Ending::given_back, 4);
    counters.ended(Ending::unexamined, 4);
    counters.ended(Ending::expired, 4);
    ProcessorCounters totals;
    counters.add_to(totals);
    CHECK(totals.messages_handled == 3);
    CHECK(totals.messages_failed == 2);
    CHECK(totals.messages_retried == 2);
    CHECK(totals.messages_expired == 1);
}

TEST_CASE("counters: each outcome has its own total, and a rejected one has none") {
    Counters counters;
    std::uint64_t times = 0;
    for (const Outcome outcome : {Outcome::complete, Outcome::abandon, Outcome::release,
                                  Outcome::defer, Outcome::dead_letter}) {
        ++times;
        for (std::uint64_t i = 0; i < times; ++i) {
            counters.settled(outcome, true);
        }
        counters.settled(outcome, false);
    }
    ProcessorCounters totals;
    counters.add_to(totals);
    CHECK(totals.messages_completed == 1);
    CHECK(totals.messages_abandoned == 2);
    CHECK(totals.messages_released == 3);
    CHECK(totals.messages_deferred == 4);
    CHECK(totals.messages_dead_lettered == 5);
    CHECK(totals.settlement_failures == 5);
}

TEST_CASE("counters: messages that came again") {
    Counters counters;
    counters.received(0);
    counters.received(0);
    counters.received(7);
    ProcessorCounters totals;
    counters.add_to(totals);
    CHECK(totals.messages_received == 3);
    CHECK(totals.messages_redelivered == 1);
}

TEST_CASE("counters: shards add up") {
    Counters counters;
    counters.received(0);
    counters.sessions_closed.front().add(2);
    counters.sessions_closed.back().add(3);
    counters.locks_lost.add();
    ProcessorCounters totals;
    counters.add_to(totals);
    counters.add_to(totals);
    CHECK(totals.messages_received == 2);
    CHECK(totals.sessions_closed == 10);
    CHECK(totals.locks_lost == 2);
}

// SPDX-License-Identifier: MIT
#include "broker/queue_context.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

struct Counted {
    explicit Counted(int& run) : ran{run} {}
    void run() { ++ran; }

    int& ran;
    timing::Timer timer{timing::Timer::calling<&Counted::run>(this)};
};

} // namespace

TEST_CASE("queue context: so many timers run in a turn, and the rest is due a little later") {
    broker::Instant at{TimePoint{1h}, {}};
    broker::QueueContext context{at};
    int ran = 0;
    std::deque<Counted> timers;
    for (std::size_t i = 0; i < 2 * broker::timers_a_turn + 1; ++i) {
        context.arm(timers.emplace_back(ran).timer, at.now + 1s);
    }
    at.now += 1s;
    CHECK(context.begin(at));
    CHECK(ran == broker::timers_a_turn);
    CHECK(context.next_due() == at.now + broker::time_between_turns);
    CHECK_FALSE(context.begin(at)); // others have the queue meanwhile
    CHECK(ran == broker::timers_a_turn);
    context.cancel(timers.back().timer); // due, and not run yet
    at.now = context.next_due();
    CHECK(context.begin(at));
    CHECK(ran == 2 * broker::timers_a_turn);
    CHECK(context.next_due() == TimePoint::max());
}

TEST_CASE("queue: thousands of messages that expire together are dead-lettered in turns") {
    QueueFixture f{
        broker::QueueOptions{.default_time_to_live = 1s, .dead_letter_on_expiration = true}};
    constexpr std::size_t messages = 3'000;
    for (std::size_t i = 0; i < messages; ++i) {
        f.send({.body = "m"});
    }
    f.pass_and_advance(1s);
    CHECK(f.count(*f.dead_letters) == broker::timers_a_turn);
    std::size_t turns = 1;
    for (auto due = f.broker.next_wakeup(); due; due = f.broker.next_wakeup()) {
        REQUIRE(*due <= f.at.now + broker::time_between_turns);
        f.pass_and_advance(*due - f.at.now);
        ++turns;
    }
    CHECK(turns == messages / broker::timers_a_turn);
    CHECK(f.count(*f.dead_letters) == messages);
    CHECK(f.count(*f.queue) == 0);
}

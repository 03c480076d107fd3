// SPDX-License-Identifier: MIT
#include "dispatch/dispatcher.hpp"

#include <doctest/doctest.h>

#include <vector>

#include <sessionq/error.hpp>

#include "steps.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

TEST_CASE("dispatcher: R14: lanes are served in the order in which they became ready") {
    Steps steps;
    const LanePtr busy = steps.dispatcher.make_lane(1);
    const LanePtr second = steps.dispatcher.make_lane(1);
    const LanePtr third = steps.dispatcher.make_lane(1);
    steps.push(*busy, {"a1", "a2", "a3"});
    steps.push(*second, {"b1"});
    steps.push(*third, {"c1"});
    CHECK(steps.dispatcher.ready_lanes() == 3);
    CHECK(steps.run_all() == "a1 a2 a3 b1 c1");
}

TEST_CASE("dispatcher: R14: a turn ends after a quantum of calls and the lane goes to the back") {
    Steps steps{{.quantum_calls = 2}};
    const LanePtr busy = steps.dispatcher.make_lane(1);
    const LanePtr other = steps.dispatcher.make_lane(1);
    steps.push(*busy, {"a1", "a2", "a3", "a4", "a5"});
    steps.push(*other, {"b1", "b2", "b3"});
    CHECK(steps.run_all() == "a1 a2 b1 b2 a3 a4 b3 a5");
}

TEST_CASE("dispatcher: R14: a turn ends after a quantum of time") {
    Steps steps{{.quantum_time = 5ms}};
    const LanePtr slow = steps.dispatcher.make_lane(1);
    const LanePtr other = steps.dispatcher.make_lane(1);
    steps.push(*slow, {"a1", "a2", "a3", "a4"});
    steps.push(*other, {"b1", "b2"});
    Dispatcher::Turn turn;
    NamedCall* running = steps.take(turn);
    std::string order = running->name();
    while (running != nullptr) { // calls of the first lane take 3 ms, the others no time
        steps.now += running->name()[0] == 'a' ? 3ms : 0ms;
        running = steps.finish(turn, *running);
        order += running != nullptr ? " " + running->name() : "";
    }
    CHECK(order == "a1 a2 b1 b2 a3 a4");
}

TEST_CASE("dispatcher: R14: with a time quantum of zero each call is a turn") {
    Steps steps{{.quantum_time = 0ms}};
    const LanePtr first = steps.dispatcher.make_lane(1);
    const LanePtr second = steps.dispatcher.make_lane(1);
    steps.push(*first, {"a1", "a2"});
    steps.push(*second, {"b1", "b2"});
    CHECK(steps.run_all() == "a1 b1 a2 b2");
}

TEST_CASE("dispatcher: R14: a lane that becomes ready during a turn comes before the lane whose "
          "turn ends") {
    Steps steps{{.quantum_calls = 1}};
    const LanePtr busy = steps.dispatcher.make_lane(1);
    const LanePtr late = steps.dispatcher.make_lane(1);
    steps.push(*busy, {"a1", "a2"});
    Dispatcher::Turn turn;
    NamedCall* a1 = steps.take(turn);
    steps.push(*late, {"b1"});
    CHECK(name_of(steps.finish(turn, *a1)) == "b1");
}

TEST_CASE("dispatcher: R14: a lane for several calls joins the queue once, behind the lanes ahead "
          "of it") {
    Steps steps{{.quantum_calls = 1}};
    const LanePtr wide = steps.dispatcher.make_lane(3);
    const LanePtr other = steps.dispatcher.make_lane(1);
    steps.push(*wide, {"a1", "a2", "a3"});
    steps.push(*other, {"b1"});
    Dispatcher::Turn turns[4];
    CHECK(name_of(steps.take(turns[0])) == "a1");
    CHECK(steps.dispatcher.ready_lanes() == 2);
    CHECK(name_of(steps.take(turns[1])) == "b1");
    CHECK(name_of(steps.take(turns[2])) == "a2");
    CHECK(name_of(steps.take(turns[3])) == "a3");
    CHECK(steps.dispatcher.ready_lanes() == 0);
}

TEST_CASE("dispatcher: a worker with other work gets back after its turn") {
    Steps steps{{.quantum_calls = 2}};
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a", "b", "c"});
    Dispatcher::Turn turn;
    REQUIRE(name_of(steps.take(turn)) == "a");
    CHECK(steps.finish_in_turn(turn, steps.call("a")) == &steps.call("b"));
    CHECK(steps.finish_in_turn(turn, steps.call("b")) == nullptr);
    CHECK(steps.dispatcher.active_calls() == 0);
    CHECK(steps.dispatcher.ready_lanes() == 1);
    CHECK(steps.run_all() == "c");
}

TEST_CASE("dispatcher: a worker that stops starts nothing and leaves the rest to others") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a", "b"});
    Dispatcher::Turn turn;
    REQUIRE(name_of(steps.take(turn)) == "a");
    steps.finish_last(turn, steps.call("a"));
    CHECK(steps.dispatcher.active_calls() == 0);
    CHECK(steps.run_all() == "b");
}

TEST_CASE("dispatcher: R7: the cap over all lanes counts active calls, including suspended ones") {
    Steps steps{{.max_calls = 2}};
    const LanePtr first = steps.dispatcher.make_lane(1);
    const LanePtr second = steps.dispatcher.make_lane(1);
    const LanePtr third = steps.dispatcher.make_lane(1);
    steps.push(*first, {"a"}, Says::suspended);
    steps.push(*second, {"b"});
    steps.push(*third, {"c", "d"});
    Dispatcher::Turn turns[2];
    NamedCall* a = steps.take(turns[0]);
    NamedCall* b = steps.take(turns[1]);
    CHECK(steps.finish(turns[0], *a) == nullptr);
    CHECK(steps.dispatcher.active_calls() == 2);
    CHECK_FALSE(steps.dispatcher.has_work());
    SUBCASE("a call that ends makes room") { CHECK(name_of(steps.finish(turns[1], *b)) == "c"); }
    SUBCASE("a suspended call that ends makes room") {
        steps.finish_suspended(*first);
        CHECK(steps.dispatcher.has_work());
        CHECK(name_of(steps.take(turns[0])) == "c");
    }
    CHECK(steps.dispatcher.active_calls() == 2);
}

TEST_CASE("dispatcher: R7: the cap can change while calls run") {
    Steps steps{{.max_calls = 1}};
    std::vector<LanePtr> lanes;
    for (const char* name : {"a", "b", "c"}) {
        lanes.push_back(steps.dispatcher.make_lane(1));
        steps.push(*lanes.back(), {name});
    }
    Dispatcher::Turn turns[3];
    NamedCall* a = steps.take(turns[0]);
    CHECK(steps.take(turns[1]) == nullptr);
    steps.dispatcher.set_max_calls(2);
    NamedCall* b = steps.take(turns[1]);
    CHECK(name_of(b) == "b");
    steps.dispatcher.set_max_calls(1);
    CHECK(steps.finish(turns[0], *a) == nullptr);
    CHECK(steps.dispatcher.active_calls() == 1);
    SUBCASE("no cap") {
        steps.dispatcher.set_max_calls(0);
        CHECK(name_of(steps.take(turns[0])) == "c");
    }
    SUBCASE("below it again") { CHECK(name_of(steps.finish(turns[1], *b)) == "c"); }
}

TEST_CASE(
    "dispatcher: R7: a lowered cap also ends turns, so that the number of active calls falls") {
    Steps steps;
    const LanePtr first = steps.dispatcher.make_lane(1);
    const LanePtr second = steps.dispatcher.make_lane(1);
    steps.push(*first, {"a1", "a2"});
    steps.push(*second, {"b1", "b2"});
    Dispatcher::Turn one;
    Dispatcher::Turn two;
    NamedCall* a1 = steps.take(one);
    NamedCall* b1 = steps.take(two);
    REQUIRE(a1 != nullptr);
    REQUIRE(b1 != nullptr);
    steps.dispatcher.set_max_calls(1);
    CHECK(steps.finish(one, *a1) == nullptr);
    NamedCall* next = steps.finish(two, *b1);
    REQUIRE(next != nullptr);
    CHECK(steps.dispatcher.active_calls() == 1);
    CHECK(next->name() == "b2");
    CHECK(steps.finish(two, *next)->name() == "a2");
}

TEST_CASE("dispatcher: a lane that has nothing to start after all does not use up a call") {
    Steps steps{{.max_calls = 1}};
    const LanePtr paused = steps.dispatcher.make_lane(1);
    const LanePtr emptied = steps.dispatcher.make_lane(1);
    const LanePtr last = steps.dispatcher.make_lane(1);
    steps.push(*paused, {"a"});
    steps.push(*emptied, {"b"});
    steps.push(*last, {"c"});
    paused->pause();
    (void)Steps::take_back(*emptied);
    CHECK(steps.run_all() == "c");
    CHECK(steps.dispatcher.active_calls() == 0);
    CHECK(steps.dispatcher.ready_lanes() == 0);
}

TEST_CASE("dispatcher: DG3: wakes as many workers as there is work for, and none without work") {
    std::vector<std::size_t> wakes;
    Steps steps;
    steps.dispatcher.set_wake([&](std::size_t work) { wakes.push_back(work); });
    const auto drain = [&] { return std::exchange(wakes, {}); };
    const LanePtr first = steps.dispatcher.make_lane(1);
    const LanePtr second = steps.dispatcher.make_lane(1);
    SUBCASE("a push wakes no worker, and the flush after a batch wakes them once") {
        steps.push(*first, {"a", "b"});
        steps.push(*second, {"c"});
        CHECK(drain().empty());
        steps.dispatcher.flush();
        CHECK(drain() == std::vector<std::size_t>{2});
    }
    SUBCASE("nothing became ready") {
        steps.dispatcher.flush();
        CHECK(drain().empty());
    }
    SUBCASE("more calls for a running lane") {
        steps.push(*first, {"a"});
        Dispatcher::Turn turn;
        (void)steps.take(turn);
        steps.push(*first, {"b"});
        steps.dispatcher.flush();
        CHECK(drain().empty());
    }
    SUBCASE("a worker that leaves work behind wakes the next") {
        steps.push(*first, {"a"});
        steps.push(*second, {"b"});
        Dispatcher::Turn turns[2];
        (void)steps.take(turns[0]);
        CHECK(drain() == std::vector<std::size_t>{1});
        (void)steps.take(turns[1]);
        CHECK(drain().empty());
    }
    SUBCASE("a lane for several calls that has more") {
        first->set_max_calls(2);
        steps.push(*first, {"a", "b"});
        Dispatcher::Turn turn;
        (void)steps.take(turn);
        CHECK(drain() == std::vector<std::size_t>{1});
    }
    SUBCASE("no more than the cap allows to start") {
        steps.dispatcher.set_max_calls(2);
        const LanePtr third = steps.dispatcher.make_lane(1);
        steps.push(*first, {"a"});
        steps.push(*second, {"b"});
        steps.push(*third, {"c"});
        Dispatcher::Turn turns[2];
        (void)steps.take(turns[0]);
        CHECK(drain() == std::vector<std::size_t>{1});
        (void)steps.take(turns[1]);
        CHECK(drain().empty());
        steps.dispatcher.set_max_calls(3);
        CHECK(drain() == std::vector<std::size_t>{1});
    }
    SUBCASE("resume, release and a higher limit wake workers themselves") {
        first->pause();
        steps.push(*first, {"a"});
        CHECK(steps.run_all() == "");
        (void)drain();
        first->resume();
        CHECK(drain() == std::vector<std::size_t>{1});
        steps.push(*second, {"x"}, Says::hold);
        steps.push(*second, {"y"});
        CHECK(steps.run_all() == "a x");
        (void)drain();
        second->release();
        CHECK(drain() == std::vector<std::size_t>{1});
    }
    SUBCASE("the end of a suspended call") {
        steps.push(*first, {"a"}, Says::suspended);
        steps.push(*first, {"b"});
        CHECK(steps.run_all() == "a");
        (void)drain();
        steps.finish_suspended(*first);
        CHECK(drain() == std::vector<std::size_t>{1});
    }
}

TEST_CASE("dispatcher: bad options are rejected by name") {
    CHECK_THROWS_WITH_AS((Dispatcher{{.quantum_calls = 0}}), "invalid option: quantum_calls is 0",
                         Error);
    CHECK_THROWS_WITH_AS((Dispatcher{{.quantum_time = -1ms}}),
                         "invalid option: quantum_time is negative", Error);
}

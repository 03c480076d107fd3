// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <sessionq/error.hpp>

#include "steps.hpp"

using namespace sessionq;
using namespace sessionq::test;

TEST_CASE("lane: runs its calls in the order of the pushes") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a", "b", "c"});
    CHECK(lane->waiting() == 3);
    CHECK(steps.run_all() == "a b c");
    steps.push(*lane, {"d"});
    CHECK(steps.run_all() == "d");
    CHECK(lane->waiting() == 0);
    CHECK(lane->active() == 0);
}

TEST_CASE(
    "lane: R6: with one call at a time the next starts only after the one before has finished") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a", "b"});
    Dispatcher::Turn first;
    Dispatcher::Turn second;
    NamedCall* a = steps.take(first);
    REQUIRE(name_of(a) == "a");
    CHECK(lane->active() == 1);
    CHECK(steps.take(second) == nullptr);
    steps.push(*lane, {"c"});
    CHECK(steps.take(second) == nullptr);
    CHECK(name_of(steps.finish(first, *a)) == "b");
    CHECK(steps.take(second) == nullptr);
}

TEST_CASE("lane: R7: with k calls at a time k workers run it, and no more") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(2);
    steps.push(*lane, {"a", "b", "c", "d"});
    Dispatcher::Turn turns[3];
    NamedCall* a = steps.take(turns[0]);
    NamedCall* b = steps.take(turns[1]);
    CHECK(name_of(a) == "a");
    CHECK(name_of(b) == "b");
    CHECK(steps.take(turns[2]) == nullptr);
    CHECK(lane->active() == 2);
    CHECK(name_of(steps.finish(turns[1], *b)) == "c");
    CHECK(steps.take(turns[2]) == nullptr);
    CHECK(name_of(steps.finish(turns[0], *a)) == "d");
    CHECK(lane->active() == 2);
}

TEST_CASE("lane: R7: a call pushed while fewer than k calls run is ready for another worker") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(2);
    steps.push(*lane, {"a"});
    Dispatcher::Turn turns[2];
    REQUIRE(name_of(steps.take(turns[0])) == "a");
    CHECK(steps.take(turns[1]) == nullptr);
    steps.push(*lane, {"b", "c"});
    CHECK(name_of(steps.take(turns[1])) == "b");
}

TEST_CASE("lane: a hold stops the lane until it is released") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a"}, Says::hold);
    steps.push(*lane, {"b", "c"});
    CHECK(steps.run_all() == "a");
    CHECK(lane->active() == 0);
    CHECK(lane->waiting() == 2);
    steps.push(*lane, {"d"});
    CHECK(steps.run_all() == "");
    lane->release();
    CHECK(steps.run_all() == "b c d");
}

TEST_CASE("lane: a call put back at the front is retried before the calls behind it") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a"}, Says::hold);
    steps.push(*lane, {"b"});
    REQUIRE(steps.run_all() == "a");
    steps.push(*lane, {"c"});
    steps.call("a").say(Says::proceed);
    lane->put_back(steps.call("a"));
    CHECK(lane->waiting() == 3);
    CHECK(steps.run_all() == "");
    lane->release();
    CHECK(steps.run_all() == "a b c");
    CHECK(steps.call("a").runs() == 2);
}

TEST_CASE("lane: calls that are put back take their places, whichever comes first") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a", "b", "c", "d", "e"});
    lane->pause();
    REQUIRE(Steps::take_back(*lane) == "a b c d e");
    steps.push(*lane, {"f"});
    for (const char* name : {"b", "e", "a", "d", "c"}) {
        lane->put_back(steps.call(name));
    }
    lane->resume();
    CHECK(steps.run_all() == "a b c d e f");
}

TEST_CASE("lane: in order, a call is taken once the one before it has started") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(3, true);
    steps.push(*lane, {"a", "b", "c"});
    Dispatcher::Turn turns[2];
    NamedCall* a = steps.take(turns[0]);
    REQUIRE(name_of(a) == "a");
    CHECK(steps.take(turns[1]) == nullptr);
    SUBCASE("it starts") {
        CHECK(steps.dispatcher.begin(*lane, *a));
        NamedCall* b = steps.take(turns[1]);
        CHECK(name_of(b) == "b");
        CHECK(steps.dispatcher.begin(*lane, *b));
    }
    SUBCASE("the lane was paused meanwhile") {
        lane->pause();
        CHECK_FALSE(steps.dispatcher.begin(*lane, *a));
        lane->resume();
        CHECK(steps.take(turns[1]) == nullptr);
        lane->hold(1);
        steps.dispatcher.skip(*lane, *a);
        CHECK(steps.take(turns[1]) == nullptr); // on hold
        lane->put_back(*a);
        lane->release();
        CHECK(name_of(steps.finish(turns[0], *a)) == "a");
    }
    SUBCASE("it does not start, and holds the lane") {
        lane->hold(1);
        steps.dispatcher.skip(*lane, *a);
        CHECK(steps.take(turns[1]) == nullptr);
        lane->release();
        CHECK(name_of(steps.take(turns[1])) == "b");
    }
}

TEST_CASE("lane: in order, a call alone needs not tell that it starts") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1, true);
    steps.push(*lane, {"a", "b"});
    CHECK(steps.run_all() == "a b");
}

TEST_CASE("lane: a call put back into an empty lane runs") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    SUBCASE("on hold") {
        steps.push(*lane, {"a"}, Says::hold);
        REQUIRE(steps.run_all() == "a");
        steps.call("a").say(Says::proceed);
        lane->put_back(steps.call("a"));
        lane->release();
    }
    SUBCASE("paused") {
        steps.push(*lane, {"a"});
        REQUIRE(steps.run_all() == "a");
        lane->pause();
        lane->put_back(steps.call("a"));
        lane->resume();
    }
    SUBCASE("paused, with calls pushed behind it") {
        steps.push(*lane, {"a"});
        REQUIRE(steps.run_all() == "a");
        lane->pause();
        lane->put_back(steps.call("a"));
        steps.push(*lane, {"b"});
        lane->resume();
        CHECK(steps.run_all() == "a b");
        return;
    }
    CHECK(steps.run_all() == "a");
}

TEST_CASE("lane: a release that comes before the report of the end still ends the hold") {
    // The home thread learns of the failure from the call itself, possibly before the worker tells
    // the dispatcher.
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a"}, Says::hold);
    steps.push(*lane, {"b"});
    Dispatcher::Turn turn;
    NamedCall* a = steps.take(turn);
    const Verdict verdict = a->run();
    a->say(Says::proceed);
    lane->put_back(*a);
    lane->release();
    Dispatcher::Turn other;
    CHECK(steps.take(other) == nullptr);
    NamedCall* next = steps.finish(turn, *a, verdict);
    CHECK(next == a);
    CHECK(name_of(steps.finish(turn, *a)) == "b");
}

TEST_CASE("lane: resuming does not end a hold, and releasing does not end a pause") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a"}, Says::hold);
    steps.push(*lane, {"b"});
    Dispatcher::Turn turn;
    NamedCall* a = steps.take(turn);
    lane->pause();
    CHECK(steps.finish(turn, *a) == nullptr);
    SUBCASE("resume first") { lane->resume(); }
    SUBCASE("release first") { lane->release(); }
    CHECK(steps.run_all() == "");
    lane->resume();
    SUBCASE("then the release") {
        lane->release();
        CHECK(steps.run_all() == "b");
    }
}

TEST_CASE("lane: two held calls need two releases") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(2);
    steps.push(*lane, {"a", "b"}, Says::hold);
    steps.push(*lane, {"c"});
    Dispatcher::Turn turns[2];
    NamedCall* a = steps.take(turns[0]);
    NamedCall* b = steps.take(turns[1]);
    CHECK(steps.finish(turns[0], *a) == nullptr);
    CHECK(steps.finish(turns[1], *b) == nullptr);
    lane->release();
    CHECK(steps.run_all() == "");
    lane->release();
    CHECK(steps.run_all() == "c");
}

TEST_CASE("lane: no call starts while paused, and active calls continue") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    SUBCASE("idle") {
        lane->pause();
        steps.push(*lane, {"a", "b"});
        CHECK(steps.run_all() == "");
        lane->resume();
        CHECK(steps.run_all() == "a b");
    }
    SUBCASE("ready") {
        steps.push(*lane, {"a", "b"});
        lane->pause();
        CHECK(steps.run_all() == "");
        lane->pause();
        lane->resume();
        CHECK(steps.run_all() == "a b");
    }
    SUBCASE("ready, and resumed before a worker came") {
        steps.push(*lane, {"a", "b"});
        lane->pause();
        lane->resume();
        CHECK(steps.dispatcher.ready_lanes() == 1);
        CHECK(steps.run_all() == "a b");
    }
    SUBCASE("running") {
        steps.push(*lane, {"a", "b"});
        Dispatcher::Turn turn;
        NamedCall* a = steps.take(turn);
        lane->pause();
        CHECK(lane->active() == 1);
        CHECK(steps.finish(turn, *a) == nullptr);
        CHECK(lane->active() == 0);
        CHECK(lane->waiting() == 1);
        lane->resume();
        CHECK(steps.run_all() == "b");
    }
    SUBCASE("running, and resumed before the call ended") {
        steps.push(*lane, {"a", "b"});
        Dispatcher::Turn turn;
        NamedCall* a = steps.take(turn);
        lane->pause();
        lane->resume();
        CHECK(steps.dispatcher.ready_lanes() == 0);
        CHECK(name_of(steps.finish(turn, *a)) == "b");
    }
}

TEST_CASE("lane: take_back returns waiting calls in order") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    CHECK(Steps::take_back(*lane) == "");
    SUBCASE("ready") {
        steps.push(*lane, {"a", "b", "c"});
        CHECK(Steps::take_back(*lane) == "a b c");
        CHECK(steps.run_all() == "");
    }
    SUBCASE("paused") {
        lane->pause();
        steps.push(*lane, {"a", "b"});
        CHECK(Steps::take_back(*lane) == "a b");
        lane->resume();
        CHECK(steps.run_all() == "");
    }
    SUBCASE("running") {
        steps.push(*lane, {"a", "b", "c"});
        Dispatcher::Turn turn;
        NamedCall* a = steps.take(turn);
        steps.push(*lane, {"d"});
        CHECK(Steps::take_back(*lane) == "b c d");
        CHECK(lane->active() == 1);
        CHECK(steps.finish(turn, *a) == nullptr);
    }
    SUBCASE("on hold") {
        steps.push(*lane, {"a"}, Says::hold);
        steps.push(*lane, {"b", "c"});
        CHECK(steps.run_all() == "a");
        CHECK(Steps::take_back(*lane) == "b c");
        lane->release();
        CHECK(steps.run_all() == "");
    }
    CHECK(lane->waiting() == 0);
    steps.push(*lane, {"later"});
    CHECK(steps.run_all() == "later");
}

TEST_CASE("lane: R7: the limit can change while the lane runs") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a", "b", "c", "d", "e"});
    Dispatcher::Turn turns[3];
    NamedCall* a = steps.take(turns[0]);
    CHECK(steps.take(turns[1]) == nullptr);
    lane->set_max_calls(2);
    NamedCall* b = steps.take(turns[1]);
    CHECK(name_of(b) == "b");
    CHECK(steps.take(turns[2]) == nullptr);
    lane->set_max_calls(1);
    CHECK(steps.finish(turns[0], *a) == nullptr);
    CHECK(lane->active() == 1);
    CHECK(name_of(steps.finish(turns[1], *b)) == "c");
    CHECK(steps.take(turns[0]) == nullptr);
}

TEST_CASE("lane: a limit of zero is rejected") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    CHECK_THROWS_AS(lane->set_max_calls(0), Error);
    CHECK_THROWS_AS((void)steps.dispatcher.make_lane(0), Error);
    steps.push(*lane, {"a"});
    CHECK(steps.run_all() == "a");
}

TEST_CASE("lane: a suspended call keeps its place and leaves the worker free") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    const LanePtr other = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a"}, Says::suspended);
    steps.push(*lane, {"b"});
    steps.push(*other, {"x"});
    CHECK(steps.run_all() == "a x");
    CHECK(lane->active() == 1);
    SUBCASE("it ends well") {
        steps.finish_suspended(*lane);
        CHECK(steps.run_all() == "b");
    }
    SUBCASE("it ends with a hold") {
        lane->hold(1);
        steps.finish_suspended(*lane);
        CHECK(steps.run_all() == "");
        lane->release();
        CHECK(steps.run_all() == "b");
    }
    CHECK(lane->active() == 0);
}

TEST_CASE("lane: a suspended call may end before its worker has reported the suspension") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a"}, Says::suspended);
    steps.push(*lane, {"b"});
    Dispatcher::Turn turn;
    NamedCall* a = steps.take(turn);
    steps.finish_suspended(*lane);
    Dispatcher::Turn other;
    CHECK(name_of(steps.take(other)) == "b");
    CHECK(steps.finish(turn, *a) == nullptr);
    CHECK(lane->active() == 1);
    CHECK(steps.dispatcher.active_calls() == 1);
}

// AddressSanitizer finds leaks and uses after the end.
TEST_CASE("lane: may be given up in any state") {
    Steps steps;
    LanePtr lane = steps.dispatcher.make_lane(1);
    const LanePtr other = steps.dispatcher.make_lane(1);
    SUBCASE("idle") { lane.reset(); }
    SUBCASE("ready") {
        steps.push(*lane, {"a"});
        lane.reset();
    }
    SUBCASE("ready, and no worker ever comes") {
        steps.push(*lane, {"a"});
        lane.reset();
        return;
    }
    SUBCASE("running") {
        steps.push(*lane, {"a", "b"});
        Dispatcher::Turn turn;
        NamedCall* a = steps.take(turn);
        lane.reset();
        CHECK(steps.finish(turn, *a) == nullptr);
    }
    SUBCASE("running twice, with more waiting") {
        lane->set_max_calls(3);
        steps.push(*lane, {"a", "b", "c", "d"});
        Dispatcher::Turn turns[2];
        NamedCall* a = steps.take(turns[0]);
        NamedCall* b = steps.take(turns[1]);
        lane.reset();
        CHECK(steps.finish(turns[1], *b) == nullptr);
        CHECK(steps.finish(turns[0], *a) == nullptr);
    }
    SUBCASE("suspended") {
        steps.push(*lane, {"a", "b"}, Says::suspended);
        CHECK(steps.run_all() == "a");
        Lane& raw = *lane;
        lane.reset();
        steps.finish_suspended(raw);
    }
    steps.push(*other, {"x"});
    CHECK(steps.run_all() == "x");
    CHECK(steps.dispatcher.active_calls() == 0);
    CHECK(steps.dispatcher.ready_lanes() == 0);
}

TEST_CASE("lane: outlives the dispatcher that made it") {
    LanePtr lane = Dispatcher{}.make_lane(1);
    NamedCall call{"a"};
    lane->push(call);
    CHECK(Steps::take_back(*lane) == "a");
}

namespace {

/// Takes at most `most` calls for a call that runs.
std::string take_more(Lane& lane, std::size_t most, std::string_view but = "none") {
    std::string names;
    lane.take_more([&](Call& call) {
        const std::string& name = static_cast<NamedCall&>(call).name();
        if (most-- == 0 || name == but) {
            return false;
        }
        names.append(names.empty() ? "" : " ").append(name);
        return true;
    });
    return names;
}

} // namespace

TEST_CASE("lane: a call that runs takes others, in order, and counts as one") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a", "b", "c", "d", "e"});
    Dispatcher::Turn turn;
    NamedCall* a = steps.take(turn);
    CHECK(take_more(*lane, 2) == "b c");
    CHECK(lane->active() == 1);
    CHECK(lane->waiting() == 2);
    steps.push(*lane, {"f"});
    CHECK(take_more(*lane, 9, "f") == "d e");
    CHECK(name_of(steps.finish(turn, *a)) == "f");
    CHECK(take_more(*lane, 9).empty());
}

TEST_CASE("lane: a call that runs takes none while the lane is paused or on hold") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(2);
    steps.push(*lane, {"a", "b", "c"});
    steps.call("b").say(Says::hold);
    Dispatcher::Turn turns[2];
    NamedCall* a = steps.take(turns[0]);
    SUBCASE("paused") {
        lane->pause();
        CHECK(take_more(*lane, 9).empty());
        lane->resume();
        CHECK(take_more(*lane, 9) == "b c");
    }
    SUBCASE("on hold") {
        NamedCall* b = steps.take(turns[1]);
        CHECK(steps.finish(turns[1], *b) == nullptr);
        CHECK(take_more(*lane, 9).empty());
        lane->release();
        CHECK(take_more(*lane, 9) == "c");
    }
    CHECK(steps.finish(turns[0], *a) == nullptr);
}

TEST_CASE("lane: each hold that a call adds needs a release, also before its end is reported") {
    Steps steps;
    const LanePtr lane = steps.dispatcher.make_lane(1);
    steps.push(*lane, {"a"}, Says::hold);
    steps.push(*lane, {"b"});
    Dispatcher::Turn turn;
    NamedCall* a = steps.take(turn);
    lane->hold(2);
    lane->release();
    CHECK(steps.finish(turn, *a) == nullptr);
    CHECK(steps.run_all().empty());
    lane->release();
    CHECK(steps.run_all().empty());
    lane->release();
    CHECK(steps.run_all() == "b");
}

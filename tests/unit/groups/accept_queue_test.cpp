#include "groups/accept_queue.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::groups;
using namespace std::chrono_literals;

namespace {

struct Bench final : AcceptQueue::Owner {
    test::ManualLoop loop{};
    core::ReplyQueue replies{loop};
    int ended{0};
    std::vector<std::string> answers{};
    AcceptQueue queue{loop, replies, {.code = Errc::no_session_available, .detail = "none"}, *this};

    void on_accept_ended() override { ++ended; }
    ports::AcceptHandler noting(std::string name) {
        return [this, name = std::move(name)](const core::Result<ports::SessionLinkPtr>& result) {
            answers.push_back(name + (result.ok()
                                          ? ": given"
                                          : ": " + std::string{to_string(result.failure().code)}));
        };
    }
    std::vector<std::string> told() {
        loop.run_until_idle();
        return std::exchange(answers, {});
    }
    Deadline in(Duration length) { return Deadline::after(length, loop.now()); }
};

using Told = std::vector<std::string>;

} // namespace

TEST_CASE("accept queue: the accept that has waited longest is answered first, by a later turn") {
    Bench bench;
    bench.queue.add(1, 1s, {}, bench.noting("a"));
    bench.queue.add(2, std::nullopt, {}, bench.noting("b"));
    bench.queue.answer_first(nullptr);
    CHECK(bench.answers.empty());
    CHECK(bench.told() == Told{"a: given"});
    bench.queue.answer_first(nullptr);
    CHECK(bench.told() == Told{"b: given"});
    CHECK(bench.queue.empty());
    bench.loop.advance(1h);
    CHECK(bench.told().empty()); // once
    CHECK(bench.ended == 0);
}

TEST_CASE("accept queue: each accept waits its own time, and without one for as long as it takes") {
    Bench bench;
    bench.queue.add(1, 2s, {}, bench.noting("a"));
    bench.queue.add(2, 1s, {}, bench.noting("b"));
    bench.queue.add(3, std::nullopt, {}, bench.noting("c"));
    bench.loop.advance(1s);
    CHECK(bench.told() == Told{"b: no_session_available"});
    bench.loop.advance(1h);
    CHECK(bench.told() == Told{"a: no_session_available"});
    CHECK(bench.ended == 2);
    CHECK_FALSE(bench.queue.empty());
    bench.queue.fail_all({.code = Errc::connection_lost, .detail = "lost"});
    CHECK(bench.told() == Told{"c: connection_lost"});
}

TEST_CASE("accept queue: a deadline ends every kind of accept with a timeout") {
    Bench bench;
    bench.queue.add(1, 10s, bench.in(1s), bench.noting("a"));
    bench.queue.add(2, std::nullopt, bench.in(2s), bench.noting("b"));
    bench.queue.add_probe(3, bench.in(3s), bench.noting("c"));
    bench.queue.add(4, 3s, bench.in(10s), bench.noting("d"));
    bench.loop.advance(5s);
    CHECK(bench.told() ==
          Told{"a: timeout", "b: timeout", "c: timeout", "d: no_session_available"});
    CHECK(bench.ended == 4);
}

TEST_CASE("accept queue: a probe answers the accepts that were there when it began") {
    Bench bench;
    bench.queue.add_probe(1, {}, bench.noting("a"));
    bench.queue.add(2, std::nullopt, {}, bench.noting("b"));
    CHECK(bench.queue.has_probes());
    bench.queue.begin_probe();
    bench.queue.add_probe(3, {}, bench.noting("c")); // too late for this one
    bench.queue.end_probe();
    CHECK(bench.told() == Told{"a: no_session_available"});
    bench.queue.begin_probe();
    bench.queue.end_probe();
    CHECK(bench.told() == Told{"c: no_session_available"});
    CHECK_FALSE(bench.queue.has_probes());
    CHECK_FALSE(bench.queue.empty());
}

TEST_CASE("accept queue: an accept that is given up is cancelled, once") {
    Bench bench;
    bench.queue.add(1, 1s, {}, bench.noting("a"));
    bench.queue.add(2, 1s, {}, bench.noting("b"));
    bench.queue.give_up(1);
    bench.queue.give_up(1);
    bench.queue.give_up(7);
    CHECK(bench.told() == Told{"a: cancelled"});
    CHECK(bench.ended == 1);
    bench.loop.advance(1h);
    CHECK(bench.told() == Told{"b: no_session_available"});
}

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "groups/waiters.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::groups;
using namespace std::chrono_literals;

namespace {

struct Bench {
    test::ManualLoop loop{};
    int expired{0};
    std::vector<std::string> answers{};
    Waiters waiters{
        loop, {.code = Errc::no_session_available, .detail = "none"}, [this] { ++expired; }};

    Waiters::Answer noting(std::string name) {
        return [this,
                name = std::move(name)](const core::Result<std::shared_ptr<GroupSession>>& result) {
            answers.push_back(name + (result.ok() ? ": given" : ": " + result.failure().detail));
        };
    }
    std::vector<std::string> told() {
        loop.run_until_idle();
        return std::exchange(answers, {});
    }
};

using Told = std::vector<std::string>;

} // namespace

TEST_CASE("waiters: who waits longest is answered first, by a later turn") {
    Bench bench;
    bench.waiters.add(1, 1s, bench.noting("a"));
    bench.waiters.add(2, std::nullopt, bench.noting("b"));
    bench.waiters.answer_first(std::shared_ptr<GroupSession>{});
    CHECK(bench.answers.empty());
    CHECK(bench.told() == Told{"a: given"});
    bench.waiters.answer_first(std::shared_ptr<GroupSession>{});
    CHECK(bench.told() == Told{"b: given"});
    CHECK(bench.waiters.empty());
    bench.loop.advance(1h);
    CHECK(bench.told().empty()); // once
    CHECK(bench.expired == 0);
}

TEST_CASE("waiters: each waits its own time, and without one for as long as it takes") {
    Bench bench;
    bench.waiters.add(1, 2s, bench.noting("a"));
    bench.waiters.add(2, 1s, bench.noting("b"));
    bench.waiters.add(3, std::nullopt, bench.noting("c"));
    bench.loop.advance(1s);
    CHECK(bench.told() == Told{"b: none"});
    bench.loop.advance(1h);
    CHECK(bench.told() == Told{"a: none"});
    CHECK(bench.expired == 2);
    CHECK_FALSE(bench.waiters.empty());
    bench.waiters.answer_all({.code = Errc::connection_lost, .detail = "lost"});
    CHECK(bench.told() == Told{"c: lost"});
}

TEST_CASE("waiters: a probe is answered by what was asked after it came") {
    Bench bench;
    bench.waiters.add_probe(1, bench.noting("a"));
    bench.waiters.add(2, std::nullopt, bench.noting("b"));
    CHECK(bench.waiters.has_probes());
    bench.waiters.begin_probe();
    bench.waiters.add_probe(3, bench.noting("c")); // too late for this one
    bench.waiters.end_probe();
    CHECK(bench.told() == Told{"a: none"});
    bench.waiters.begin_probe();
    bench.waiters.end_probe();
    CHECK(bench.told() == Told{"c: none"});
    CHECK_FALSE(bench.waiters.has_probes());
    CHECK_FALSE(bench.waiters.empty());
}

TEST_CASE("waiters: who is taken off is not told") {
    Bench bench;
    bench.waiters.add(1, 1s, bench.noting("a"));
    bench.waiters.add(2, 1s, bench.noting("b"));
    CHECK(bench.waiters.cancel(1));
    CHECK_FALSE(bench.waiters.cancel(1));
    bench.waiters.clear();
    bench.loop.advance(1h);
    CHECK(bench.told().empty());
    CHECK(bench.expired == 0);
}

// SPDX-License-Identifier: MIT
#include "groups/accept_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::groups;
using namespace std::chrono_literals;

namespace {

struct Bench {
    test::ManualLoop loop{};
    int ended{0};
    std::vector<std::string> answers{};
    ports::AcceptBook book{loop};
    AcceptQueue queue{
        book, {.code = Errc::no_session_available, .detail = "none"}, [this] { ++ended; }};

    void begin(ports::RequestId id, const std::string& name, Deadline deadline = {}) {
        book.add(id, deadline, [this, name](const core::Result<ports::SessionLinkPtr>& result) {
            answers.push_back(name + (result.ok()
                                          ? ": given"
                                          : ": " + std::string{to_string(result.failure().code)}));
        });
    }
    void advance(Duration length) {
        const TimePoint end = loop.now() + length;
        while (loop.now() < end) {
            const TimePoint next = std::min(book.expire(loop.now()).time(), end);
            loop.advance(next - loop.now());
            static_cast<void>(book.expire(loop.now()));
            loop.run_until_idle();
        }
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
    bench.begin(1, "a");
    bench.queue.add(1, bench.in(1s));
    bench.begin(2, "b");
    bench.queue.add(2);
    bench.queue.answer_first(nullptr);
    CHECK(bench.answers.empty());
    CHECK(bench.told() == Told{"a: given"});
    bench.queue.answer_first(nullptr);
    CHECK(bench.told() == Told{"b: given"});
    CHECK(bench.queue.empty());
    bench.advance(1h);
    CHECK(bench.told().empty()); // once
    CHECK(bench.ended == 0);
}

TEST_CASE("accept queue: each accept waits its own time, and without one for as long as it takes") {
    Bench bench;
    bench.begin(1, "a");
    bench.queue.add(1, bench.in(2s));
    bench.begin(2, "b");
    bench.queue.add(2, bench.in(1s));
    bench.begin(3, "c");
    bench.queue.add(3);
    bench.advance(1s);
    CHECK(bench.told() == Told{"b: no_session_available"});
    bench.advance(1h);
    CHECK(bench.told() == Told{"a: no_session_available"});
    CHECK(bench.ended == 2);
    CHECK_FALSE(bench.queue.empty());
    bench.queue.fail_all({.code = Errc::connection_lost, .detail = "lost"});
    CHECK(bench.told() == Told{"c: connection_lost"});
    CHECK(bench.ended == 2);
}

TEST_CASE("accept queue: a deadline ends every kind of accept with a timeout") {
    Bench bench;
    bench.begin(1, "a", bench.in(1s));
    bench.queue.add(1, bench.in(10s));
    bench.begin(2, "b", bench.in(2s));
    bench.queue.add(2);
    bench.begin(3, "c", bench.in(3s));
    bench.queue.add_probe(3);
    bench.begin(4, "d", bench.in(10s));
    bench.queue.add(4, bench.in(3s));
    bench.begin(5, "e", bench.in(4s)); // both at once
    bench.queue.add(5, bench.in(4s));
    bench.advance(5s);
    CHECK(bench.told() ==
          Told{"a: timeout", "b: timeout", "c: timeout", "d: no_session_available", "e: timeout"});
    CHECK(bench.ended == 5);
    CHECK(bench.queue.empty());
}

TEST_CASE("accept queue: a probe answers the accepts that were there when it began") {
    Bench bench;
    bench.begin(1, "a");
    bench.queue.add_probe(1);
    bench.begin(2, "b");
    bench.queue.add(2);
    CHECK(bench.queue.has_probes());
    bench.queue.begin_probe();
    bench.begin(3, "c");
    bench.queue.add_probe(3); // too late for this one
    bench.queue.end_probe();
    CHECK(bench.told() == Told{"a: no_session_available"});
    bench.queue.begin_probe();
    bench.queue.end_probe();
    CHECK(bench.told() == Told{"c: no_session_available"});
    CHECK_FALSE(bench.queue.has_probes());
    CHECK_FALSE(bench.queue.empty());
}

TEST_CASE("accept queue: an accept that is given up is cancelled, once, and waits no more") {
    Bench bench;
    bench.begin(1, "a");
    bench.queue.add(1, bench.in(1s));
    bench.begin(2, "b");
    bench.queue.add(2, bench.in(1s));
    bench.book.give_up(1);
    bench.book.give_up(1);
    bench.book.give_up(7);
    CHECK(bench.told() == Told{"a: cancelled"});
    CHECK(bench.ended == 1);
    bench.queue.answer_first(nullptr);
    CHECK(bench.told() == Told{"b: given"});
    CHECK(bench.queue.empty());
    CHECK(bench.ended == 1);
}

TEST_CASE("accept queue: accepts outlive it, and the book answers them") {
    Bench bench;
    {
        AcceptQueue queue{bench.book, {}, [&] { ++bench.ended; }};
        bench.begin(1, "a");
        queue.add(1);
    }
    bench.book.close();
    CHECK(bench.told() == Told{"a: cancelled"});
    CHECK(bench.ended == 0);
}

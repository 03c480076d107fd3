// SPDX-License-Identifier: MIT
#include "amqp/connection_keeper.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "support/phase_table.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using amqp::ConnectionKeeper;
using Phase = ConnectionKeeper::Phase;
using Kind = ConnectionKeeper::Step::Kind;

namespace {

constexpr TimePoint start{1000s};
constexpr BackoffOptions backoff{.min = 100ms, .max = 1s};

struct Bench {
    explicit Bench(std::size_t hosts = 1)
        : keeper{{.hosts = hosts, .backoff = backoff, .seed = 1}} {}

    ConnectionKeeper::WaitId add() {
        return keeper.add([](const core::Result<amqp::Engine*>&) {});
    }
    /// Connects as soon as it may; the time moves there.
    void connect() {
        static_cast<void>(add());
        ConnectionKeeper::Step step = keeper.next(now);
        if (step.kind == Kind::wait) {
            now = step.when;
            step = keeper.next(now);
        }
        REQUIRE(step.kind == Kind::connect);
    }
    void open() {
        connect();
        REQUIRE(keeper.opened(now).size() == 1);
    }
    void bring_to(Phase phase) {
        switch (phase) {
        case Phase::disconnected: break;
        case Phase::connecting: connect(); break;
        case Phase::open: open(); break;
        case Phase::closed: REQUIRE(keeper.close().empty()); break;
        }
        REQUIRE(keeper.phase() == phase);
    }

    ConnectionKeeper keeper;
    TimePoint now{start};
};

} // namespace

TEST_CASE("connection keeper: every input in every phase") {
    enum Input : std::size_t { add, give_up, next, opened, failed, lost, close };
    test::PhaseTable table{"connection keeper",
                           {"disconnected", "connecting", "open", "closed"},
                           {"add", "give_up", "next", "opened", "failed", "lost", "close"}};
    // With one handler that waits: the phase after the input, and how many handlers it returned.
    struct Row {
        Phase before;
        Input input;
        Phase after;
        std::size_t told;
    };
    using enum Phase;
    const std::vector<Row> rows{
        {disconnected, add, disconnected, 0},
        {disconnected, give_up, disconnected, 0},
        {disconnected, next, connecting, 0},
        {disconnected, opened, disconnected, 0},
        {disconnected, failed, disconnected, 0},
        {disconnected, lost, disconnected, 0},
        {disconnected, close, closed, 1},
        {connecting, add, connecting, 0},
        {connecting, give_up, connecting, 0},
        {connecting, next, connecting, 0},
        {connecting, opened, open, 2},
        {connecting, failed, disconnected, 2},
        {connecting, lost, connecting, 0},
        {connecting, close, closed, 2},
        {open, add, open, 0},
        {open, give_up, open, 0},
        {open, next, open, 0},
        {open, opened, open, 0},
        {open, failed, open, 0},
        {open, lost, disconnected, 0},
        {open, close, closed, 1},
        {closed, add, closed, 0},
        {closed, give_up, closed, 0},
        {closed, next, closed, 0},
        {closed, opened, closed, 0},
        {closed, failed, closed, 0},
        {closed, lost, closed, 0},
        {closed, close, closed, 1},
    };
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.before));
        CAPTURE(static_cast<int>(row.input));
        Bench bench;
        bench.bring_to(row.before);
        const auto id = bench.add();
        std::size_t told = 0;
        switch (row.input) {
        case add: static_cast<void>(bench.add()); break;
        case give_up: bench.keeper.give_up(id); break;
        case next: static_cast<void>(bench.keeper.next(bench.now)); break;
        case opened: told = bench.keeper.opened(bench.now).size(); break;
        case failed: told = bench.keeper.failed(bench.now).size(); break;
        case lost: bench.keeper.lost(bench.now); break;
        case close: told = bench.keeper.close().size(); break;
        }
        CHECK(bench.keeper.phase() == row.after);
        CHECK(told == row.told);
        table.reached(static_cast<std::size_t>(row.before), row.input);
    }
    table.check();
}

TEST_CASE("connection keeper: nothing is connected while nobody waits") {
    Bench bench;
    CHECK(bench.keeper.next(start).kind == Kind::none);
    const auto id = bench.add();
    bench.keeper.give_up(id);
    CHECK(bench.keeper.next(start).kind == Kind::none);
    bench.open();
    bench.keeper.lost(start + 1h);
    CHECK(bench.keeper.next(start + 2h).kind == Kind::none);
}

TEST_CASE("connection keeper: handlers are told in the order in which they came") {
    Bench bench;
    std::string told;
    for (const char name : {'a', 'b', 'c'}) {
        static_cast<void>(
            bench.keeper.add([&told, name](const core::Result<amqp::Engine*>&) { told += name; }));
    }
    bench.connect();
    for (const auto& handler : bench.keeper.opened(start)) {
        handler(nullptr);
    }
    CHECK(told == "abc");
}

TEST_CASE("connection keeper: hosts are tried in order, without a wait within a round") {
    Bench bench{3};
    static_cast<void>(bench.add());
    for (const std::size_t host : {0U, 1U, 2U}) {
        const auto step = bench.keeper.next(start);
        REQUIRE(step.kind == Kind::connect);
        CHECK(step.host == host);
        CHECK(bench.keeper.failed(start).size() == (host == 2 ? 1 : 0));
    }
    static_cast<void>(bench.add());
    CHECK(bench.keeper.next(start).kind == Kind::wait);
}

TEST_CASE("connection keeper: R17: rounds that fail are spaced more and more, up to a limit") {
    Bench bench{2};
    Duration expected = backoff.min;
    for (int round = 0; round < 8; ++round) {
        bench.connect();
        CHECK(bench.keeper.failed(bench.now).empty());
        CHECK(bench.keeper.next(bench.now).host == 1);
        CHECK_FALSE(bench.keeper.failed(bench.now).empty());
        static_cast<void>(bench.add());
        const Duration wait = bench.keeper.next(bench.now).when - bench.now;
        CHECK(wait >= expected / 2);
        CHECK(wait <= expected);
        expected = std::min<Duration>(expected * 2, backoff.max);
    }
}

TEST_CASE(
    "connection keeper: a connection that lasted is made again from the first host, after the "
    "shortest wait") {
    Bench bench{2};
    for (int round = 0; round < 3; ++round) {
        bench.connect();
        static_cast<void>(bench.keeper.failed(bench.now));
        static_cast<void>(bench.keeper.next(bench.now));
        static_cast<void>(bench.keeper.failed(bench.now));
    }
    bench.connect();
    static_cast<void>(bench.keeper.failed(bench.now));
    CHECK(bench.keeper.next(bench.now).host == 1);
    static_cast<void>(bench.keeper.opened(bench.now));
    bench.now += 1s;
    bench.keeper.lost(bench.now);
    static_cast<void>(bench.add());
    const auto step = bench.keeper.next(bench.now);
    REQUIRE(step.kind == Kind::wait);
    CHECK(step.when - bench.now >= backoff.min / 2);
    CHECK(step.when - bench.now <= backoff.min);
    CHECK(bench.keeper.next(step.when).host == 0);
}

TEST_CASE("connection keeper: R17: connections that do not last are spaced like refusals") {
    Bench bench;
    Duration wait{};
    for (int i = 0; i < 6; ++i) {
        bench.connect();
        static_cast<void>(bench.keeper.opened(bench.now));
        bench.now += backoff.min * 10 - 1ns;
        bench.keeper.lost(bench.now);
        static_cast<void>(bench.add());
        wait = bench.keeper.next(bench.now).when - bench.now;
        CHECK(wait >= backoff.min / 2);
    }
    CHECK(wait >= backoff.max / 2);
    CHECK(wait <= backoff.max);
}

TEST_CASE("connection keeper: it is down from the first attempt or the loss on, until it is open") {
    Bench bench;
    CHECK_FALSE(bench.keeper.down_since());
    bench.connect();
    CHECK(bench.keeper.down_since() == start);
    static_cast<void>(bench.keeper.failed(start + 1s));
    CHECK(bench.keeper.down_since() == start);
    bench.now = start + 10s;
    bench.open();
    CHECK_FALSE(bench.keeper.down_since());
    bench.keeper.lost(start + 20s);
    CHECK(bench.keeper.down_since() == start + 20s);
    bench.now = start + 30s;
    bench.connect();
    CHECK(bench.keeper.down_since() == start + 20s);
}

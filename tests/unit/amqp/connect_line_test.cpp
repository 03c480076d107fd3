// SPDX-License-Identifier: MIT
#include "amqp/connect_line.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "support/manual_loop.hpp"

using namespace sessionq;
using amqp::ConnectLine;

namespace {

struct Newcomer final : ConnectLine::Guest {
    void on_let_in() override { ++let_in; }
    int let_in{0};
};

struct Line {
    /// So many as may be made at a time.
    void fill() {
        for (std::size_t i = 0; i < ConnectLine::most_at_once; ++i) {
            REQUIRE(line.enter(guests.emplace_back()));
        }
    }

    test::ManualLoop loop{};
    ConnectLine line{loop};
    std::deque<Newcomer> guests{};
    Newcomer first{};
    Newcomer second{};
};

} // namespace

TEST_CASE(
    "connect line: few connections are made at a time, the others in the order of their ask") {
    Line bench;
    bench.fill();
    CHECK_FALSE(bench.line.enter(bench.first));
    CHECK_FALSE(bench.line.enter(bench.second));
    bench.line.leave(bench.guests[3]);
    CHECK(bench.first.let_in == 0); // by a later turn
    bench.loop.run_until_idle();
    CHECK(bench.first.let_in == 1);
    CHECK(bench.second.let_in == 0);
    bench.line.leave(bench.guests[3]); // again
    bench.loop.run_until_idle();
    CHECK(bench.second.let_in == 0);
    bench.line.leave(bench.first);
    bench.loop.run_until_idle();
    CHECK(bench.second.let_in == 1);
    CHECK(bench.first.let_in == 1);
}

TEST_CASE("connect line: one that leaves while it waits is passed over") {
    Line bench;
    bench.fill();
    CHECK_FALSE(bench.line.enter(bench.first));
    CHECK_FALSE(bench.line.enter(bench.second));
    bench.line.leave(bench.first);
    bench.line.leave(bench.guests[0]);
    bench.loop.run_until_idle();
    CHECK(bench.first.let_in == 0);
    CHECK(bench.second.let_in == 1);
}

TEST_CASE("connect line: who tries again goes behind those that wait") {
    Line bench;
    bench.fill();
    CHECK_FALSE(bench.line.enter(bench.first));
    bench.line.leave(bench.guests[0]);
    CHECK_FALSE(bench.line.enter(bench.guests[0]));
    bench.loop.run_until_idle();
    CHECK(bench.first.let_in == 1);
    CHECK(bench.guests[0].let_in == 0);
}

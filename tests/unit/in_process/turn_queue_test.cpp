// SPDX-License-Identifier: MIT
#include "in_process/turn_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "support/manual_loop.hpp"

using namespace sessionq;
using in_process::TurnQueue;
using in_process::TurnQueueUse;
using in_process::TurnTaker;

namespace {

struct Worker final : TurnTaker {
    void turn() override {
        ++turns;
        if (then) {
            then();
        }
    }
    int turns{0};
    std::function<void()> then{};
};

struct TurnQueueFixture {
    test::ManualLoop loop{};
    std::optional<TurnQueueUse> turns{std::make_shared<TurnQueue>(loop)};
    std::shared_ptr<Worker> a{std::make_shared<Worker>()};
    std::shared_ptr<Worker> b{std::make_shared<Worker>()};
};

} // namespace

TEST_CASE("turn queue: an item takes one turn however often it was asked for, and all share one "
          "wake-up") {
    TurnQueueFixture f;
    f.loop.run_until_idle();
    (*f.turns)->schedule(*f.a);
    (*f.turns)->schedule(*f.a);
    (*f.turns)->notify(*f.b);
    (*f.turns)->notify(*f.b);
    CHECK(f.a->turns + f.b->turns == 0); // not within the call
    CHECK(f.loop.run_until_idle() == 1);
    CHECK(f.a->turns == 1);
    CHECK(f.b->turns == 1);
}

TEST_CASE("turn queue: a turn that is scheduled within a turn comes later") {
    TurnQueueFixture f;
    f.a->then = [&] {
        if (f.a->turns < 3) {
            (*f.turns)->schedule(*f.a);
            CHECK(f.a->turns <= 2);
        }
    };
    (*f.turns)->schedule(*f.a);
    f.loop.turn();
    CHECK(f.a->turns == 1);
    f.loop.run_until_idle();
    CHECK(f.a->turns == 3);
}

TEST_CASE("turn queue: after the last use no item takes a turn, and none is kept alive") {
    TurnQueueFixture f;
    f.loop.run_until_idle();
    (*f.turns)->schedule(*f.a);
    (*f.turns)->notify(*f.b);
    const auto queue = f.turns->shared();
    f.turns.reset();
    queue->notify(*f.a);
    f.loop.run_until_idle();
    CHECK(f.a->turns + f.b->turns == 0);
    CHECK(f.a.use_count() == 1);
    CHECK(f.b.use_count() == 1);
}

TEST_CASE("turn queue: many threads notify; a turn that sees it follows each notification") {
    TurnQueueFixture f;
    constexpr int threads = 3;
    constexpr int rounds = 20000;
    std::atomic<int> written{0};
    std::atomic<int> finished{0};
    int seen = 0;
    f.a->then = [&] { seen = written.load(); };
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                ++written;
                (*f.turns)->notify(*f.a);
            }
            ++finished;
        });
    }
    while (finished.load() < threads) {
        f.loop.turn();
    }
    for (auto& thread : running) {
        thread.join();
    }
    f.loop.run_until_idle();
    CHECK(seen == threads * rounds);
}

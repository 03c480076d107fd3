#include "in_process/pump.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "support/manual_loop.hpp"

using namespace sessionq;
using in_process::Pump;
using in_process::Pumped;

namespace {

struct Worker final : Pumped {
    void turn() override {
        ++turns;
        if (then) {
            then();
        }
    }
    int turns{0};
    std::function<void()> then{};
};

struct Fixture {
    Fixture() { pump->retain(); }
    test::ManualLoop loop{};
    std::shared_ptr<Pump> pump{std::make_shared<Pump>(loop)};
    std::shared_ptr<Worker> a{std::make_shared<Worker>()};
    std::shared_ptr<Worker> b{std::make_shared<Worker>()};
};

} // namespace

TEST_CASE("pump: whatever stirs an item is one turn, and all items share one wake-up") {
    Fixture f;
    f.loop.run_until_idle();
    f.pump->schedule(*f.a);
    f.pump->schedule(*f.a);
    f.pump->stir(*f.b);
    f.pump->stir(*f.b);
    CHECK(f.a->turns + f.b->turns == 0); // not within the call
    CHECK(f.loop.run_until_idle() == 1);
    CHECK(f.a->turns == 1);
    CHECK(f.b->turns == 1);
    f.pump->release();
}

TEST_CASE("pump: what an item schedules in its turn is for a later one") {
    Fixture f;
    f.a->then = [&] {
        if (f.a->turns < 3) {
            f.pump->schedule(*f.a);
            CHECK(f.a->turns <= 2);
        }
    };
    f.pump->schedule(*f.a);
    f.loop.turn();
    CHECK(f.a->turns == 1);
    f.loop.run_until_idle();
    CHECK(f.a->turns == 3);
    f.pump->release();
}

TEST_CASE("pump: once its last user has gone nothing has a turn, and nothing is kept alive") {
    Fixture f;
    f.loop.run_until_idle();
    f.pump->schedule(*f.a);
    f.pump->stir(*f.b);
    f.pump->release();
    f.pump->stir(*f.a);
    f.loop.run_until_idle();
    CHECK(f.a->turns + f.b->turns == 0);
    CHECK(f.a.use_count() == 1);
    CHECK(f.b.use_count() == 1);
}

TEST_CASE("pump: stirred by many threads, each stir is followed by a turn that sees it") {
    Fixture f;
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
                f.pump->stir(*f.a);
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
    f.pump->release();
}

// SPDX-License-Identifier: MIT
#include "support/interleaving.hpp"

#include <doctest/doctest.h>

#include <mutex>
#include <set>
#include <stdexcept>

using namespace sessionq::test;
using interleaving::Run;

TEST_CASE("interleaving: explores each order of the accesses once") {
    std::set<std::string> orders;
    const auto outcome = interleaving::explore([&](Run& run) {
        interleaving::Atomic<int> shared{0};
        std::string order;
        for (const char name : {'a', 'b', 'c'}) {
            run.thread([&shared, &order, name] {
                for (int i = 0; i < 3; ++i) {
                    shared.fetch_add(1);
                    order += name;
                }
            });
        }
        run.execute();
        run.expect(shared.load() == 9, "all are counted");
        orders.insert(order);
    });
    CHECK_MESSAGE(outcome.passed(), outcome.to_string());
    CHECK(outcome.interleavings == 1680); // 9! / (3! 3! 3!)
    CHECK(orders.size() == 1680);
}

TEST_CASE("interleaving: finds a lost update and names its schedule") {
    const auto outcome = interleaving::explore([](Run& run) {
        interleaving::Atomic<int> counter{0};
        const auto increment = [&] { counter.store(counter.load() + 1); };
        run.thread(increment);
        run.thread(increment);
        run.execute();
        run.expect(counter.load() == 2, "an update is lost");
    });
    CHECK(outcome.violation == "an update is lost");
    CHECK_FALSE(outcome.passed());
    CHECK(outcome.schedule.size() >= 2);
    CHECK(outcome.to_string().find("schedule: 0 1") != std::string::npos);
}

TEST_CASE("interleaving: a mutex excludes the other thread, whichever locks first") {
    const auto outcome = interleaving::explore([](Run& run) {
        interleaving::Mutex mutex;
        interleaving::Atomic<int> counter{0};
        for (int i = 0; i < 3; ++i) {
            run.thread([&] {
                const std::lock_guard lock{mutex};
                counter.store(counter.load() + 1);
            });
        }
        run.execute();
        run.expect(counter.load() == 3, "an update is lost");
    });
    CHECK_MESSAGE(outcome.passed(), outcome.to_string());
    CHECK(outcome.interleavings > 6);
}

TEST_CASE("interleaving: finds a deadlock") {
    const auto outcome = interleaving::explore([](Run& run) {
        interleaving::Mutex first;
        interleaving::Mutex second;
        run.thread([&] {
            const std::scoped_lock one{first};
            const std::scoped_lock two{second};
        });
        run.thread([&] {
            const std::scoped_lock two{second};
            const std::scoped_lock one{first};
        });
        run.execute();
    });
    CHECK(outcome.violation == "deadlock");
}

TEST_CASE("interleaving: a waiting script continues once its condition holds") {
    const auto outcome = interleaving::explore([](Run& run) {
        interleaving::Atomic<int> value{0};
        bool ready = false;
        run.thread([&] {
            interleaving::wait_until([&] { return ready; });
            run.expect(value.load() == 7, "woken too soon");
        });
        run.thread([&] {
            value.store(7);
            ready = true;
        });
        run.execute();
    });
    CHECK_MESSAGE(outcome.passed(), outcome.to_string());
}

TEST_CASE(
    "interleaving: a script that throws or never ends is a violation, and a limit is not a pass") {
    const auto thrown = interleaving::explore([](Run& run) {
        run.thread([] { throw std::runtime_error{"no"}; });
        run.execute();
    });
    CHECK(thrown.violation == "a script threw: no");

    const auto endless = interleaving::explore([](Run& run) {
        interleaving::Atomic<bool> stop{false};
        run.thread([&] {
            while (!stop.load()) {
            }
        });
        CHECK_FALSE(run.execute());
    });
    CHECK(endless.violation == "the scripts do not end");

    const auto limited = interleaving::explore(
        [](Run& run) {
            interleaving::Atomic<int> shared{0};
            run.thread([&] { shared.store(1); });
            run.thread([&] { shared.store(2); });
            run.execute();
        },
        1);
    CHECK(limited.interleavings == 1);
    CHECK_FALSE(limited.passed());
}

// SPDX-License-Identifier: MIT
#include "dispatch/sleepers.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "dispatch/thread_sync.hpp"

using namespace sessionq::dispatch;

namespace {

/// A semaphore that only counts. An `acquire` before its `release`, where a thread would sleep,
/// shows as a negative count.
struct CountingSync {
    template <typename T>
    using Atomic = std::atomic<T>;

    struct Semaphore {
        static inline int tokens = 0;
        void release() noexcept { ++tokens; }
        void acquire() noexcept { --tokens; }
    };
};

struct Fixture {
    Fixture() { CountingSync::Semaphore::tokens = 0; }
    static int tokens() { return CountingSync::Semaphore::tokens; }

    BasicSleepers<CountingSync> sleepers{};
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "sleepers: DG3: no worker is woken if none sleeps") {
    sleepers.wake(5);
    CHECK(tokens() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "sleepers: wakes no more workers than there is work for, nor more than sleep") {
    for (int i = 0; i < 3; ++i) {
        sleepers.announce();
    }
    sleepers.wake(0);
    CHECK(tokens() == 0);
    sleepers.wake(2);
    CHECK(tokens() == 2);
    CHECK(sleepers.asleep() == 1);
    sleepers.wake(9);
    CHECK(tokens() == 3);
    CHECK(sleepers.asleep() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "sleepers: DG3: a woken worker that has not looked yet counts as coming") {
    sleepers.announce();
    sleepers.announce();
    sleepers.wake(1);
    sleepers.wake(1);
    CHECK(tokens() == 1);
    sleepers.wake(2);
    CHECK(tokens() == 2);
}

TEST_CASE_FIXTURE(Fixture,
                  "sleepers: DG4: once a woken worker looks for work, new work wakes another one") {
    sleepers.announce();
    sleepers.announce();
    sleepers.wake(1);
    sleepers.sleep(); // returns at once: it was woken
    CHECK(tokens() == 0);
    sleepers.wake(1);
    CHECK(tokens() == 1);
}

TEST_CASE_FIXTURE(Fixture, "sleepers: a worker that cancels its sleep is not woken") {
    sleepers.announce();
    sleepers.cancel();
    CHECK(sleepers.asleep() == 0);
    sleepers.wake(1);
    CHECK(tokens() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "sleepers: a worker that cancels its sleep while it is woken takes the wake-up") {
    sleepers.announce();
    sleepers.wake(1);
    sleepers.cancel();
    CHECK(tokens() == 0); // no token is left to wake a worker without work
    sleepers.announce();
    sleepers.wake(1);
    CHECK(tokens() == 1); // and that worker is not relied on any more
}

TEST_CASE_FIXTURE(Fixture, "sleepers: wake_all wakes every worker") {
    sleepers.announce();
    sleepers.announce();
    sleepers.wake_all();
    CHECK(tokens() == 2);
}

TEST_CASE("sleepers: a sleeping thread wakes") {
    BasicSleepers<ThreadSync> sleepers;
    std::thread sleeper{[&] {
        sleepers.announce();
        sleepers.sleep();
    }};
    while (sleepers.asleep() == 0) {
        std::this_thread::yield();
    }
    sleepers.wake(1);
    sleeper.join();
    CHECK(sleepers.asleep() == 0);
}

#include "dispatch/sleepers.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "dispatch/thread_sync.hpp"

using namespace sessionq::dispatch;

namespace {

/// A semaphore that only counts: an `acquire` without a `release` before it shows as a negative
/// count, where a thread would sleep.
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

TEST_CASE_FIXTURE(Fixture, "sleepers: DG3: nobody asleep, nobody woken") {
    sleepers.wake(5);
    CHECK(tokens() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "sleepers: wakes no more than there is work for, and no more than sleep") {
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
                  "sleepers: DG3: one that was woken and has not looked yet is counted on") {
    sleepers.announce();
    sleepers.announce();
    sleepers.wake(1);
    sleepers.wake(1);
    CHECK(tokens() == 1);
    sleepers.wake(2);
    CHECK(tokens() == 2);
}

TEST_CASE_FIXTURE(Fixture, "sleepers: DG4: once it looks, new work wakes another") {
    sleepers.announce();
    sleepers.announce();
    sleepers.wake(1);
    sleepers.sleep(); // returns at once: it was woken
    CHECK(tokens() == 0);
    sleepers.wake(1);
    CHECK(tokens() == 1);
}

TEST_CASE_FIXTURE(Fixture, "sleepers: one that stays is not woken") {
    sleepers.announce();
    sleepers.stay();
    CHECK(sleepers.asleep() == 0);
    sleepers.wake(1);
    CHECK(tokens() == 0);
}

TEST_CASE_FIXTURE(Fixture,
                  "sleepers: one that stays while it is being woken takes the wake-up along") {
    sleepers.announce();
    sleepers.wake(1);
    sleepers.stay();
    CHECK(tokens() == 0); // none is left to wake somebody for nothing
    sleepers.announce();
    sleepers.wake(1);
    CHECK(tokens() == 1); // and it is not counted on any more
}

TEST_CASE_FIXTURE(Fixture, "sleepers: all are woken at the end") {
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

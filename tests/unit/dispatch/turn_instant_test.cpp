// SPDX-License-Identifier: MIT
#include "dispatch/turn_instant.hpp"

#include <thread>

#include <doctest/doctest.h>

using namespace sessionq;
using dispatch::TurnInstant;

namespace {

/// Each read is a second later.
class CountingClock final : public core::Clock {
public:
    [[nodiscard]] TimePoint now() const noexcept override {
        return TimePoint{std::chrono::seconds{++reads}};
    }
    [[nodiscard]] WallTime wall_now() const noexcept override { return {}; }

    mutable int reads{0};
};

constexpr TimePoint after(int reads) { return TimePoint{std::chrono::seconds{reads}}; }

} // namespace

TEST_CASE("turn instant: a call of a worker starts when the one before it ended") {
    CountingClock clock;
    std::thread worker{[&clock] { // has instants of its own
        TurnInstant::begin();
        TurnInstant::next();
        CHECK(TurnInstant::start(clock) == after(1)); // nothing was before it
        CHECK(TurnInstant::end(clock) == after(2));
        TurnInstant::next();
        CHECK(TurnInstant::start(clock) == after(2));
        CHECK(TurnInstant::start(clock) == after(2));
        CHECK(TurnInstant::end(clock) == after(3));
        TurnInstant::next(); // a call that does not say when it ended
        TurnInstant::next();
        CHECK(TurnInstant::start(clock) == after(4));
        CHECK(TurnInstant::end(clock) == after(5));
        TurnInstant::begin(); // after a sleep
        TurnInstant::next();
        CHECK(TurnInstant::start(clock) == after(6));
    }};
    worker.join();
}

TEST_CASE("turn instant: a thread that is no worker any more reads the clock") {
    CountingClock clock;
    std::thread worker{[&clock] {
        TurnInstant::begin();
        TurnInstant::next();
        CHECK(TurnInstant::end(clock) == after(1));
        TurnInstant::next();
        CHECK(TurnInstant::start(clock) == after(1));
        TurnInstant::leave();
        CHECK(TurnInstant::start(clock) == after(2));
        CHECK(TurnInstant::end(clock) == after(3));
        TurnInstant::next();
        CHECK(TurnInstant::start(clock) == after(4));
    }};
    worker.join();
}

TEST_CASE("turn instant: elsewhere the clock is read") {
    CountingClock clock;
    std::thread other{[&clock] {
        CHECK(TurnInstant::start(clock) == after(1));
        CHECK(TurnInstant::end(clock) == after(2));
        TurnInstant::next();
        CHECK(TurnInstant::start(clock) == after(3));
    }};
    other.join();
}

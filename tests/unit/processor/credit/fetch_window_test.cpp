// SPDX-License-Identifier: MIT
#include "processor/credit/fetch_window.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using core::ByteBudget;
using detail::processor::FetchWindow;

namespace {

constexpr std::size_t ample = std::size_t{64} << 20U;

/// A session whose broker is `round_trip` away and has messages without end.
struct Far {
    explicit Far(Duration distance, std::uint32_t configured = 0, std::uint32_t calls = 1)
        : window{budget, configured, calls}, round_trip{distance} {}

    /// All credit is used at once, and then handled; `left` messages still wait in the end.
    void turn(std::uint32_t left = 0) {
        const std::uint32_t count = window.size();
        for (std::uint32_t i = 1; i <= count; ++i) {
            window.arrived(i == count, now);
        }
        for (std::uint32_t held = count; held > left; --held) {
            now += 1us;
            window.ended(held - 1, held == 1, now);
        }
        now += round_trip;
    }

    ByteBudget budget{ample, 1024};
    FetchWindow window;
    TimePoint now{1h};
    Duration round_trip;
};

} // namespace

TEST_CASE("fetch window: what is configured stays; else it begins with what the calls need") {
    CHECK(Far{50ms, 7, 100}.window.size() == 7);
    CHECK(Far{50ms, 0, 1}.window.size() == 32);
    CHECK(Far{50ms, 0, 100}.window.size() == 200);
    Far fixed{50ms, 7};
    for (int i = 0; i < 10; ++i) {
        fixed.turn();
        fixed.turn(6);
    }
    CHECK(fixed.window.size() == 7);
    Far far{50ms};
    far.window.limit_handled(40);
    CHECK(far.window.size() == 80);
    far.window.limit_handled(1);
    CHECK(far.window.size() == 32);
}

TEST_CASE("fetch window: it can be configured anew, and be left to itself again") {
    Far far{50ms};
    far.turn();
    far.turn();
    CHECK(far.window.size() == 64);
    far.window.configure(0); // as it is
    CHECK(far.window.size() == 64);
    far.window.configure(5);
    CHECK(far.window.size() == 5);
    for (int i = 0; i < 5; ++i) {
        far.turn();
    }
    CHECK(far.window.size() == 5);
    far.window.limit_handled(40);
    CHECK(far.window.size() == 5);
    far.window.configure(5'000);
    CHECK(far.window.size() == 5'000);
    far.window.configure(0); // from the beginning
    CHECK(far.window.size() == 80);
    far.turn();
    CHECK(far.window.size() == 160);
}

TEST_CASE("fetch window: it doubles each time handlers waited although the broker had more") {
    Far far{50ms};
    far.turn(); // the first wait was for a first message
    CHECK(far.window.size() == 32);
    for (const std::uint32_t size : {64U, 128U, 256U, 512U, 1024U, 2048U, 4096U, 8192U, 10'000U}) {
        far.turn();
        CHECK(far.window.size() == size);
    }
    far.turn();
    CHECK(far.window.size() == FetchWindow::most);
}

TEST_CASE("fetch window: messages that come in pieces show the same") {
    Far far{100ms};
    far.turn();
    for (const std::uint32_t size : {64U, 128U, 256U, 512U}) {
        const std::uint32_t count = far.window.size();
        for (std::uint32_t i = 1; i <= count; ++i) { // each is handled before the next one comes
            far.window.arrived(i == count, far.now);
            far.window.ended(0, true, far.now += 1us);
        }
        far.now += far.round_trip;
        CHECK(far.window.size() == size);
    }
}

TEST_CASE("fetch window: short waits are not worth more than a small window") {
    Far alone{0us};
    alone.turn();
    for (const std::uint32_t size : {64U, 128U, 256U, 512U, 1024U, 1024U, 1024U}) {
        alone.turn();
        CHECK(alone.window.size() == size);
    }
    Far among_few{1us};
    among_few.budget.join();
    among_few.budget.join();
    among_few.budget.join();
    Far among_many{FetchWindow::worth - 1us};
    for (int i = 0; i < 63; ++i) {
        among_many.budget.join();
    }
    for (int i = 0; i < 10; ++i) {
        among_few.turn();
        among_many.turn();
    }
    CHECK(among_few.window.size() == 256);
    CHECK(among_many.window.size() == 32);
}

TEST_CASE("fetch window: a session with few messages keeps its window, however long it waits") {
    Far far{50ms};
    for (int i = 0; i < 100; ++i) { // one by one, with credit left
        far.window.arrived(false, far.now);
        far.window.ended(0, true, far.now += 1ms);
        far.now += 1s;
    }
    for (int i = 0; i < 20; ++i) { // more come at last
        far.window.arrived(i == 19, far.now);
    }
    CHECK(far.window.size() == 64); // these came on the last credit
    far.window.ended(19, false, far.now);
    far.window.arrived(true, far.now + 1s); // nobody has waited meanwhile
    CHECK(far.window.size() == 64);
}

TEST_CASE("fetch window: it halves when half of it was never used, down to where it began") {
    Far far{50ms};
    for (int i = 0; i < 5; ++i) {
        far.turn();
    }
    CHECK(far.window.size() == 512);
    for (const std::uint32_t size : {256U, 128U, 64U, 32U, 32U}) {
        const std::uint32_t before = far.window.size();
        for (std::uint32_t i = 0; i < 2 * before && far.window.size() == before; ++i) {
            far.window.ended(before - 1, false, far.now); // slow handlers
        }
        CHECK(far.window.size() == size);
    }
}

TEST_CASE("fetch window: R23: it stays within the session's share of the budget") {
    ByteBudget budget{std::size_t{1} << 20U, 1024}; // of messages of 1 KiB: 1,024 in four quarters
    FetchWindow window{budget, 0, 1};
    TimePoint now{1h};
    const auto turn = [&] {
        const std::uint32_t count = window.size();
        for (std::uint32_t i = 1; i <= count; ++i) {
            window.arrived(i == count, now);
        }
        for (std::uint32_t held = count; held > 0; --held) {
            window.ended(held - 1, held == 1, now);
        }
        now += 50ms;
    };
    for (int i = 0; i < 10; ++i) {
        turn();
    }
    CHECK(window.size() == 256);
    {
        const FetchWindow second{budget, 0, 1};
        const FetchWindow third{budget, 0, 1};
        const FetchWindow fourth{budget, 0, 1};
        CHECK(window.size() == 64);
        CHECK(second.size() == 32);
    }
    CHECK(window.size() == 256);
    for (int i = 0; i < 1000; ++i) {
        budget.arrived(100'000);
    }
    CHECK(window.size() == 32); // as it began
}

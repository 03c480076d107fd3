// SPDX-License-Identifier: MIT
#include "timing/timer_wheel.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace sessionq;
using namespace sessionq::timing;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint start{1h};

void never_run(void*) { FAIL("the wheel runs no callback"); }

struct PlainTimer : Timer {
    PlainTimer() noexcept : Timer{nullptr, never_run} {}
};

std::vector<const Timer*> advance(TimerWheel& wheel, TimePoint now) {
    TimerWheel::List expired;
    wheel.advance(now, expired);
    std::vector<const Timer*> timers;
    while (const Timer* timer = expired.pop_front()) {
        timers.push_back(timer);
    }
    return timers;
}

using Timers = std::vector<const Timer*>;

} // namespace

TEST_CASE("timer wheel: an empty wheel has no wake-up and advancing finds nothing") {
    TimerWheel wheel{start};
    CHECK_FALSE(wheel.next_wakeup());
    CHECK(advance(wheel, start + 24h).empty());
    CHECK_FALSE(wheel.next_wakeup());
    CHECK(wheel.size() == 0);
    CHECK(sizeof(TimerWheel) <= 128);
}

TEST_CASE("timer wheel: a timer expires once, at its due time and not before") {
    for (const Duration delay : {Duration{1ms}, Duration{255ms}, Duration{256ms}, Duration{257ms},
                                 Duration{65'535ms}, Duration{65'536ms}, Duration{10min},
                                 Duration{5h}, Duration{60 * 24h}, Duration{24h * 365 * 40}}) {
        CAPTURE(delay.count());
        TimerWheel wheel{start};
        PlainTimer timer;
        wheel.insert(timer, start + delay);
        CHECK(timer.is_armed());
        CHECK(timer.due() == start + delay);
        CHECK(wheel.next_wakeup() == start + delay);
        CHECK(advance(wheel, start + delay - 1ns).empty());
        CHECK(wheel.next_wakeup() == start + delay);
        CHECK(advance(wheel, start + delay) == Timers{&timer});
        CHECK_FALSE(timer.is_armed());
        CHECK_FALSE(wheel.next_wakeup());
        CHECK(wheel.size() == 0);
        CHECK(advance(wheel, start + delay + 1h).empty());
    }
}

TEST_CASE("timer wheel: a due time between two milliseconds is rounded up") {
    TimerWheel wheel{start};
    PlainTimer timer;
    wheel.insert(timer, start + 4ms + 1ns);
    CHECK(wheel.next_wakeup() == start + 5ms);
    CHECK(advance(wheel, start + 5ms - 1ns).empty());
    CHECK(advance(wheel, start + 5ms) == Timers{&timer});
}

TEST_CASE("timer wheel: timers expire in order of due time, and within a millisecond in order of "
          "insertion") {
    TimerWheel wheel{start};
    std::deque<PlainTimer> timers(6);
    wheel.insert(timers[0], start + 70s);
    wheel.insert(timers[1], start + 300ms);
    wheel.insert(timers[2], start + 70s);
    wheel.insert(timers[3], start + 2ms);
    CHECK(advance(wheel, start + 69'990ms) == Timers{&timers[3], &timers[1]});
    wheel.insert(timers[4], start + 70s); // filed in a finer wheel than the first ones
    wheel.insert(timers[5], start + 70s - 500us);
    CHECK(advance(wheel, start + 80s) == Timers{&timers[0], &timers[2], &timers[4], &timers[5]});
}

TEST_CASE("timer wheel: an overdue timer expires with the next advance, even at the same instant") {
    TimerWheel wheel{start};
    PlainTimer overdue;
    PlainTimer at_once;
    PlainTimer before_all;
    CHECK(advance(wheel, start + 777ms).empty());
    wheel.insert(overdue, start + 5ms);
    wheel.insert(at_once, start + 777ms);
    wheel.insert(before_all, TimePoint::min());
    CHECK(wheel.next_wakeup() == start + 777ms);
    CHECK(advance(wheel, start + 777ms) == Timers{&overdue, &at_once, &before_all});
    wheel.insert(overdue, start);
    CHECK(advance(wheel, start) == Timers{&overdue}); // an earlier instant counts as the last one
}

TEST_CASE("timer wheel: a timer at the end of time never expires") {
    TimerWheel wheel{start};
    PlainTimer never;
    PlainTimer almost;
    wheel.insert(never, TimePoint::max());
    CHECK(never.is_armed());
    CHECK(wheel.size() == 1);
    CHECK_FALSE(wheel.next_wakeup());
    wheel.insert(almost, TimePoint::max() - 1h);
    REQUIRE(wheel.next_wakeup());
    CHECK(*wheel.next_wakeup() - (TimePoint::max() - 1h) < 1ms);
    CHECK(advance(wheel, TimePoint::max()) == Timers{&almost});
    wheel.insert(almost, start);
    CHECK(advance(wheel, TimePoint::max()) == Timers{&almost});
    CHECK(never.is_armed());
    wheel.cancel(never);
    CHECK(wheel.size() == 0);
}

TEST_CASE("timer wheel: every instant fits, from any start") {
    TimerWheel wheel{TimePoint::min()};
    PlainTimer timer;
    wheel.insert(timer, TimePoint::max() - 2ms);
    REQUIRE(wheel.next_wakeup());
    CHECK(*wheel.next_wakeup() >= TimePoint::max() - 2ms);
    CHECK(advance(wheel, TimePoint::max() - 3ms).empty());
    CHECK(advance(wheel, TimePoint::max()) == Timers{&timer});
}

TEST_CASE("timer wheel: inserting an armed timer moves it") {
    TimerWheel wheel{start};
    PlainTimer timer;
    wheel.insert(timer, start + 10ms);
    wheel.insert(timer, start + 10min);
    CHECK(wheel.size() == 1);
    CHECK(wheel.next_wakeup() == start + 10min);
    wheel.insert(timer, start + 20ms);
    CHECK(wheel.next_wakeup() == start + 20ms);
    CHECK(advance(wheel, start + 10min) == Timers{&timer});

    TimerWheel other{start};
    wheel.insert(timer, start + 11min);
    other.insert(timer, start + 12min);
    CHECK(wheel.size() == 0);
    CHECK_FALSE(wheel.next_wakeup());
    CHECK(other.next_wakeup() == start + 12min);
}

TEST_CASE("timer wheel: the next wake-up is exact after cancelling, in every wheel") {
    TimerWheel wheel{start};
    std::deque<PlainTimer> timers(4);
    const Duration delays[] = {100ms, 40'000ms, 40'010ms, 3h};
    for (std::size_t i = 0; i < timers.size(); ++i) {
        wheel.insert(timers[i], start + delays[i]);
    }
    for (std::size_t i = 0; i < timers.size(); ++i) {
        CHECK(wheel.next_wakeup() == start + delays[i]);
        wheel.cancel(timers[i]);
        CHECK_FALSE(timers[i].is_armed());
    }
    CHECK_FALSE(wheel.next_wakeup());
    wheel.cancel(timers[0]); // no effect
    CHECK(wheel.size() == 0);
    CHECK(advance(wheel, start + 4h).empty());
}

TEST_CASE("timer wheel: a timer expires at each wake-up it names, also over long gaps") {
    TimerWheel wheel{start};
    std::deque<PlainTimer> timers(5);
    const Duration delays[] = {1s, 2min, 2min + 1ms, 3h, 24h * 90};
    for (std::size_t i = 0; i < timers.size(); ++i) {
        wheel.insert(timers[i], start + delays[i]);
    }
    for (auto& timer : timers) {
        const auto wakeup = wheel.next_wakeup();
        REQUIRE(wakeup);
        CHECK(advance(wheel, *wakeup) == Timers{&timer});
    }
}

TEST_CASE("timer wheel: destroying an armed timer cancels it, and destroying the wheel disarms its "
          "timers") {
    auto timer = std::make_unique<PlainTimer>();
    PlainTimer survivor;
    PlainTimer never;
    {
        TimerWheel wheel{start};
        wheel.insert(*timer, start + 10ms);
        wheel.insert(survivor, start + 10min);
        wheel.insert(never, TimePoint::max());
        timer.reset();
        CHECK(wheel.size() == 2);
        CHECK(wheel.next_wakeup() == start + 10min);
    }
    CHECK_FALSE(survivor.is_armed());
    CHECK_FALSE(never.is_armed());
}

TEST_CASE("timer wheel: agrees with an ordered map over random histories") {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random{seed};
        const auto below = [&](std::uint64_t limit) { return random() % limit; };
        const auto random_delay = [&] {
            // microseconds to decades, each scale equally likely
            const std::uint64_t reach = std::uint64_t{1} << (10 + below(45));
            return Duration{static_cast<Duration::rep>(below(reach))} -
                   (below(8) == 0 ? Duration{50ms} : Duration{0});
        };
        const auto tick_of = [](TimePoint time) {
            return std::chrono::ceil<std::chrono::milliseconds>(time - start);
        };

        std::deque<PlainTimer> timers(1 + below(200));
        TimerWheel wheel{start};
        std::multimap<std::chrono::milliseconds, const Timer*> model;
        const auto erase = [&](const Timer& timer) {
            std::erase_if(model, [&](const auto& entry) { return entry.second == &timer; });
        };
        TimePoint now = start;
        for (int step = 0; step < 2'000; ++step) {
            auto& timer = timers[below(timers.size())];
            switch (below(5)) {
            case 0:
            case 1: {
                const TimePoint due = now + random_delay();
                wheel.insert(timer, due);
                erase(timer);
                model.emplace(std::max(tick_of(due),
                                       std::chrono::floor<std::chrono::milliseconds>(now - start)),
                              &timer);
                break;
            }
            case 2:
                wheel.cancel(timer);
                erase(timer);
                break;
            case 3: // exactly to the next wake-up
                now = std::max(now, wheel.next_wakeup().value_or(now));
                [[fallthrough]];
            default:
                if (below(2) == 0) {
                    now += std::max(random_delay() / 16, Duration{0});
                }
                Timers expected;
                while (!model.empty() && start + model.begin()->first <= now) {
                    expected.push_back(model.begin()->second);
                    model.erase(model.begin());
                }
                REQUIRE(advance(wheel, now) == expected);
            }
            REQUIRE(wheel.size() == model.size());
            if (below(2) == 0) {
                const auto expected =
                    model.empty() ? std::nullopt : std::optional{start + model.begin()->first};
                REQUIRE(wheel.next_wakeup() == expected);
            }
        }
    }
}

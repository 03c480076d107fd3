// SPDX-License-Identifier: MIT
#include "timing/timer_service.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/manual_clock.hpp"

using namespace sessionq;
using namespace sessionq::timing;
using namespace std::chrono_literals;

namespace {

struct TaskQueue final : core::Executor {
    void post(core::Task task) override { tasks.push_back(std::move(task)); }
    void run() {
        while (!tasks.empty()) {
            auto task = std::move(tasks.front());
            tasks.pop_front();
            task();
        }
    }
    std::deque<core::Task> tasks;
};

/// Logs its name when it runs, then does what the test asks.
struct NamedTimer {
    std::string name;
    std::vector<std::string>& log;
    std::function<void()> then = [] {};
    Timer timer{Timer::calling<&NamedTimer::run>(this)};

    void run() {
        log.push_back(name);
        auto next = then; // it may destroy this timer
        next();
    }
};

using Log = std::vector<std::string>;

struct Bench {
    TaskQueue executor;
    test::ManualClock clock;
    std::unique_ptr<TimerService> service = std::make_unique<TimerService>(executor, clock.now());
    Log log;
    NamedTimer a{"a", log};
    NamedTimer b{"b", log};
    NamedTimer c{"c", log};

    void arm(NamedTimer& timer, Duration delay) { service->arm(timer.timer, clock.now() + delay); }
    void pass(Duration length) {
        clock.advance(length);
        service->advance(clock.now());
    }
};

} // namespace

TEST_CASE("timer service: neither arming nor advancing runs a callback; the executor's task does") {
    Bench t;
    t.arm(t.a, -5s);
    CHECK(t.executor.tasks.empty());
    t.pass(0s);
    CHECK(t.log.empty());
    CHECK(t.a.timer.is_armed());
    t.executor.run();
    CHECK(t.log == Log{"a"});
    CHECK_FALSE(t.a.timer.is_armed());
}

TEST_CASE("timer service: all expired timers run in one task, in order") {
    Bench t;
    t.arm(t.c, 30ms);
    t.arm(t.a, 10ms);
    t.arm(t.b, 20ms);
    t.pass(25ms);
    CHECK(t.executor.tasks.size() == 1);
    t.pass(25ms); // the queued task runs these too
    CHECK(t.executor.tasks.size() == 1);
    CHECK(t.service->size() == 3);
    t.executor.run();
    CHECK(t.log == Log{"a", "b", "c"});
    CHECK(t.service->size() == 0);
    t.arm(t.a, 1ms);
    t.pass(1ms);
    CHECK(t.executor.tasks.size() == 1);
}

TEST_CASE("timer service: posts nothing if nothing expired") {
    Bench t;
    t.pass(10s);
    t.arm(t.a, 10ms);
    t.pass(9ms);
    CHECK(t.executor.tasks.empty());
    CHECK(t.service->next_wakeup() == t.clock.now() + 1ms);
}

TEST_CASE("timer service: setting the same instant again does not put the timer off") {
    Bench t;
    const TimePoint due = t.clock.now() + 5ms;
    for (int turn = 0; turn < 10; ++turn) { // an input in every turn
        t.service->set_due(t.a.timer, due);
        t.pass(1ms);
    }
    t.executor.run();
    CHECK(t.log == Log{"a"});
}

TEST_CASE("timer service: set_due moves a timer, and cancels it without an instant") {
    Bench t;
    t.service->set_due(t.a.timer, t.clock.now() + 5ms);
    t.service->set_due(t.a.timer, t.clock.now() + 20ms);
    t.service->set_due(t.b.timer, t.clock.now() + 5ms);
    t.service->set_due(t.b.timer, TimePoint::max());
    CHECK_FALSE(t.b.timer.is_armed());
    t.pass(10ms);
    t.executor.run();
    CHECK(t.log.empty());
    t.pass(11ms);
    t.executor.run();
    CHECK(t.log == Log{"a"});
}

TEST_CASE("timer service: a timer cancelled between expiry and run does not run") {
    Bench t;
    t.arm(t.a, 10ms);
    t.arm(t.b, 10ms);
    t.pass(10ms);
    t.service->cancel(t.a.timer);
    CHECK_FALSE(t.a.timer.is_armed());
    t.executor.run();
    CHECK(t.log == Log{"b"});
}

TEST_CASE("timer service: a timer armed again between expiry and run waits again") {
    Bench t;
    t.arm(t.a, 10ms);
    t.pass(10ms);
    t.arm(t.a, 10ms);
    t.executor.run();
    CHECK(t.log.empty());
    CHECK(t.service->next_wakeup() == t.clock.now() + 10ms);
    t.pass(10ms);
    t.executor.run();
    CHECK(t.log == Log{"a"});
}

TEST_CASE(
    "timer service: a callback may arm without delay, and that timer waits for the next advance") {
    Bench t;
    t.a.then = [&] { t.arm(t.a, 0s); };
    t.arm(t.a, 1ms);
    t.pass(1ms);
    t.executor.run();
    CHECK(t.log == Log{"a"});
    CHECK(t.service->next_wakeup() == t.clock.now());
    t.pass(0s);
    t.executor.run();
    CHECK(t.log == Log{"a", "a"});
}

TEST_CASE("timer service: a callback may cancel or destroy a timer that expired with it") {
    Bench t;
    auto doomed = std::make_unique<NamedTimer>("doomed", t.log);
    t.a.then = [&] {
        t.service->cancel(t.b.timer);
        doomed.reset();
    };
    t.arm(t.a, 1ms);
    t.arm(t.b, 1ms);
    t.arm(*doomed, 1ms);
    t.arm(t.c, 1ms);
    t.pass(1ms);
    t.executor.run();
    CHECK(t.log == Log{"a", "c"});
}

TEST_CASE("timer service: a callback may destroy its own timer") {
    Bench t;
    auto timer = std::make_unique<NamedTimer>("self", t.log);
    timer->then = [&] { timer.reset(); };
    t.arm(*timer, 1ms);
    t.pass(1ms);
    t.executor.run();
    CHECK(t.log == Log{"self"});
    CHECK(timer == nullptr);
}

TEST_CASE(
    "timer service: after destruction a queued task runs nothing and all timers are disarmed") {
    Bench t;
    t.arm(t.a, 1ms);
    t.arm(t.b, 1min);
    t.pass(1ms);
    t.service.reset();
    CHECK_FALSE(t.a.timer.is_armed());
    CHECK_FALSE(t.b.timer.is_armed());
    t.executor.run();
    CHECK(t.log.empty());
}

TEST_CASE("timer service: if a callback destroys the service, the other timers do not run") {
    Bench t;
    t.a.then = [&] { t.service.reset(); };
    t.arm(t.a, 1ms);
    t.arm(t.b, 1ms);
    t.pass(1ms);
    t.executor.run();
    CHECK(t.log == Log{"a"});
    CHECK_FALSE(t.b.timer.is_armed());
}

TEST_CASE("timer service: a callback may advance the service") {
    Bench t;
    t.a.then = [&] { t.pass(1ms); };
    t.arm(t.a, 1ms);
    t.arm(t.b, 2ms);
    t.pass(1ms);
    t.executor.run();
    CHECK(t.log == Log{"a", "b"});
    CHECK(t.service->size() == 0);
}

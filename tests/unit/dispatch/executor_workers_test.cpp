// SPDX-License-Identifier: MIT
#include "dispatch/executor_workers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sessionq/operation_context.hpp>

#include "support/executors.hpp"
#include "support/manual_clock.hpp"

using namespace sessionq;
using namespace sessionq::dispatch;
using namespace std::chrono_literals;
using test::FunctionExecutor;
using test::KeepingExecutor;
using test::ThreadsExecutor;

namespace {

class ExecutorCall final : public Call {
public:
    explicit ExecutorCall(std::function<void()> body) : body_{std::move(body)} {}

    Verdict run() noexcept override {
        body_();
        return Verdict::proceed;
    }

private:
    std::function<void()> body_;
};

/// Workers on an executor, and lanes that are given to them.
template <typename Kind>
struct OnExecutor {
    explicit OnExecutor(std::shared_ptr<Kind> runs, unsigned most = 100,
                        const core::Clock& clock = core::system_clock())
        : executor{std::move(runs)},
          workers{std::make_unique<ExecutorWorkers>(
              dispatcher, clock, executor, most,
              [this](std::string why) {
                  {
                      const std::lock_guard lock{mutex};
                      failures.push_back(std::move(why));
                  }
                  failed.test_and_set();
                  failed.notify_all();
              },
              ExecutorWorkers::Waits{.rest = 1ms})} {}

    /// Pushes a call into a lane of its own.
    Lane& push(std::function<void()> body) {
        lanes.push_back(dispatcher.make_lane(1));
        push_to(*lanes.back(), std::move(body));
        return *lanes.back();
    }
    void push_to(Lane& lane, std::function<void()> body) {
        lane.push(calls.emplace_back(std::move(body)));
    }
    [[nodiscard]] std::vector<std::string> told() const {
        const std::lock_guard lock{mutex};
        return failures;
    }

    std::deque<ExecutorCall> calls{};
    Dispatcher dispatcher{};
    mutable std::mutex mutex{};
    std::vector<std::string> failures{}; ///< guarded by mutex
    std::atomic_flag failed{};
    std::shared_ptr<Kind> executor;
    std::unique_ptr<ExecutorWorkers> workers;
    std::vector<LanePtr> lanes{};
};

/// The most works that wait in an executor.
std::size_t most_kept() { return std::max(1U, std::thread::hardware_concurrency()); }

} // namespace

TEST_CASE("executor workers: a call runs in a work, on the thread that runs it, and not before") {
    OnExecutor on{std::make_shared<KeepingExecutor>()};
    bool ran = false;
    bool on_worker = false;
    on.push([&] {
        ran = true;
        on_worker = on.workers->on_worker_thread();
        CHECK(on.workers->works()->running == 1);
    });
    CHECK(on.executor->kept() == 0);
    on.dispatcher.flush();
    CHECK(on.executor->kept() == 1);
    CHECK(on.workers->works()->waiting == 1);
    CHECK_FALSE(ran);
    on.executor->run_one();
    CHECK(ran);
    CHECK(on_worker);
    CHECK_FALSE(on.workers->on_worker_thread());
    CHECK(on.executor->kept() == 0);
    CHECK(on.workers->works()->running == 0);
    CHECK(on.told().empty());
}

TEST_CASE("executor workers: a work runs once, wherever it was moved to") {
    OnExecutor on{std::make_shared<KeepingExecutor>()};
    int ran = 0;
    on.push([&] { ++ran; });
    on.dispatcher.flush();
    HandlerWork work = on.executor->take();
    HandlerWork moved = std::move(work);
    work(); // NOLINT(bugprone-use-after-move): it does nothing
    CHECK(ran == 0);
    HandlerWork& same = moved;
    moved = std::move(same);
    moved();
    moved();
    CHECK(ran == 1);
    CHECK(on.workers->works()->waiting == 0);
    CHECK(on.workers->works()->running == 0);
    CHECK(on.told().empty());
}

TEST_CASE("executor workers: one that is replaced by another is dropped") {
    OnExecutor on{std::make_shared<KeepingExecutor>()};
    bool ran = false;
    on.push([&] { ran = true; });
    on.dispatcher.flush();
    HandlerWork work = on.executor->take();
    HandlerWork done = std::move(work);
    work = std::move(done); // back again, and nothing is lost
    CHECK(on.workers->works()->waiting == 1);
    done = HandlerWork{std::move(work)};
    HandlerWork none = std::move(done);
    none = std::move(work); // moved from
    on.failed.wait(false);
    on.executor->run_one();
    CHECK(ran);
    CHECK(on.told() == std::vector<std::string>{"a work was destroyed and was not run"});
}

TEST_CASE("executor workers: few works wait, and one that begins asks for the next one") {
    OnExecutor on{std::make_shared<KeepingExecutor>()};
    std::size_t kept = 0;
    std::size_t ran = 0;
    const std::size_t lanes = most_kept() + 5;
    for (std::size_t i = 0; i < lanes; ++i) {
        on.push([&] {
            if (ran++ == 0) {
                kept = on.executor->kept();
            }
        });
    }
    on.dispatcher.flush();
    CHECK(on.executor->kept() == most_kept());
    on.executor->run_one();
    CHECK(kept == most_kept()); // the one that ran was replaced while it ran
    on.executor->run_all();
    CHECK(ran == lanes);
    CHECK(on.workers->works()->waiting == 0);
}

TEST_CASE("executor workers: no more works than there may be, until the bound rises") {
    OnExecutor on{std::make_shared<KeepingExecutor>(), 1};
    std::size_t beside = 1;
    std::size_t raised = 0;
    on.push([&] {
        beside = on.executor->kept();
        on.workers->set_most(2);
        raised = on.executor->kept();
    });
    on.push([] {});
    on.dispatcher.flush();
    CHECK(on.executor->kept() == 1);
    on.executor->run_one();
    CHECK(beside == 0);
    CHECK(raised == 1);
    on.executor->run_all();
    CHECK(on.dispatcher.ready_lanes() == 0);
}

TEST_CASE("executor workers: a work ends after its time, and the executor gets another one") {
    test::ManualClock clock;
    OnExecutor on{std::make_shared<KeepingExecutor>(), 1, clock};
    int ran = 0;
    for (int i = 0; i < 3; ++i) {
        on.push([&] {
            ++ran;
            clock.advance(1h);
        });
    }
    on.dispatcher.flush();
    for (int works = 1; works <= 3; ++works) {
        REQUIRE(on.executor->kept() == 1);
        on.executor->run_one();
        CHECK(ran == works);
    }
    CHECK(on.executor->kept() == 0);
}

TEST_CASE("executor workers: R21: a task runs under its submitter's context, and is destroyed by a "
          "stop") {
    OnExecutor on{std::make_shared<KeepingExecutor>()};
    const OperationContext context{Deadline::at(TimePoint{77h})};
    bool restored = false;
    {
        const OperationContext::Scope scope{context};
        on.workers->post(
            [&] { restored = OperationContext::current().deadline() == context.deadline(); });
    }
    on.executor->run_one();
    CHECK(restored);
    CHECK(OperationContext::current().is_clean());
    const auto witness = std::make_shared<int>(0);
    on.workers->post([witness] { ++*witness; });
    CHECK(on.workers->stop(Deadline::never()) == 0);
    on.workers->post([witness] { ++*witness; });
    CHECK(witness.use_count() == 1);
    on.executor->run_all();
    CHECK(*witness == 0);
}

TEST_CASE("executor workers: R18: a stop does not wait for works that wait, and they run nothing") {
    auto executor = std::make_shared<KeepingExecutor>();
    int ran = 0;
    {
        OnExecutor on{executor};
        const Lane& lane = on.push([&] { ++ran; });
        on.dispatcher.flush();
        REQUIRE(executor->kept() == 1);
        CHECK(on.workers->stop(Deadline::never()) == 0);
        CHECK(lane.waiting() == 1);
        on.push([&] { ++ran; });
        on.dispatcher.flush();
        CHECK(executor->kept() == 1); // nothing more is given
    }
    CHECK(executor->run_all() == 1); // after the workers are gone
    CHECK(ran == 0);
}

TEST_CASE("executor workers: R18: a stop waits for a handler until its deadline") {
    OnExecutor on{std::make_shared<ThreadsExecutor>(1U)};
    std::latch started{1};
    std::latch may_end{1};
    on.push([&] {
        started.count_down();
        may_end.wait();
    });
    on.dispatcher.flush();
    started.wait();
    CHECK(on.workers->stop(Deadline::after(5ms, core::system_clock().now())) == 1);
    may_end.count_down();
    CHECK(on.workers->stop(Deadline::never()) == 0);
}

TEST_CASE("executor workers: R18: stop may be called from inside handlers") {
    OnExecutor on{std::make_shared<ThreadsExecutor>(2U)};
    std::latch both{2};
    std::latch done{2};
    std::atomic<unsigned> left{0};
    for (int i = 0; i < 2; ++i) { // they do not wait for one another
        on.push([&] {
            both.arrive_and_wait();
            left += on.workers->stop(Deadline::never());
            done.count_down();
        });
    }
    on.dispatcher.flush();
    done.wait();
    CHECK(left <= 2); // each may still see the other one
    CHECK(on.workers->stop(Deadline::never()) == 0);
}

TEST_CASE("executor workers: one that throws is told once, rests and is tried again") {
    std::atomic<int> tries{0};
    const auto kept = std::make_shared<KeepingExecutor>();
    OnExecutor on{std::make_shared<FunctionExecutor>([&](HandlerWork work) {
        if (++tries <= 3) {
            throw std::runtime_error{"full"};
        }
        kept->execute(std::move(work));
    })};
    bool ran = false;
    on.push([&] { ran = true; });
    on.dispatcher.flush();
    kept->run_one();
    CHECK(ran);
    CHECK(tries == 4);
    CHECK(on.told() == std::vector<std::string>{"execute threw: full"});
}

TEST_CASE("executor workers: works that it destroys are replaced, and it is told again after one "
          "has run") {
    OnExecutor on{std::make_shared<KeepingExecutor>()};
    int ran = 0;
    for (int round = 1; round <= 2; ++round) {
        on.push([&] { ++ran; });
        on.dispatcher.flush();
        on.executor->drop_all();
        on.failed.wait(false);
        on.failed.clear();
        on.executor->run_one();
        CHECK(ran == round);
    }
    const std::string why{"a work was destroyed and was not run"};
    CHECK(on.told() == std::vector{why, why});
}

TEST_CASE("executor workers: a work that is destroyed or run within execute runs nothing") {
    std::atomic<int> tries{0};
    std::atomic<bool> inside{false};
    const auto kept = std::make_shared<KeepingExecutor>();
    bool destroys = false;
    SUBCASE("destroyed") { destroys = true; }
    SUBCASE("run") {}
    OnExecutor on{std::make_shared<FunctionExecutor>([&](HandlerWork work) {
        if (++tries > 1) {
            kept->execute(std::move(work));
        } else if (!destroys) {
            inside = true;
            work();
            inside = false;
        }
    })};
    bool ran_inside = false;
    bool ran = false;
    on.push([&] {
        ran = true;
        ran_inside = inside;
    });
    on.dispatcher.flush();
    kept->run_one();
    CHECK(ran);
    CHECK_FALSE(ran_inside);
    CHECK(on.told().size() == 1);
    CHECK(on.told().front() ==
          (destroys ? "a work was destroyed and was not run" : "a work was run within execute"));
}

TEST_CASE("executor workers: a handler that gives another processor work may be in a work") {
    // A call makes a lane of other workers ready: their executor is called on a worker's thread.
    OnExecutor first{std::make_shared<KeepingExecutor>()};
    OnExecutor second{std::make_shared<KeepingExecutor>()};
    bool ran = false;
    first.push([&] {
        second.push([&] { ran = true; });
        second.dispatcher.flush();
        second.executor->run_one(); // this thread helps, within a work
        CHECK(first.workers->on_worker_thread());
    });
    first.dispatcher.flush();
    first.executor->run_one();
    CHECK(ran);
    CHECK(first.told().empty());
    CHECK(second.told().empty());
}

TEST_CASE("executor workers: an executor with works is destroyed with its last owner") {
    auto executor = std::make_shared<KeepingExecutor>();
    const std::weak_ptr<KeepingExecutor> watched = executor;
    {
        OnExecutor on{std::move(executor)};
        on.push([] {});
        on.dispatcher.flush();
        CHECK(on.executor->kept() == 1);
    }
    CHECK(watched.expired());
}

TEST_CASE("executor workers: under threads every call runs once, in order within its lane") {
    for (const unsigned most : {1U, 8U}) {
        CAPTURE(most);
        OnExecutor on{std::make_shared<ThreadsExecutor>(2U), most};
        constexpr int lanes = 20;
        constexpr int each = 300;
        std::latch done{lanes * each};
        std::vector<std::vector<int>> seen(lanes);
        std::atomic<unsigned> running{0};
        std::atomic<bool> too_many{false};
        for (int i = 0; i < lanes; ++i) {
            on.lanes.push_back(on.dispatcher.make_lane(1));
        }
        for (int n = 0; n < each; ++n) {
            for (std::size_t i = 0; i < lanes; ++i) {
                on.push_to(*on.lanes[i], [&, i, n] {
                    if (running.fetch_add(1) >= most) {
                        too_many = true;
                    }
                    seen[i].push_back(n); // no lock: one at a time
                    running.fetch_sub(1);
                    done.count_down();
                });
            }
            on.dispatcher.flush();
        }
        done.wait(); // a lost wake-up would hang here
        CHECK(on.workers->stop(Deadline::never()) == 0);
        CHECK_FALSE(too_many);
        CHECK(on.told().empty());
        for (const std::vector<int>& order : seen) {
            REQUIRE(order.size() == each);
            CHECK(std::is_sorted(order.begin(), order.end()));
        }
    }
}

TEST_CASE("executor workers: under threads none is forgotten while works are dropped") {
    // One work of three is dropped, also the first one. Calls come one by one: most need a work.
    const auto threads = std::make_shared<ThreadsExecutor>(2U);
    std::atomic<int> works{0};
    OnExecutor on{std::make_shared<FunctionExecutor>([&](HandlerWork work) {
        if (works++ % 3 != 0) {
            threads->execute(std::move(work));
        }
    })};
    on.lanes.push_back(on.dispatcher.make_lane(1));
    int ran = 0;
    for (int i = 0; i < 60; ++i) {
        std::latch done{1};
        on.push_to(*on.lanes.front(), [&] {
            ++ran;
            done.count_down();
        });
        on.dispatcher.flush();
        done.wait();
    }
    CHECK(ran == 60);
    CHECK_FALSE(on.told().empty());
    CHECK(on.workers->stop(Deadline::never()) == 0);
}

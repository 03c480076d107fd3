// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <latch>
#include <semaphore>

#include <pthread.h>

#include <sessionq/error.hpp>
#include <sessionq/logging.hpp>
#include <sessionq/operation_context.hpp>

#include "dispatch/worker_pool.hpp"

using namespace sessionq;
using namespace sessionq::dispatch;

namespace {

/// A call that runs a function.
class FunctionCall final : public Call {
public:
    explicit FunctionCall(std::function<Verdict()> body) : body_{std::move(body)} {}

    Verdict run() noexcept override { return body_(); }

private:
    std::function<Verdict()> body_;
};

struct Pool {
    explicit Pool(unsigned threads, Dispatcher::Options options = {})
        : dispatcher{options},
          workers{dispatcher, core::system_clock(), WorkerBounds::exactly(threads)} {}

    Call& call(std::function<Verdict()> body) { return calls.emplace_back(std::move(body)); }

    std::deque<FunctionCall> calls{};
    Dispatcher dispatcher;
    WorkerPool workers;
};

Deadline soon() {
    return Deadline::after(std::chrono::milliseconds{20}, core::system_clock().now());
}

} // namespace

TEST_CASE("worker pool: zero threads are rejected by name") {
    Dispatcher dispatcher;
    CHECK_THROWS_WITH_AS((WorkerPool{dispatcher, core::system_clock(), WorkerBounds::exactly(0)}),
                         "invalid option: worker_threads is 0", Error);
}

TEST_CASE("worker pool: runs calls on its named threads and nowhere else") {
    Pool pool{2};
    const LanePtr lane = pool.dispatcher.make_lane(1);
    std::latch done{1};
    bool on_worker = false;
    char name[16] = {};
    lane->push(pool.call([&] {
        on_worker = pool.workers.on_worker_thread();
        pthread_getname_np(pthread_self(), name, sizeof name);
        done.count_down();
        return Verdict::proceed;
    }));
    pool.dispatcher.flush();
    done.wait();
    CHECK(on_worker);
    CHECK(std::string{name} == "sessionq-work");
    CHECK_FALSE(pool.workers.on_worker_thread());
    CHECK(pool.workers.threads() == 2);
}

TEST_CASE("worker pool: as many lanes run at once as there are workers") {
    constexpr int threads = 4;
    Pool pool{threads};
    std::latch all_running{threads};
    std::latch done{threads};
    std::vector<LanePtr> lanes;
    for (int i = 0; i < threads; ++i) {
        lanes.push_back(pool.dispatcher.make_lane(1));
        lanes.back()->push(pool.call([&] {
            all_running.arrive_and_wait(); // returns only if no lane waits behind another
            done.count_down();
            return Verdict::proceed;
        }));
    }
    pool.dispatcher.flush();
    done.wait();
}

TEST_CASE("worker pool: one that adapts adds workers for handlers that wait, and stops") {
    constexpr int handlers = 16;
    std::deque<FunctionCall> calls;
    Dispatcher dispatcher;
    WorkerPool workers{dispatcher, core::system_clock(), {.least = 1, .most = handlers}};
    CHECK(workers.threads() == 1);
    std::latch all_running{handlers};
    std::latch done{handlers};
    std::vector<LanePtr> lanes;
    for (int i = 0; i < handlers; ++i) {
        lanes.push_back(dispatcher.make_lane(1));
        lanes.back()->push(calls.emplace_back([&] {
            all_running.arrive_and_wait(); // returns only if all run at once
            done.count_down();
            return Verdict::proceed;
        }));
    }
    dispatcher.flush();
    done.wait();
    CHECK(workers.threads() == handlers);
    CHECK(workers.stop(Deadline::never()) == 0);
    CHECK(workers.threads() == 0);
}

TEST_CASE("worker pool: the most of one that adapts may rise while work waits") {
    std::deque<FunctionCall> calls;
    Dispatcher dispatcher;
    WorkerPool workers{dispatcher, core::system_clock(), {.least = 1, .most = 1}};
    std::latch both{2};
    std::vector<LanePtr> lanes;
    for (int i = 0; i < 2; ++i) {
        lanes.push_back(dispatcher.make_lane(1));
        lanes.back()->push(calls.emplace_back([&] {
            both.arrive_and_wait();
            return Verdict::proceed;
        }));
    }
    dispatcher.flush();
    workers.set_most(2);
    both.wait();
    CHECK(workers.stop(Deadline::never()) == 0); // the handlers have left the latch
}

TEST_CASE("worker pool: one that adapts adds workers for tasks, too") {
    Dispatcher dispatcher;
    WorkerPool workers{dispatcher, core::system_clock(), {.least = 1, .most = 4}};
    std::latch all_running{4};
    std::latch done{4};
    for (int i = 0; i < 4; ++i) {
        workers.post([&] {
            all_running.arrive_and_wait();
            done.count_down();
        });
    }
    done.wait();
}

TEST_CASE("worker pool: R7: calls of one lane run at once up to its limit") {
    Pool pool{3};
    const LanePtr lane = pool.dispatcher.make_lane(3);
    std::latch all_running{3};
    std::latch done{3};
    for (int i = 0; i < 3; ++i) {
        lane->push(pool.call([&] {
            all_running.arrive_and_wait();
            done.count_down();
            return Verdict::proceed;
        }));
    }
    pool.dispatcher.flush();
    done.wait();
}

TEST_CASE("worker pool: R21: a task runs under its submitter's context, which is cleared after") {
    Pool pool{1};
    const OperationContext context{Deadline::at(TimePoint{std::chrono::hours{77}})};
    std::latch done{2};
    bool restored = false;
    bool clean = false;
    {
        const OperationContext::Scope scope{context};
        pool.workers.post([&] {
            restored = OperationContext::current().deadline() == context.deadline();
            done.count_down();
        });
    }
    pool.workers.post([&] {
        clean = OperationContext::current().is_clean();
        done.count_down();
    });
    done.wait();
    CHECK(restored);
    CHECK(clean);
}

TEST_CASE("worker pool: tasks run in the order of posting") {
    Pool pool{1};
    std::vector<int> order;
    std::latch done{100};
    for (int i = 0; i < 100; ++i) {
        pool.workers.post([&, i] {
            order.push_back(i);
            done.count_down();
        });
    }
    done.wait();
    CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("worker pool: survives and logs a task that throws") {
    std::latch logged{1};
    set_log_sink([&](const LogRecord& record) {
        if (record.level == LogLevel::error && record.component == "dispatch" &&
            record.text == "a task threw: on purpose") {
            logged.count_down();
        }
    });
    Pool pool{1};
    std::latch done{1};
    pool.workers.post([] { throw std::runtime_error{"on purpose"}; });
    pool.workers.post([&] { done.count_down(); });
    done.wait();
    logged.wait();
    set_log_sink({});
}

TEST_CASE("worker pool: R14: an endless stream of tasks does not keep calls from running") {
    Pool pool{1};
    const LanePtr lane = pool.dispatcher.make_lane(1);
    std::atomic<bool> enough{false};
    std::function<void()> again = [&] {
        if (!enough) {
            pool.workers.post([&] { again(); });
        }
    };
    again();
    std::latch done{100};
    for (int i = 0; i < 100; ++i) {
        lane->push(pool.call([&] {
            done.count_down();
            return Verdict::proceed;
        }));
    }
    pool.dispatcher.flush();
    done.wait();
    enough = true;
    CHECK(pool.workers.stop(Deadline::never()) == 0);
}

TEST_CASE("worker pool: R14: an endless stream of calls does not keep tasks from running") {
    Pool pool{1};
    const LanePtr lane = pool.dispatcher.make_lane(1);
    std::atomic<bool> enough{false};
    std::binary_semaphore ran{0};
    Call* endless = nullptr;
    endless = &pool.call([&] {
        if (!enough) {
            lane->push(*endless); // this worker is the lane's home thread for once
        } else {
            ran.release();
        }
        return Verdict::proceed;
    });
    lane->push(*endless);
    pool.dispatcher.flush();
    std::latch done{100};
    for (int i = 0; i < 100; ++i) {
        pool.workers.post([&] { done.count_down(); });
    }
    done.wait();
    enough = true;
    ran.acquire();
}

TEST_CASE(
    "worker pool: DG4: a call that makes more work is answered even while other workers sleep") {
    // The worker that pushes and flushes stays busy until another one answers.
    Pool pool{2};
    const LanePtr asking = pool.dispatcher.make_lane(1);
    const LanePtr answering = pool.dispatcher.make_lane(1);
    for (int round = 0; round < 200; ++round) {
        std::latch answered{1};
        std::latch done{1};
        asking->push(pool.call([&] {
            answering->push(pool.call([&] {
                answered.count_down();
                return Verdict::proceed;
            }));
            pool.dispatcher.flush();
            answered.wait();
            done.count_down();
            return Verdict::proceed;
        }));
        pool.dispatcher.flush();
        done.wait();
    }
}

TEST_CASE(
    "worker pool: R18: after stop nothing starts, and queued tasks are destroyed without running") {
    Pool pool{1};
    const LanePtr lane = pool.dispatcher.make_lane(1);
    std::latch started{1};
    std::latch go_on{1};
    std::atomic<int> ran{0};
    lane->push(pool.call([&] {
        started.count_down();
        go_on.wait();
        return Verdict::proceed;
    }));
    lane->push(pool.call([&] {
        ++ran;
        return Verdict::proceed;
    }));
    pool.dispatcher.flush();
    started.wait();
    auto witness = std::make_shared<int>(0);
    pool.workers.post([&ran, witness] { ++ran; });
    CHECK(pool.workers.stop(soon()) == 1);
    go_on.count_down();
    CHECK(pool.workers.stop(Deadline::never()) == 0);
    CHECK(witness.use_count() == 1);
    pool.workers.post([&ran, witness] { ++ran; });
    CHECK(witness.use_count() == 1);
    CHECK(ran == 0);
    CHECK(lane->waiting() == 1);
    CHECK(lane->active() == 0);
}

TEST_CASE("worker pool: R18: a handler that never returns does not block stop or the destructor") {
    // Shared with the stuck worker, as is everything that it may use when it comes back.
    struct Stuck {
        std::latch started{1};
        std::latch let_go{1};
        std::latch gone{1};
    };
    const auto stuck = std::make_shared<Stuck>();
    FunctionCall call{[stuck] {
        stuck->started.count_down();
        stuck->let_go.wait();
        stuck->gone.count_down();
        return Verdict::proceed;
    }};
    {
        auto dispatcher = std::make_unique<Dispatcher>();
        auto workers =
            std::make_unique<WorkerPool>(*dispatcher, core::system_clock(),
                                         WorkerBounds::exactly(2), std::chrono::milliseconds{1});
        LanePtr lane = dispatcher->make_lane(1);
        lane->push(call);
        dispatcher->flush();
        stuck->started.wait();
        CHECK(workers->stop(soon()) == 1);
        lane.reset();
        workers.reset(); // waits for stop_timeout
    }
    // The worker finishes its call in a lane and a dispatcher that nothing else owns.
    stuck->let_go.count_down();
    stuck->gone.wait();
}

TEST_CASE("worker pool: R18: stop may be called from inside a handler") {
    Pool pool{3};
    std::vector<LanePtr> lanes;
    std::latch done{2};
    std::atomic<unsigned> left{0};
    std::latch both{2};
    for (int i = 0; i < 2; ++i) { // two at once: they do not wait for one another
        lanes.push_back(pool.dispatcher.make_lane(1));
        lanes.back()->push(pool.call([&] {
            both.arrive_and_wait();
            left += pool.workers.stop(
                Deadline::after(std::chrono::minutes{10}, core::system_clock().now()));
            done.count_down();
            return Verdict::proceed;
        }));
    }
    pool.dispatcher.flush();
    done.wait();
    CHECK(pool.workers.stop(Deadline::never()) == 0);
}

TEST_CASE("worker pool: workers sleep without work and wake up for it") {
    Pool pool{3};
    const LanePtr lane = pool.dispatcher.make_lane(1);
    for (int round = 0; round < 2000; ++round) { // a lost wake-up would hang here
        std::latch done{1};
        if (round % 3 == 0) {
            pool.workers.post([&] { done.count_down(); });
        } else {
            pool.calls.clear();
            pool.call([&] {
                done.count_down();
                return Verdict::proceed;
            });
            lane->push(pool.calls.front());
            pool.dispatcher.flush();
        }
        done.wait();
    }
}

TEST_CASE("worker pool: a worker that was woken for a lane and takes a task wakes another one") {
    Pool pool{2};
    const LanePtr lane = pool.dispatcher.make_lane(1);
    std::binary_semaphore ran{0};
    std::binary_semaphore ended{0};
    Call& call = pool.call([&] {
        ran.release();
        return Verdict::proceed;
    });
    for (int round = 0; round < 500; ++round) {
        bool in_time = false;
        lane->push(call);
        pool.dispatcher.flush();
        pool.workers.post([&] {
            in_time = ran.try_acquire_for(std::chrono::seconds{5});
            ended.release();
        });
        ended.acquire();
        REQUIRE(in_time);
    }
}

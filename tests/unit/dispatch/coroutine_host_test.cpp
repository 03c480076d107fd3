// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <latch>
#include <mutex>
#include <utility>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/dispatch.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <sessionq/async.hpp>
#include <sessionq/error.hpp>

#include "dispatch/coroutine_host.hpp"
#include "dispatch/worker_pool.hpp"

using namespace sessionq;
using namespace sessionq::dispatch;

namespace {
static_assert(asio::execution::is_executor_v<detail::HandlerExecutor>);
static_assert(std::is_constructible_v<asio::any_io_executor, detail::HandlerExecutor>);

struct Pool {
    explicit Pool(unsigned threads, Dispatcher::Options options = {})
        : dispatcher{options},
          workers{dispatcher, core::system_clock(), WorkerBounds::exactly(threads)} {}

    Dispatcher dispatcher;
    WorkerPool workers;
    CoroutineHost host{workers};

    [[nodiscard]] detail::HandlerExecutor executor(OperationContext context) {
        return detail::HandlerExecutor{host.place(std::move(context), {}, {})};
    }
};

OperationContext numbered(int number) {
    return OperationContext{Deadline::at(TimePoint{std::chrono::hours{1000 + number}})};
}

bool is_current(int number) {
    return OperationContext::current().deadline() == numbered(number).deadline();
}

/// Where coroutines wait until the test resumes them. Stands for a slow peer.
class Shelf {
public:
    asio::awaitable<void> wait() {
        co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
            [this](auto resume) { put(std::move(resume)); }, asio::use_awaitable);
    }

    void wait_for(std::size_t count) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return waiting_.size() >= count; });
    }

    void resume_all() {
        std::vector<core::Task> resumed;
        {
            const std::lock_guard lock{mutex_};
            resumed.swap(waiting_);
        }
        for (core::Task& each : resumed) {
            each();
        }
    }

private:
    template <typename Resume>
    void put(Resume resume) {
        const std::lock_guard lock{mutex_};
        waiting_.emplace_back(
            [resume = std::move(resume)]() mutable { asio::dispatch(std::move(resume)); });
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<core::Task> waiting_;
};

/// A call whose handler is a coroutine, connected as in the processor.
class CoroutineCall final : public Call {
public:
    CoroutineCall(Pool& pool, Lane& lane, int number, std::latch& done,
                  asio::awaitable<void> (*handler)(Shelf&, int, std::atomic<int>&), Shelf& shelf,
                  std::atomic<int>& wrong)
        : pool_{pool},
          lane_{lane},
          number_{number},
          done_{done},
          handler_{handler},
          shelf_{shelf},
          wrong_{wrong} {}

    Verdict run() noexcept override {
        asio::co_spawn(pool_.executor(numbered(number_)), handler_(shelf_, number_, wrong_),
                       [this](const std::exception_ptr&) {
                           pool_.dispatcher.finish_suspended(lane_);
                           done_.count_down();
                       });
        return Verdict::suspended;
    }

private:
    Pool& pool_;
    Lane& lane_;
    int number_;
    std::latch& done_;
    asio::awaitable<void> (*handler_)(Shelf&, int, std::atomic<int>&);
    Shelf& shelf_;
    std::atomic<int>& wrong_;
};

asio::awaitable<void> wait_once(Shelf& shelf, int number, std::atomic<int>& wrong) {
    wrong += is_current(number) ? 0 : 1;
    co_await shelf.wait();
    wrong += is_current(number) ? 0 : 1;
}

} // namespace

TEST_CASE("coroutine host: equals its copies alone") {
    Pool one{1};
    Pool other{1};
    const detail::HandlerExecutor executor = one.executor(numbered(1));
    const detail::HandlerExecutor copy = executor;
    CHECK(executor == copy);
    CHECK_FALSE(executor != copy);
    CHECK(executor != one.executor(numbered(1)));
    CHECK(executor != other.executor(numbered(1)));
}

TEST_CASE("coroutine host: runs a coroutine on the workers") {
    Pool pool{1};
    std::latch done{1};
    bool on_worker = false;
    asio::co_spawn(
        pool.executor({}),
        [&]() -> asio::awaitable<void> {
            on_worker = pool.workers.on_worker_thread();
            co_return;
        },
        [&](const std::exception_ptr&) { done.count_down(); });
    done.wait();
    CHECK(on_worker);
}

TEST_CASE("coroutine host: passes an exception to the end of the coroutine") {
    std::exception_ptr thrown;
    {
        Pool pool{1};
        std::latch done{1};
        asio::co_spawn(
            pool.executor({}),
            []() -> asio::awaitable<void> {
                throw Error{Errc::handler_failed, "on purpose"};
                co_return;
            },
            [&](std::exception_ptr error) {
                thrown = std::move(error);
                done.count_down();
            });
        done.wait();
    }
    // The worker gave its own reference back before it ended. ThreadSanitizer does not see the
    // counter of an exception_ptr: it is inside the standard library.
    REQUIRE(thrown);
    CHECK_THROWS_WITH_AS(std::rethrow_exception(thrown), "a handler failed: on purpose", Error);
}

TEST_CASE("coroutine host: never runs a function inside execute") {
    Pool pool{1};
    std::latch done{1};
    bool inside = false;
    bool ran_inside = false;
    pool.workers.post([&] {
        inside = true;
        pool.executor({}).execute([&] {
            ran_inside = inside;
            done.count_down();
        });
        inside = false;
    });
    done.wait();
    CHECK_FALSE(ran_inside);
}

TEST_CASE("coroutine host: R21: each resumption runs under the coroutine's context, which is "
          "cleared after") {
    Pool pool{2};
    constexpr int coroutines = 40;
    constexpr int resumptions = 25;
    std::latch done{coroutines * (1 + resumptions)};
    std::atomic<int> wrong{0};
    std::atomic<int> unclean{0};
    for (int i = 0; i < coroutines; ++i) {
        asio::co_spawn(
            pool.executor(numbered(i)),
            [&, i]() -> asio::awaitable<void> {
                for (int n = 0; n < resumptions; ++n) {
                    wrong += is_current(i) ? 0 : 1;
                    co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
                }
            },
            [&, i](const std::exception_ptr&) {
                wrong += is_current(i) ? 0 : 1;
                done.count_down();
            });
        for (int n = 0; n < resumptions; ++n) { // in between, on the same workers
            pool.workers.post([&] {
                unclean += OperationContext::current().is_clean() ? 0 : 1;
                done.count_down();
            });
        }
    }
    done.wait();
    CHECK(wrong == 0);
    CHECK(unclean == 0);
}

TEST_CASE("coroutine host: a steady_timer works in a coroutine, under its context") {
    Pool pool{2};
    std::latch done{1};
    bool restored = false;
    bool on_worker = false;
    asio::co_spawn(
        pool.executor(numbered(7)),
        [&]() -> asio::awaitable<void> {
            asio::steady_timer timer{co_await asio::this_coro::executor,
                                     asio::steady_timer::time_point::min()};
            co_await timer.async_wait(asio::use_awaitable);
            restored = is_current(7);
            on_worker = pool.workers.on_worker_thread();
        },
        [&](const std::exception_ptr&) { done.count_down(); });
    done.wait();
    CHECK(restored);
    CHECK(on_worker);
}

TEST_CASE("coroutine host: thousands of handlers wait on two threads") {
    constexpr int sessions = 3000;
    Shelf shelf;
    std::atomic<int> wrong{0};
    std::latch done{2 * sessions};
    std::deque<CoroutineCall> calls;
    std::vector<LanePtr> lanes;
    Pool pool{2};
    for (int i = 0; i < sessions; ++i) {
        lanes.push_back(pool.dispatcher.make_lane(1));
        for (int n = 0; n < 2; ++n) {
            lanes.back()->push(
                calls.emplace_back(pool, *lanes.back(), 2 * i + n, done, &wait_once, shelf, wrong));
        }
    }
    pool.dispatcher.flush();
    shelf.wait_for(sessions);
    CHECK(pool.dispatcher.active_calls() == sessions);
    for (const LanePtr& lane : lanes) { // a session's second call waits for its first
        REQUIRE(lane->active() == 1);
        REQUIRE(lane->waiting() == 1);
    }
    shelf.resume_all();
    shelf.wait_for(sessions);
    shelf.resume_all();
    done.wait();
    CHECK(wrong == 0);
    CHECK(pool.workers.stop(Deadline::never()) == 0);
    CHECK(pool.dispatcher.active_calls() == 0);
}

TEST_CASE("coroutine host: R7: suspended handlers count against the cap over all lanes") {
    Shelf shelf;
    std::atomic<int> wrong{0};
    std::latch done{3};
    std::deque<CoroutineCall> calls;
    std::vector<LanePtr> lanes;
    Pool pool{2, {.max_calls = 2}};
    for (int i = 0; i < 3; ++i) {
        lanes.push_back(pool.dispatcher.make_lane(1));
        lanes.back()->push(
            calls.emplace_back(pool, *lanes.back(), i, done, &wait_once, shelf, wrong));
    }
    pool.dispatcher.flush();
    shelf.wait_for(2);
    CHECK(pool.dispatcher.active_calls() == 2);
    CHECK(pool.dispatcher.ready_lanes() == 1);
    shelf.resume_all();
    shelf.wait_for(1);
    shelf.resume_all();
    done.wait();
    CHECK(wrong == 0);
}

TEST_CASE("coroutine host: destroys coroutines that will never be resumed") {
    struct Witness {
        std::latch& gone;
        ~Witness() { gone.count_down(); }
    };
    std::latch gone{1};
    {
        Shelf shelf;
        Pool pool{1};
        asio::co_spawn(
            pool.executor({}),
            [&]() -> asio::awaitable<void> {
                const Witness witness{gone};
                co_await shelf.wait();
            },
            [](const std::exception_ptr&) {});
        shelf.wait_for(1);
        pool.workers.stop(Deadline::never());
        shelf.resume_all(); // rejected by the pool: the coroutine is destroyed without resuming
        CHECK(gone.try_wait());
    }
}

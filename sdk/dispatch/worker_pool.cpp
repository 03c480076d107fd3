// SPDX-License-Identifier: MIT
#include "dispatch/worker_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>

#include <pthread.h>

#include "core/log.hpp"
#include "dispatch/sleepers.hpp"
#include "dispatch/task_queue.hpp"
#include "dispatch/turn_instant.hpp"

namespace sessionq::dispatch {
namespace {

using Sleepers = BasicSleepers<ThreadSync>;

/// The pool that this thread works for, and whether the thread is running a task.
struct WorkerMark {
    const void* pool{nullptr};
    bool in_task{false};
};
thread_local WorkerMark this_worker;

/// Wakes workers for ready lanes. A task may make a lane ready, for example at the end of a
/// coroutine. Its worker then takes that lane itself, so one wake-up less is needed.
void wake_for_lanes(const void* pool, Sleepers& sleepers, std::size_t work) noexcept {
    const bool comes_itself = this_worker.in_task && this_worker.pool == pool;
    sleepers.wake(comes_itself ? work - 1 : work);
}

} // namespace

/// The state that workers share. Outlives the pool while a worker is stuck in a handler.
struct WorkerPool::State {
    State(const Dispatcher& from, const core::Clock& time, unsigned threads)
        : dispatcher{from}, clock{time}, finished(threads, false), running{threads} {}

    void work(std::size_t index);
    bool run_tasks();
    bool run_calls(Dispatcher::Turn& turn);
    void sleep_without_work();
    void wait_for_workers(Deadline deadline);

    Dispatcher dispatcher;
    const core::Clock& clock;
    TaskQueue tasks;
    // Shared with the dispatcher's wake function.
    std::shared_ptr<Sleepers> sleepers{std::make_shared<Sleepers>()};
    std::atomic<bool> stopping{false};

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<bool> finished; // guarded by mutex, as are the next two
    unsigned running;
    // Workers that called `stop` from a handler. They do not wait for one another.
    unsigned inside_stop{0};
};

void WorkerPool::State::work(std::size_t index) {
    pthread_setname_np(pthread_self(), "sessionq-work");
    this_worker.pool = this;
    Dispatcher::Turn turn;
    while (!stopping.load(std::memory_order_acquire)) {
        const bool ran_task = run_tasks();
        const bool ran_call = run_calls(turn);
        if (!ran_task && !ran_call) {
            sleep_without_work();
        }
    }
    {
        const std::lock_guard guard{mutex};
        finished[index] = true;
        --running;
        changed.notify_all();
    }
}

/// Runs at most a quantum of tasks, so that lanes get their turn. Returns false if there was none.
bool WorkerPool::State::run_tasks() {
    if (tasks.size() == 0) {
        return false;
    }
    const TimePoint began = clock.coarse_now();
    unsigned count = 0;
    do {
        const std::unique_ptr<TaskQueue::Entry> entry = tasks.pop();
        if (!entry) {
            break;
        }
        ++count;
        if (const std::size_t more = tasks.size(); more > 0) {
            sleepers->wake(more);
        }
        this_worker.in_task = true;
        try {
            const OperationContext::Scope scope{std::move(entry->context)};
            entry->task();
            entry->task = {}; // destroy its captures under its context too
        } catch (const std::exception& error) {
            core::log(LogLevel::error, "dispatch", "a task threw: ", error.what());
        } catch (...) {
            core::log(LogLevel::error, "dispatch",
                      "a task threw an exception that is not a std::exception");
        }
        this_worker.in_task = false;
    } while (count < dispatcher.options().quantum_calls &&
             !stopping.load(std::memory_order_relaxed) &&
             clock.coarse_now() - began < dispatcher.options().quantum_time);
    return count > 0;
}

/// Runs turns until no lane is ready or a task waits. Returns false if there was no call.
bool WorkerPool::State::run_calls(Dispatcher::Turn& turn) {
    TurnInstant::begin();
    Call* call = dispatcher.take(turn, clock.coarse_now());
    if (call == nullptr) {
        return false;
    }
    while (call != nullptr) {
        TurnInstant::next();
        const Verdict verdict = call->run();
        if (stopping.load(std::memory_order_relaxed)) {
            dispatcher.finish_last(turn, verdict);
            return true;
        }
        const TimePoint now = clock.coarse_now();
        call = tasks.size() > 0 ? dispatcher.finish_in_turn(turn, verdict, now)
                                : dispatcher.finish(turn, verdict, now);
    }
    return true;
}

void WorkerPool::State::sleep_without_work() {
    sleepers->announce();
    if (tasks.has_work() || dispatcher.has_work() || stopping.load(std::memory_order_acquire)) {
        sleepers->cancel();
    } else {
        sleepers->sleep();
    }
}

void WorkerPool::State::wait_for_workers(Deadline deadline) {
    const bool from_worker = this_worker.pool == this;
    std::unique_lock lock{mutex};
    inside_stop += from_worker ? 1 : 0;
    changed.notify_all();
    const auto quiet = [&] { return running == (from_worker ? inside_stop : 0); };
    if (deadline.is_never()) {
        changed.wait(lock, quiet);
    } else {
        changed.wait_until(lock, deadline.time(), quiet);
    }
    inside_stop -= from_worker ? 1 : 0;
}

WorkerPool::WorkerPool(Dispatcher& dispatcher, const core::Clock& clock, unsigned threads,
                       Duration stop_timeout)
    : stop_timeout_{stop_timeout} {
    if (threads == 0) {
        throw Error{Errc::invalid_option, "worker_threads is 0"};
    }
    state_ = std::make_shared<State>(dispatcher, clock, threads);
    dispatcher.set_wake(
        [pool = static_cast<const void*>(state_.get()),
         sleepers = state_->sleepers](std::size_t work) { wake_for_lanes(pool, *sleepers, work); });
    workers_.reserve(threads);
    try {
        for (unsigned i = 0; i < threads; ++i) {
            workers_.emplace_back([state = state_, i] { state->work(i); });
        }
    } catch (...) { // no more threads available: end those that started
        state_->stopping.store(true, std::memory_order_release);
        state_->sleepers->wake_all();
        for (std::thread& worker : workers_) {
            worker.join();
        }
        throw;
    }
}

WorkerPool::~WorkerPool() {
    stop(Deadline::after(stop_timeout_, core::system_clock().now()));
    for (std::thread& worker : workers_) {
        if (worker.joinable()) {
            worker.detach();
        }
    }
}

void WorkerPool::post(core::Task task) {
    if (state_->stopping.load(std::memory_order_acquire)) {
        return;
    }
    state_->tasks.push(std::move(task), OperationContext::current());
    state_->sleepers->wake(state_->tasks.size());
    // `stop` may have cleared the queue already
    if (state_->stopping.load(std::memory_order_acquire)) {
        state_->tasks.clear();
    }
}

unsigned WorkerPool::stop(Deadline deadline) {
    state_->stopping.store(true, std::memory_order_seq_cst);
    state_->sleepers->wake_all();
    state_->wait_for_workers(deadline);
    unsigned left = 0;
    {
        const std::lock_guard guard{state_->mutex};
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            if (state_->finished[i] && workers_[i].joinable()) {
                workers_[i].join();
            } else if (workers_[i].joinable() &&
                       workers_[i].get_id() != std::this_thread::get_id()) {
                ++left;
            }
        }
    }
    state_->tasks.clear();
    return left;
}

bool WorkerPool::on_worker_thread() const noexcept { return this_worker.pool == state_.get(); }

std::size_t WorkerPool::asleep() const noexcept { return state_->sleepers->asleep(); }

} // namespace sessionq::dispatch

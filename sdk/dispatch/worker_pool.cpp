// SPDX-License-Identifier: MIT
#include "dispatch/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include <pthread.h>

#include "core/log.hpp"
#include "core/processor_time.hpp"
#include "dispatch/sleepers.hpp"
#include "dispatch/work_loop.hpp"

namespace sessionq::dispatch {
namespace {

using Sleepers = BasicSleepers<ThreadSync>;

} // namespace

/// The need of a pool for more workers, for the thread that adds them.
class WorkerNeed {
public:
    // Either the one that tells finds that it is awaited, or the one that waits sees the work: both
    // write the same variable between.

    /// Work waits, and was published before. No effect but if the other thread waits for that.
    void tell() noexcept {
        if (is_awaited_.exchange(false, std::memory_order_acq_rel)) {
            told_.release();
        }
    }

    /// Waits until it is told, unless `there` says that it need not wait.
    template <typename There>
    void wait(There there) noexcept {
        is_awaited_.exchange(true, std::memory_order_acq_rel);
        if (!there() || !is_awaited_.exchange(false, std::memory_order_acq_rel)) {
            told_.acquire();
        }
    }

private:
    std::atomic<bool> is_awaited_{false};
    Semaphore told_{};
};

/// Shared by the dispatcher's wake function and the pool.
struct WorkerAlarm {
    const bool has_need; ///< The pool may add workers.
    Sleepers sleepers{};
    WorkerNeed need{};

    explicit WorkerAlarm(bool with_need) noexcept : has_need{with_need} {}

    void wake(std::size_t work) noexcept {
        sleepers.wake(work);
        if (has_need && work > 0 && sleepers.asleep() == 0) {
            need.tell();
        }
    }
};

/// The state that workers share. Outlives the pool while a worker is stuck in a handler.
struct WorkerPool::State final : WorkLoop {
    struct Worker {
        std::thread thread{};
        bool finished{false};
    };

    State(const Dispatcher& from, const core::Clock& time, WorkerBounds bounds)
        : WorkLoop{from, time},
          least{bounds.least},
          most{bounds.most},
          alarm{std::make_shared<WorkerAlarm>(bounds.adapts)} {}

    /// On a thread of its own. Returns at the end of that thread.
    void work(Worker& self);
    void wake(std::size_t work) override { alarm->wake(work); }
    /// False: there was no work for long, and the worker is one too many.
    bool sleep_without_work(Worker& self);
    void finish(Worker& self);
    void wait_for_workers(Deadline deadline);

    /// Starts workers and joins those that have ended. Throws if the system has no more threads.
    static void add_workers(const std::shared_ptr<State>& state, unsigned number);
    static void join_ended(const std::shared_ptr<State>& state);
    static void add_while_needed(const std::shared_ptr<State>& state);
    static void add_as_needed(const std::shared_ptr<State>& state);

    const unsigned least;
    std::atomic<unsigned> most;
    // Shared with the dispatcher's wake function.
    const std::shared_ptr<WorkerAlarm> alarm;

    std::mutex mutex;
    std::condition_variable changed;
    std::list<Worker> workers; // guarded by mutex, as are the next three
    std::thread crew;          ///< adds workers, if the pool may
    unsigned running{0};
    // Workers that called `stop` from a handler. They do not wait for one another.
    unsigned inside_stop{0};
};

void WorkerPool::State::work(Worker& self) {
    pthread_setname_np(pthread_self(), "sessionq-work");
    this_worker().workers = this;
    Dispatcher::Turn turn;
    while (!stopping.load(std::memory_order_acquire)) {
        const bool ran_task = run_tasks();
        const bool ran_call = run_calls(turn);
        if (!ran_task && !ran_call && !sleep_without_work(self)) {
            return;
        }
    }
    const std::lock_guard guard{mutex};
    finish(self);
}

/// Under the mutex.
void WorkerPool::State::finish(Worker& self) {
    self.finished = true;
    --running;
    changed.notify_all();
}

bool WorkerPool::State::sleep_without_work(Worker& self) {
    Sleepers& sleepers = alarm->sleepers;
    sleepers.announce();
    if (has_work() || stopping.load(std::memory_order_acquire)) {
        sleepers.cancel();
        return true;
    }
    if (!alarm->has_need) {
        sleepers.sleep();
        return true;
    }
    if (sleepers.sleep_within(idle_life)) {
        return true;
    }
    const std::lock_guard guard{mutex};
    if (running <= least || stopping.load(std::memory_order_acquire) || has_work()) {
        return true;
    }
    finish(self);
    return false;
}

void WorkerPool::State::add_workers(const std::shared_ptr<State>& state, unsigned number) {
    const std::lock_guard guard{state->mutex};
    if (state->stopping.load(std::memory_order_acquire)) {
        return;
    }
    for (; number > 0; --number) {
        Worker& added = state->workers.emplace_back();
        try {
            added.thread = std::thread{[state, &added] { state->work(added); }};
        } catch (...) {
            state->workers.pop_back();
            throw;
        }
        ++state->running;
    }
}

/// Under no lock: a worker that has finished may still hold it.
void WorkerPool::State::join_ended(const std::shared_ptr<State>& state) {
    std::list<Worker> ended;
    {
        const std::lock_guard guard{state->mutex};
        for (auto each = state->workers.begin(); each != state->workers.end();) {
            const auto next = std::next(each);
            if (each->finished) {
                ended.splice(ended.end(), state->workers, each);
            }
            each = next;
        }
    }
    for (Worker& each : ended) {
        each.thread.join();
    }
}

/// Looks again and again while work waits.
void WorkerPool::State::add_while_needed(const std::shared_ptr<State>& state) {
    WorkerDemand demand{std::max(1U, std::thread::hardware_concurrency())};
    demand.begin(state->clock.now(), core::processor_time());
    Duration pause = WorkerDemand::look_again;
    while (!state->stopping.load(std::memory_order_acquire)) {
        std::unique_lock lock{state->mutex};
        state->changed.wait_for(lock, pause, [&] { return state->stopping.load(); });
        const unsigned workers = state->running;
        lock.unlock();
        if (!state->has_work() || state->alarm->sleepers.asleep() > 0) {
            return;
        }
        const unsigned more = demand.more({.now = state->clock.now(),
                                           .processor_time = core::processor_time(),
                                           .workers = workers,
                                           .waiting = state->waiting()},
                                          state->most.load(std::memory_order_relaxed));
        add_workers(state, more);
        pause = more > 0 ? WorkerDemand::look_again : WorkerDemand::look_later;
    }
}

/// The body of the thread that adds workers.
void WorkerPool::State::add_as_needed(const std::shared_ptr<State>& state) {
    pthread_setname_np(pthread_self(), "sessionq-crew");
    while (!state->stopping.load(std::memory_order_acquire)) {
        state->alarm->need.wait([&] {
            return state->stopping.load(std::memory_order_acquire) ||
                   (state->alarm->sleepers.asleep() == 0 && state->has_work());
        });
        join_ended(state);
        try {
            add_while_needed(state);
        } catch (const std::system_error& error) { // those that are there go on
            core::log(LogLevel::warning, "dispatch",
                      "no more workers can be started: ", error.what());
        }
    }
}

void WorkerPool::State::wait_for_workers(Deadline deadline) {
    const bool from_worker = this_worker().workers == this;
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

WorkerPool::WorkerPool(Dispatcher& dispatcher, const core::Clock& clock, WorkerBounds bounds,
                       Duration stop_timeout)
    : stop_timeout_{stop_timeout} {
    if (bounds.least == 0) {
        throw Error{Errc::invalid_option, "worker_threads is 0"};
    }
    state_ = std::make_shared<State>(dispatcher, clock, bounds);
    dispatcher.set_wake([pool = static_cast<const void*>(state_.get()), alarm = state_->alarm](
                            std::size_t lanes) { alarm->wake(wakes_for_lanes(pool, lanes)); });
    try {
        State::add_workers(state_, bounds.least);
        if (bounds.adapts) {
            state_->crew = std::thread{[state = state_] { State::add_as_needed(state); }};
        }
    } catch (...) { // no more threads available: end those that started
        stop(Deadline::never());
        throw;
    }
}

WorkerPool::~WorkerPool() {
    stop(Deadline::after(stop_timeout_, core::system_clock().now()));
    const std::lock_guard guard{state_->mutex};
    for (State::Worker& worker : state_->workers) {
        if (worker.thread.joinable()) {
            worker.thread.detach();
        }
    }
}

void WorkerPool::post(core::Task task) {
    if (state_->stopping.load(std::memory_order_acquire)) {
        return;
    }
    state_->tasks.push(std::move(task), OperationContext::current());
    state_->alarm->wake(state_->tasks.size());
    // `stop` may have cleared the queue already
    if (state_->stopping.load(std::memory_order_acquire)) {
        state_->tasks.clear();
    }
}

unsigned WorkerPool::stop(Deadline deadline) {
    state_->stopping.store(true, std::memory_order_seq_cst);
    state_->alarm->sleepers.wake_all();
    std::thread crew;
    {
        const std::lock_guard guard{state_->mutex};
        crew.swap(state_->crew);
        state_->changed.notify_all();
    }
    if (crew.joinable()) {
        state_->alarm->need.tell();
        crew.join();
    }
    state_->wait_for_workers(deadline);
    unsigned left = 0;
    {
        const std::lock_guard guard{state_->mutex};
        for (State::Worker& worker : state_->workers) {
            if (worker.finished && worker.thread.joinable()) {
                worker.thread.join();
            } else if (worker.thread.joinable() &&
                       worker.thread.get_id() != std::this_thread::get_id()) {
                ++left;
            }
        }
    }
    state_->tasks.clear();
    return left;
}

void WorkerPool::set_most(unsigned most) noexcept {
    state_->most.store(std::max(most, state_->least), std::memory_order_relaxed);
    state_->alarm->need.tell();
}

bool WorkerPool::on_worker_thread() const noexcept { return this_worker().workers == state_.get(); }

unsigned WorkerPool::threads() const {
    const std::lock_guard guard{state_->mutex};
    return state_->running;
}

std::size_t WorkerPool::asleep() const noexcept { return state_->alarm->sleepers.asleep(); }

} // namespace sessionq::dispatch

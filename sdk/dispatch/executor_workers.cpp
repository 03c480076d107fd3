// SPDX-License-Identifier: MIT
#include "dispatch/executor_workers.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>

#include "core/access.hpp"
#include "core/log.hpp"
#include "dispatch/turn_instant.hpp"
#include "dispatch/work_count.hpp"
#include "dispatch/work_loop.hpp"

namespace sessionq::dispatch {
namespace {

/// A call of `HandlerExecutor::execute` on this thread. It notes a wrong use of works meanwhile.
class Submission {
public:
    explicit Submission(const void* workers) noexcept
        : workers_{workers}, outer_{std::exchange(here(), this)} {}
    ~Submission() { here() = outer_; }
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;

    /// The innermost one of this thread. Null: there is none.
    [[nodiscard]] static Submission*& here() noexcept {
        constinit thread_local Submission* innermost{nullptr};
        return innermost;
    }
    /// Whether this thread calls the executor of `workers` now, and that is the innermost call.
    [[nodiscard]] static bool is_of(const void* workers) noexcept {
        return here() != nullptr && here()->workers_ == workers;
    }

    /// The words of what went wrong. Null: nothing.
    const char* fault{nullptr};

private:
    const void* workers_;
    Submission* outer_;
};

constexpr const char* work_dropped = "a work was destroyed and was not run";
constexpr const char* work_ran_inside = "a work was run within execute";

} // namespace

/// The state that works share. It outlives the workers while the executor has works.
struct ExecutorWorkers::State final : WorkLoop,
                                      detail::WorkSource,
                                      std::enable_shared_from_this<State> {
    State(const Dispatcher& from, const core::Clock& time, std::weak_ptr<HandlerExecutor> runs,
          unsigned at_once, Failed tell, Duration rest)
        : WorkLoop{from, time},
          executor{std::move(runs)},
          most{at_once},
          failed{std::move(tell)},
          rest_time{rest} {}

    void wake(std::size_t work) override;
    void run_work() noexcept override;
    void drop_work() noexcept override;

    /// Gives the executor a work, which is counted already. Returns false if the executor failed.
    bool submit();
    [[nodiscard]] std::string execute();
    void run_quantum();
    /// The executor failed. It gets no work for a while.
    void rest(std::string why);
    /// The body of the thread that tells of failures and looks again.
    void retry();
    /// Returns how many works still run, without the one that calls.
    [[nodiscard]] std::size_t wait_for_works(Deadline deadline);

    const std::weak_ptr<HandlerExecutor> executor;
    /// More of them would only wait.
    const std::size_t most_waiting{std::max(1U, std::thread::hardware_concurrency())};
    std::atomic<unsigned> most;
    const Failed failed;
    const Duration rest_time;
    BasicWorkCount<ThreadSync> count{};
    std::atomic<unsigned> submitting{0}; ///< calls of the executor
    std::atomic<bool> is_failing{false}; ///< a failure was told, and no work has run since

    std::mutex mutex{};
    std::condition_variable changed{};
    std::thread retrier{};  // guarded by mutex, as are the next three
    bool has_failed{false}; // for the retrier
    std::string fault{};
    // Works that called `stop` from a handler. They do not wait for one another.
    std::size_t inside_stop{0};
};

void ExecutorWorkers::State::wake(std::size_t work) {
    const std::size_t wanted = std::min(work, most_waiting);
    // At most so many, although others begin meanwhile: those wake for the rest.
    for (std::size_t more = wanted; more > 0 && count.add(wanted, most.load()); --more) {
        if (!submit()) {
            return;
        }
    }
}

bool ExecutorWorkers::State::submit() {
    submitting.fetch_add(1);
    std::string why;
    if (stopping.load()) {
        count.drop();
    } else {
        why = execute();
    }
    submitting.fetch_sub(1);
    if (stopping.load()) { // either this sees it, or `stop` sees no submission
        const std::lock_guard guard{mutex};
        changed.notify_all();
    } else if (!why.empty()) {
        rest(std::move(why));
        return false;
    }
    return true;
}

/// Returns why the executor failed. Empty: it did not.
std::string ExecutorWorkers::State::execute() {
    const std::shared_ptr<HandlerExecutor> runs = executor.lock();
    if (runs == nullptr) { // the workers are being destroyed
        count.drop();
        return {};
    }
    const Submission submission{static_cast<const WorkLoop*>(this)};
    try {
        runs->execute(detail::client::Access::make<HandlerWork>(
            std::shared_ptr<detail::WorkSource>{shared_from_this()}));
    } catch (const std::exception& error) {
        return std::string{"execute threw: "} + error.what();
    } catch (...) {
        return "execute threw an exception that is not a std::exception";
    }
    return submission.fault == nullptr ? std::string{} : submission.fault;
}

void ExecutorWorkers::State::run_work() noexcept {
    if (Submission::here() != nullptr) { // perhaps a receive thread, where no handler may run
        count.drop();
        if (Submission::is_of(static_cast<const WorkLoop*>(this))) {
            Submission::here()->fault = work_ran_inside;
        } else {
            rest(work_ran_inside);
        }
        return;
    }
    count.begin();
    if (!stopping.load()) { // either this sees it, or `stop` waits for this work
        is_failing.store(false, std::memory_order_relaxed);
        const WorkerMark outer =
            std::exchange(this_worker(), {.workers = static_cast<const WorkLoop*>(this)});
        run_quantum();
        this_worker() = outer;
        TurnInstant::leave();
    }
    count.end();
    if (stopping.load()) {
        const std::lock_guard guard{mutex};
        changed.notify_all();
    } else if (has_work()) {
        wake(1);
    }
}

void ExecutorWorkers::State::run_quantum() {
    Dispatcher::Turn turn;
    const TimePoint until = clock.coarse_now() + dispatcher.options().quantum_time;
    bool ran = true;
    while (ran && !stopping.load(std::memory_order_relaxed)) {
        const bool ran_task = run_tasks();
        const bool ran_call = run_calls(turn, until);
        ran = (ran_task || ran_call) && clock.coarse_now() < until;
    }
}

void ExecutorWorkers::State::drop_work() noexcept {
    count.drop();
    if (Submission::is_of(static_cast<const WorkLoop*>(this))) {
        Submission::here()->fault = work_dropped;
    } else {
        rest(work_dropped);
    }
}

void ExecutorWorkers::State::rest(std::string why) {
    const std::lock_guard guard{mutex};
    if (stopping.load()) {
        return;
    }
    count.rest();
    has_failed = true;
    fault = std::move(why);
    if (!retrier.joinable()) {
        try {
            retrier = std::thread{[self = shared_from_this()] { self->retry(); }};
        } catch (const std::system_error& error) { // then the next work that is ready tries again
            core::log(LogLevel::error, "dispatch",
                      "the thread that tries the executor again cannot be started: ", error.what(),
                      "; the executor failed: ", fault);
            has_failed = false;
            count.go_on();
        }
    }
    changed.notify_all();
}

void ExecutorWorkers::State::retry() {
    pthread_setname_np(pthread_self(), "sessionq-retry");
    std::unique_lock lock{mutex};
    const auto must_stop = [this] { return stopping.load(); };
    for (;;) {
        changed.wait(lock, [&] { return must_stop() || has_failed; });
        if (must_stop()) {
            return;
        }
        has_failed = false;
        std::string why = std::exchange(fault, {});
        lock.unlock();
        if (!is_failing.exchange(true)) {
            failed(std::move(why));
        }
        lock.lock();
        changed.wait_for(lock, rest_time, must_stop);
        lock.unlock();
        count.go_on();
        if (!must_stop() && has_work()) {
            wake(std::max<std::size_t>(waiting(), 1));
        }
        lock.lock();
    }
}

std::size_t ExecutorWorkers::State::wait_for_works(Deadline deadline) {
    const bool from_worker = this_worker().workers == static_cast<const WorkLoop*>(this);
    const unsigned from_execute = Submission::is_of(static_cast<const WorkLoop*>(this)) ? 1 : 0;
    std::unique_lock lock{mutex};
    inside_stop += from_worker ? 1 : 0;
    changed.notify_all();
    const auto quiet = [&] {
        return count.running() == (from_worker ? inside_stop : 0) &&
               submitting.load() == from_execute;
    };
    bool is_quiet = true;
    if (deadline.is_never()) {
        changed.wait(lock, quiet);
    } else {
        is_quiet = changed.wait_until(lock, deadline.time(), quiet);
    }
    inside_stop -= from_worker ? 1 : 0;
    // A work that begins now counts for a moment and runs nothing.
    return is_quiet ? inside_stop : count.running() - (from_worker ? 1 : 0);
}

ExecutorWorkers::ExecutorWorkers(Dispatcher& dispatcher, const core::Clock& clock,
                                 std::shared_ptr<HandlerExecutor> executor, unsigned most,
                                 Failed failed, Waits waits)
    : executor_{std::move(executor)},
      stop_wait_{waits.stop},
      state_{std::make_shared<State>(dispatcher, clock, executor_, most, std::move(failed),
                                     waits.rest)} {
    dispatcher.set_wake([state = std::weak_ptr{state_}](std::size_t lanes) {
        if (const auto there = state.lock()) {
            there->wake(wakes_for_lanes(static_cast<const WorkLoop*>(there.get()), lanes));
        }
    });
}

ExecutorWorkers::~ExecutorWorkers() {
    stop(Deadline::after(stop_wait_, core::system_clock().now()));
}

void ExecutorWorkers::post(core::Task task) {
    if (state_->stopping.load()) {
        return;
    }
    state_->tasks.push(std::move(task), OperationContext::current());
    state_->wake(state_->tasks.size());
    // `stop` may have cleared the queue already
    if (state_->stopping.load()) {
        state_->tasks.clear();
    }
}

unsigned ExecutorWorkers::stop(Deadline deadline) {
    state_->stopping.store(true);
    std::thread retrier;
    {
        const std::lock_guard guard{state_->mutex};
        retrier.swap(state_->retrier);
        state_->changed.notify_all();
    }
    if (retrier.get_id() == std::this_thread::get_id()) {
        retrier.detach();
    } else if (retrier.joinable()) {
        retrier.join();
    }
    const std::size_t left = state_->wait_for_works(deadline);
    state_->tasks.clear();
    return static_cast<unsigned>(left);
}

void ExecutorWorkers::set_most(unsigned most) noexcept {
    state_->most.store(most);
    if (state_->has_work()) {
        state_->wake(std::max<std::size_t>(state_->waiting(), 1));
    }
}

bool ExecutorWorkers::on_worker_thread() const noexcept {
    return this_worker().workers == static_cast<const WorkLoop*>(state_.get());
}

std::optional<WorksOut> ExecutorWorkers::works() const noexcept {
    return WorksOut{.waiting = state_->count.waiting(), .running = state_->count.running()};
}

} // namespace sessionq::dispatch

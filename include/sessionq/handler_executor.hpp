// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include <sessionq/detail/work_source.hpp>

namespace sessionq::detail::client {
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// A turn of a worker, which a processor gives to a `HandlerExecutor`. It is no particular message:
/// it runs the handlers and other callbacks that are ready when it runs, one after another. It may
/// find none. When it has run for 5 ms and more are ready, it ends after the handlers that it is
/// in, and the processor gives the executor another one.
///
/// Example: a pool that takes a `std::function`, which must be copyable.
///
///     std::function<void(std::function<void()>)> submit;
///     const auto execute = [submit](HandlerWork work) {
///         submit([work = std::make_shared<HandlerWork>(std::move(work))] { (*work)(); });
///     };
///
/// Run it once, on any thread, but not within `HandlerExecutor::execute`. One that is destroyed and
/// was not run is *dropped*. `HandlerExecutor` says what follows. Both may happen at any time, also
/// after the processor is gone. Then they have no effect.
///
/// Thread safety: distinct objects are safe.
class HandlerWork {
public:
    HandlerWork(HandlerWork&& other) noexcept = default;
    HandlerWork& operator=(HandlerWork&& other) noexcept {
        if (this != &other) {
            const HandlerWork old{std::move(*this)}; // dropped if it was not run
            source_ = std::move(other.source_);
        }
        return *this;
    }
    HandlerWork(const HandlerWork&) = delete;
    HandlerWork& operator=(const HandlerWork&) = delete;
    ~HandlerWork() {
        if (source_ != nullptr) {
            source_->drop_work();
        }
    }

    /// Runs the work. It catches the exceptions of handlers. No effect if it was run before, or
    /// moved from.
    void operator()() noexcept {
        if (const std::shared_ptr<detail::WorkSource> source = std::exchange(source_, nullptr)) {
            source->run_work();
        }
    }

private:
    friend struct detail::client::Access;

    explicit HandlerWork(std::shared_ptr<detail::WorkSource> source) noexcept
        : source_{std::move(source)} {}

    std::shared_ptr<detail::WorkSource> source_; ///< null: run or moved from
};

/// Runs the handlers of processors on threads of the application, instead of the processor's own
/// workers: `SessionProcessorOptions::executor` and `ProcessorOptions::executor`. Derive from it.
///
/// Example: a queue that the threads of the application serve.
///
///     class Works final : public HandlerExecutor {
///     public:
///         void execute(HandlerWork work) override {
///             const std::lock_guard lock{mutex_};
///             works_.push_back(std::move(work));
///             changed_.notify_one();
///         }
///         // The body of each thread. It never ends.
///         void serve() {
///             for (std::unique_lock lock{mutex_};;) {
///                 changed_.wait(lock, [this] { return !works_.empty(); });
///                 HandlerWork work = std::move(works_.front());
///                 works_.pop_front();
///                 lock.unlock();
///                 work();
///                 lock.lock();
///             }
///         }
///
///     private:
///         std::mutex mutex_{};
///         std::condition_variable changed_{};
///         std::deque<HandlerWork> works_{};
///     };
///     const auto works = std::make_shared<Works>();
///     std::thread{[works] { works->serve(); }}.detach();
///     SessionProcessor on_works{client, "orders", {.executor = works}};
///
/// Number: as many works run at once as the executor has threads for them, but no more than
/// handlers may run at once (`max_concurrent_calls` and the limits of sessions). Of those that wait
/// to run, the executor has no more than the machine has processors.
///
/// Failures: if `execute` throws, or if a work is dropped, nothing is lost. The messages wait
/// behind their handlers, and their locks are renewed. The processor gives the executor no work for
/// 100 ms, and then tries again. `on_error` is told (`ErrorSource::executor`), and again only after
/// another work has run. If no work runs for `HealthBounds::workers_busy`, the health says so. A
/// stop returns messages that no handler started, also while their works wait in the executor.
///
/// Stop: it waits for handlers that run, and not for works that wait. But `on_session_close` needs
/// a work. Until it has run, or until the timeout, the stop is not complete.
///
/// Lifetimes: the processor keeps the executor until the processor is destroyed and its last
/// handler has returned. From then on it calls `execute` no more. If that is on a thread of the
/// executor and nobody else keeps the executor, its destructor runs there. So keep it elsewhere,
/// too, if its destructor waits for its threads.
///
/// Thread safety: several threads call `execute` at once.
class HandlerExecutor {
public:
    HandlerExecutor() = default;
    virtual ~HandlerExecutor() = default;
    HandlerExecutor(const HandlerExecutor&) = delete;
    HandlerExecutor& operator=(const HandlerExecutor&) = delete;

    /// Takes a work, which runs soon on another thread, or on this thread after the return. Called
    /// on any thread, also on the client's receive threads. So it must return soon: it must not
    /// wait for a work, and must not call the processor. A work that is run within `execute` runs
    /// nothing, and counts as dropped. If it throws, the processor tries again after 100 ms.
    virtual void execute(HandlerWork work) = 0;
};

} // namespace sessionq::inline v1

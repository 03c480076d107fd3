// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include <sessionq/deadline.hpp>

#include "core/clock.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/worker_demand.hpp"
#include "dispatch/workers.hpp"

namespace sessionq::dispatch {

/// The threads that run the dispatcher's calls, and tasks such as resumed coroutines (`WorkLoop`).
/// Handlers run only here. Sleeping workers cost nothing.
///
/// Thread-safe, except for destruction.
class WorkerPool final : public Workers {
public:
    /// How long a worker beyond the least sleeps before it ends.
    static constexpr Duration idle_life = std::chrono::seconds{10};

    /// Starts the least number of workers, named "sessionq-work". Throws `invalid_option` if that
    /// is 0. From now on `dispatcher` wakes these workers. If the pool adapts, a thread named
    /// "sessionq-crew" adds workers as `WorkerDemand` decides. `clock` must outlive every worker.
    /// `stop_timeout` is how long the destructor waits.
    WorkerPool(Dispatcher& dispatcher, const core::Clock& clock, WorkerBounds bounds,
               Duration stop_timeout = std::chrono::seconds{2});

    /// Stops the pool and waits up to `stop_timeout`. A worker whose handler has not returned by
    /// then is detached and ends when the handler does.
    ~WorkerPool() override;
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Runs `task` on a worker and logs its exceptions. After `stop`, destroys the task inside this
    /// call without running it.
    void post(core::Task task) override;

    unsigned stop(Deadline deadline) override;

    /// Changes the upper bound of a pool that adapts. Workers beyond it end when they are idle.
    void set_most(unsigned most) noexcept override;

    [[nodiscard]] bool on_worker_thread() const noexcept override;

    /// The number of workers that there are now.
    [[nodiscard]] unsigned threads() const;

    /// The number of workers that sleep now.
    [[nodiscard]] std::size_t asleep() const noexcept;

private:
    struct State;

    Duration stop_timeout_;
    std::shared_ptr<State> state_;
};

} // namespace sessionq::dispatch

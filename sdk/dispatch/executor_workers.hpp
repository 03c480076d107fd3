// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sessionq/deadline.hpp>
#include <sessionq/handler_executor.hpp>

#include "core/clock.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/workers.hpp"

namespace sessionq::dispatch {

/// Workers that are works of an application's executor. A work runs what is ready, for a quantum of
/// time at most (`WorkLoop`). If more is ready then, the executor gets another work.
///
/// Few works wait in the executor. Each one that begins asks for the next one if work is left. So
/// there are soon as many as the executor has threads for them. If the executor fails, it rests. A
/// thread named "sessionq-retry", which the first failure starts, tells that and looks again.
///
/// Thread-safe, except for destruction.
class ExecutorWorkers final : public Workers {
public:
    /// Gets the reason of a failure of the executor, on a thread of its own. It is called for the
    /// first one since a work has run.
    using Failed = std::function<void(std::string why)>;

    /// How long an executor that failed gets no work, and how long the destructor waits.
    struct Waits {
        Duration rest{std::chrono::milliseconds{100}};
        Duration stop{std::chrono::seconds{2}};
    };

    /// From now on `dispatcher` gives its work to `executor`, at most `most` works at once. `clock`
    /// must outlive every work that runs.
    ExecutorWorkers(Dispatcher& dispatcher, const core::Clock& clock,
                    std::shared_ptr<HandlerExecutor> executor, unsigned most, Failed failed,
                    Waits waits);

    /// Stops, and waits up to `Waits::stop`. A handler that has not returned by then goes on.
    ~ExecutorWorkers() override;
    ExecutorWorkers(const ExecutorWorkers&) = delete;
    ExecutorWorkers& operator=(const ExecutorWorkers&) = delete;

    /// Runs `task` in a work and logs its exceptions. After `stop`, destroys the task inside this
    /// call without running it.
    void post(core::Task task) override;

    /// Works that wait in the executor are not waited for: they run nothing any more. Once it has
    /// returned, `HandlerExecutor::execute` is not called.
    unsigned stop(Deadline deadline) override;

    void set_most(unsigned most) noexcept override;

    [[nodiscard]] bool on_worker_thread() const noexcept override;

    [[nodiscard]] std::optional<WorksOut> works() const noexcept override;

private:
    struct State;

    // Works hold the state, and the executor holds works. So the state does not hold the executor.
    const std::shared_ptr<HandlerExecutor> executor_;
    const Duration stop_wait_;
    std::shared_ptr<State> state_;
};

} // namespace sessionq::dispatch

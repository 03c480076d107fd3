// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>

#include <sessionq/time.hpp>

#include "core/clock.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/task_queue.hpp"

namespace sessionq::dispatch {

/// The workers that this thread is one of, and whether it is running a task of theirs.
struct WorkerMark {
    const void* workers{nullptr};
    bool in_task{false};
};
[[nodiscard]] WorkerMark& this_worker() noexcept;

/// The work that workers share: the calls of ready lanes, and tasks. A worker alternates between
/// the two, a quantum each, so that neither starves the other. It may outlive the `Workers`, while
/// one of them is stuck in a handler.
class WorkLoop {
public:
    WorkLoop(const Dispatcher& from, const core::Clock& time) : dispatcher{from}, clock{time} {}
    WorkLoop(const WorkLoop&) = delete;
    WorkLoop& operator=(const WorkLoop&) = delete;

    /// Wakes workers for so much work.
    virtual void wake(std::size_t work) = 0;

    /// Runs at most a quantum of tasks. Returns false if there was none.
    bool run_tasks();
    /// Runs turns of lanes until no lane is ready or a task waits. The turn in which `until` comes
    /// is the last one. Returns false if there was no call.
    bool run_calls(Dispatcher::Turn& turn, TimePoint until = TimePoint::max());

    [[nodiscard]] bool has_work() { return tasks.has_work() || dispatcher.has_work(); }
    /// About how many lanes and tasks wait.
    [[nodiscard]] std::size_t waiting() const { return dispatcher.ready_lanes() + tasks.size(); }

    Dispatcher dispatcher;
    const core::Clock& clock;
    TaskQueue tasks{};
    std::atomic<bool> stopping{false};

protected:
    ~WorkLoop() = default;
};

/// How many workers to wake for so many ready lanes. A task may make a lane ready, for example at
/// the end of a coroutine. Its worker then takes that lane itself, so one wake-up less is needed.
[[nodiscard]] std::size_t wakes_for_lanes(const void* workers, std::size_t lanes) noexcept;

} // namespace sessionq::dispatch

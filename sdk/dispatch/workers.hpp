// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

#include <sessionq/deadline.hpp>

#include "core/executor.hpp"

namespace sessionq::dispatch {

/// The works that an application's executor has and that have not ended.
struct WorksOut {
    std::size_t waiting{0}; ///< They have not begun.
    std::size_t running{0};
};

/// The workers of a processor. They run the calls of a dispatcher, and tasks: threads of their own
/// (`WorkerPool`), or works of an application's executor (`ExecutorWorkers`).
///
/// Thread-safe, except for destruction.
class Workers : public core::Executor {
public:
    /// Starts nothing more: calls stay in their lanes, and queued tasks are destroyed without
    /// running. Waits for running handlers, but not beyond the deadline. Returns how many workers
    /// are still in a handler, except the calling one. May be called again, also from inside a
    /// handler.
    virtual unsigned stop(Deadline deadline) = 0;

    /// Changes how many workers there may be.
    virtual void set_most(unsigned most) noexcept = 0;

    /// Whether the caller is one of these workers.
    [[nodiscard]] virtual bool on_worker_thread() const noexcept = 0;

    /// The works of the executor. Nothing: these workers have threads of their own.
    [[nodiscard]] virtual std::optional<WorksOut> works() const noexcept { return std::nullopt; }
};

} // namespace sessionq::dispatch

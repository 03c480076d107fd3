// SPDX-License-Identifier: MIT
#pragma once

#include "core/task.hpp"

namespace sessionq::core {

/// Runs tasks. Passed in wherever work is handed over, so that the simulation can replace it.
class Executor {
public:
    virtual ~Executor() = default;

    /// Runs `task` once, later and never inside this call. Tasks posted by one thread run in order.
    /// Thread-safe. The task runs under the operation context that is ambient here (R21). A task
    /// that is still queued when the executor ends is destroyed without running.
    virtual void post(Task task) = 0;
};

} // namespace sessionq::core

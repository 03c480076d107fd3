#pragma once

#include "core/task.hpp"

namespace sessionq::core {

/// Who runs a task. Injected wherever work is handed on; the simulation brings its own.
class Executor {
public:
    virtual ~Executor() = default;

    /// Runs `task` later, never inside this call, once, in the order of posting as seen from one
    /// thread. Thread-safe. The task runs under the operation context that was ambient here (R21).
    /// A task still queued when the executor ends is destroyed unrun.
    virtual void post(Task task) = 0;
};

} // namespace sessionq::core

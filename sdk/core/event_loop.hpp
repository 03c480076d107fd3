#pragma once

#include "core/clock.hpp"
#include "core/executor.hpp"

namespace sessionq::timing {
class TimerService;
}

namespace sessionq::core {

/// A receive thread as those who live on it see it: tasks posted to it run one after another on one thread, its timers expire there.
/// Everything bound to a loop is touched only from it and takes no lock. The real one runs on Asio, the simulation's on virtual time.
class EventLoop : public Executor {
public:
    /// Time as of the current task; reading it twice within a task may give the same instant.
    [[nodiscard]] virtual TimePoint now() const noexcept = 0;
    [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
    [[nodiscard]] virtual timing::TimerService& timers() noexcept = 0;
    [[nodiscard]] virtual bool on_this_thread() const noexcept = 0;
};

} // namespace sessionq::core

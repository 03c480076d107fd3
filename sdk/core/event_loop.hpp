#pragma once

#include "core/clock.hpp"
#include "core/executor.hpp"
#include "core/inbox.hpp"

namespace sessionq::timing {
class TimerService;
}

namespace sessionq::core {

/// A receive thread as those who live on it see it: tasks posted to it run one after another on one
/// thread, its timers expire there. Everything bound to a loop is touched only from it and takes no
/// lock. The real one runs on Asio, the simulation's on virtual time.
///
/// `post` and `wake` are thread-safe and outlive nobody: the loop outlives whoever may call them.
/// All else is for the loop's thread.
class EventLoop : public Executor {
public:
    /// Time as of the current task; reading it twice within a task may give the same instant.
    [[nodiscard]] virtual TimePoint now() const noexcept = 0;
    [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
    [[nodiscard]] virtual timing::TimerService& timers() noexcept = 0;
    [[nodiscard]] virtual bool on_this_thread() const noexcept = 0; ///< Thread-safe.

    /// Has `inbox` drained with every wake from now on, the first time soon, so that what was left
    /// in it before is found. Not attached twice: attaching anew changes nothing else.
    virtual void attach(Inbox& inbox) noexcept = 0;

    /// From now on it is not drained. Not attached: no effect.
    virtual void detach(Inbox& inbox) noexcept = 0;

    /// Has every attached inbox drained soon, by a drain that begins after this call and sees what
    /// this thread wrote before it. Thread-safe, allocates nothing, never drains inside the call.
    /// Several calls before the loop looks are one; while the loop is awake a call costs one atomic
    /// exchange and no system call. Inboxes and posted tasks have no order between them.
    virtual void wake() noexcept = 0;
};

} // namespace sessionq::core

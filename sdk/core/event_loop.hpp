// SPDX-License-Identifier: MIT
#pragma once

#include "core/clock.hpp"
#include "core/executor.hpp"
#include "core/inbox.hpp"

namespace sessionq::timing {
class TimerService;
}

namespace sessionq::core {

/// A receive thread, as its tasks and timers see it. The loop runs posted tasks one after another
/// on one thread and expires timers there. Objects bound to a loop are used only from its thread
/// and take no lock. The product's loop runs on Asio, the simulation's on virtual time.
///
/// `post` and `wake` are thread-safe, and the loop must outlive their callers. All other functions
/// must be called on the loop's thread.
class EventLoop : public Executor {
public:
    /// The time of the current task. Two reads within one task may return the same instant.
    [[nodiscard]] virtual TimePoint now() const noexcept = 0;
    [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
    [[nodiscard]] virtual timing::TimerService& timers() noexcept = 0;
    [[nodiscard]] virtual bool on_this_thread() const noexcept = 0; ///< Thread-safe.

    /// Drains `inbox` after every wake from now on. The first drain comes soon and finds the items
    /// that were pushed earlier. No effect if `inbox` is attached already.
    virtual void attach(Inbox& inbox) noexcept = 0;

    /// Stops draining `inbox`. No effect if it is not attached.
    virtual void detach(Inbox& inbox) noexcept = 0;

    /// Makes the loop drain every attached inbox soon. The drain begins after this call and sees
    /// everything this thread wrote before it. Thread-safe. It allocates nothing and never drains
    /// inside the call. Several calls before the drain cause one drain. While the loop is awake, a
    /// call costs one atomic exchange and no system call. Inboxes and posted tasks are not ordered
    /// with respect to each other.
    virtual void wake() noexcept = 0;
};

} // namespace sessionq::core

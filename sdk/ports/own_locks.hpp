// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/event_loop.hpp"
#include "core/executor.hpp"
#include "ports/own_lock.hpp"
#include "ports/session_link.hpp"
#include "timing/timer.hpp"

namespace sessionq::ports {

/// Keeps the locks of a link whose deliveries have locks of their own. It renews and ends the locks
/// as its `MessageLockKeeper` decides. A `HeldLink` makes it if its link has such locks. On the
/// link's loop. Outlives the link's answers.
class OwnLocks {
public:
    using Renewal = MessageLockKeeper::Renewal;

    struct Settings {
        Renewal renewal{Renewal::automatic};
        Duration max_renewal{}; ///< zero: no limit
        /// Called for each answer to a renewal, with the time that it took. May be null.
        std::function<void(Duration took, const core::Result<LockGrant>& answer)> renewed{};
        /// Called for each lock that is lost while its message is held. `held` is the delivery that
        /// was passed to `add`. The function may destroy that delivery. May be null.
        std::function<void(Delivery* held)> lost{};
    };

    /// `notifier` runs the callbacks of stop tokens.
    OwnLocks(core::EventLoop& loop, core::Executor& notifier, MessageLocks& port,
             Settings settings);
    /// The link has ended, and so have the locks that are left: their stop tokens fire.
    ~OwnLocks();
    OwnLocks(const OwnLocks&) = delete;
    OwnLocks& operator=(const OwnLocks&) = delete;

    /// A delivery came. Returns the delivery's own lock, or null if it has none. `held` is the
    /// delivery if it lives until `remove`, else null.
    [[nodiscard]] std::shared_ptr<OwnLock> add(const Delivery& delivery, Delivery* held = nullptr);
    /// The time for which the lock may be renewed counts from now.
    void restart(OwnLock& lock) noexcept;
    /// The message is settled. No effect if the lock was removed before, or is null.
    void remove(OwnLock* lock) noexcept;
    /// All locks may end sooner than granted.
    void became_uncertain();
    /// Fires the stop tokens of all locks: their handlers are to end.
    void request_stop();

    using Renewed = std::function<void(core::Result<Deadline>)>;
    /// Renews the lock now. Returns the id of the request at the link. If the lock has ended
    /// already, calls `renewed` with `lock_lost` within this call, and returns zero.
    RequestId renew(const std::shared_ptr<OwnLock>& lock, Deadline deadline, Renewed renewed);

private:
    using Batch = std::vector<std::shared_ptr<OwnLock>>;
    using Answers = std::vector<core::Result<LockGrant>>;

    void look();
    void arm();
    void warn(OwnLock& lock);
    void renew(const std::vector<MessageLock*>& due);
    void take(const Batch& batch, TimePoint asked, const Answers& answers);
    /// The keeper has forgotten the lock already.
    void lose(MessageLock& lock);
    [[nodiscard]] TimePoint renewal_end() const noexcept;

    core::EventLoop& loop_;
    core::Executor& notifier_;
    MessageLocks& port_;
    const Settings settings_;
    MessageLockKeeper keeper_;
    timing::Timer timer_{timing::Timer::calling<&OwnLocks::look>(this)};
};

} // namespace sessionq::ports

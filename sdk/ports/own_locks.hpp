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

/// The locks that the deliveries of a link have of their own: renews and ends them as a
/// `MessageLockKeeper` says. On the link's loop. Outlives the link's answers.
class OwnLocks {
public:
    using Renewal = MessageLockKeeper::Renewal;

    struct Terms {
        Renewal renewal{Renewal::automatic};
        Duration max_renewal{}; ///< zero: no limit
        /// Called with each answer to a renewal, and how long it took. Null: nobody asks.
        std::function<void(Duration took, const core::Result<LockGrant>& answer)> renewed{};
        /// Called for each lock that is lost, with the holder that `add` was given, which it may
        /// destroy. Null: nobody asks.
        std::function<void(Delivery* held)> lost{};
    };

    /// `notifier` runs the callbacks of stop tokens.
    OwnLocks(core::EventLoop& loop, core::Executor& notifier, MessageLocks& port, Terms terms);
    ~OwnLocks();
    OwnLocks(const OwnLocks&) = delete;
    OwnLocks& operator=(const OwnLocks&) = delete;

    /// A delivery came. `held`: the same delivery, if it stays until `remove`. Returns null if the
    /// delivery has no lock of its own.
    [[nodiscard]] std::shared_ptr<OwnLock> add(const Delivery& delivery, Delivery* held = nullptr);
    /// From now on counts how long the lock may be renewed.
    void restart(OwnLock& lock) noexcept;
    /// The message is settled. Again, and null: no effect.
    void remove(OwnLock* lock) noexcept;
    /// All locks may end sooner than was granted.
    void became_uncertain();

    using Renewed = std::function<void(core::Result<Deadline>)>;
    /// Renews a lock now. Returns the id of the request at the link. If the lock has ended,
    /// `renewed` is called within the call.
    RequestId renew(const std::shared_ptr<OwnLock>& lock, Deadline deadline, Renewed renewed);

private:
    using Batch = std::vector<std::shared_ptr<OwnLock>>;
    using Answers = std::vector<core::Result<LockGrant>>;

    void look();
    void arm();
    void warn(OwnLock& lock);
    void renew(const std::vector<MessageLock*>& due);
    void take(const Batch& batch, TimePoint asked, const Answers& answers);
    /// The keeper does not have it any more.
    void lose(MessageLock& lock);
    [[nodiscard]] TimePoint renewal_end() const noexcept;

    core::EventLoop& loop_;
    core::Executor& notifier_;
    MessageLocks& port_;
    const Terms terms_;
    MessageLockKeeper keeper_;
    timing::Timer timer_{timing::Timer::calling<&OwnLocks::look>(this)};
};

} // namespace sessionq::ports

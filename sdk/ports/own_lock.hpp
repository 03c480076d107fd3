// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/lock_bound.hpp"
#include "ports/delivery.hpp"
#include "ports/message_lock_keeper.hpp"

namespace sessionq::ports {

/// Shows the lock of a single message to any thread. A message has such a lock if its entity has no
/// sessions and its broker locks messages. `OwnLocks` makes the lock when the message arrives, and
/// renews and ends it on the link's loop. A handler's call, or the message that the application
/// received, holds the lock and reads when it ends.
///
/// While a renewal is under way, the lock outlives the message.
class OwnLock {
public:
    enum class Phase : std::uint8_t {
        held,
        dropped, ///< The message is gone and was not settled. Its lock is left to expire.
        lost,
    };

    explicit OwnLock(std::uint64_t tag) noexcept : port_tag_{tag} {}

    [[nodiscard]] std::uint64_t port_tag() const noexcept { return port_tag_; }

    // Any thread
    [[nodiscard]] Phase phase() const noexcept { return phase_.load(std::memory_order_acquire); }
    [[nodiscard]] bool is_lost() const noexcept { return phase() == Phase::lost; }
    void drop() noexcept {
        auto held = Phase::held;
        phase_.compare_exchange_strong(held, Phase::dropped);
    }
    [[nodiscard]] Deadline expires() const noexcept { return bound_->expires(); }
    [[nodiscard]] std::stop_token stop_token() const noexcept { return bound_->stop_token(); }
    /// No handler starts at this instant or after it.
    [[nodiscard]] TimePoint last_start() const noexcept {
        return last_start_.load(std::memory_order_acquire);
    }
    /// The context of a handler whose request has this deadline.
    [[nodiscard]] OperationContext context(Deadline deadline) const {
        return LockBound::context(bound_, deadline);
    }

private:
    friend class OwnLocks;

    struct Kept final : MessageLock {
        std::shared_ptr<OwnLock> owner{}; ///< itself while a keeper has the lock, to stay alive
        Delivery* held{nullptr};          ///< the delivery; null: it may end before the lock
    };

    /// Shows the lock's end to other threads.
    void show() noexcept {
        last_start_.store(kept_.last_start(), std::memory_order_release);
        bound_->set_expires(kept_.expires());
    }

    const std::uint64_t port_tag_;
    const std::shared_ptr<LockBound> bound_{std::make_shared<LockBound>()};
    std::atomic<Phase> phase_{Phase::held};
    std::atomic<TimePoint> last_start_{TimePoint::max()};
    Kept kept_{};
};

// In these functions, the lock is null if the message has no lock of its own.

/// No handler starts at this instant or after it.
[[nodiscard]] inline TimePoint last_start(const OwnLock* lock) noexcept {
    return lock == nullptr ? TimePoint::max() : lock->last_start();
}
/// When the message's own lock ends, or its session's lock if it has none.
[[nodiscard]] inline Deadline expires(const OwnLock* lock, Deadline session) noexcept {
    return lock == nullptr ? session : lock->expires();
}
/// Whether the message cannot be settled any more.
[[nodiscard]] inline bool is_over(const OwnLock* lock, TimePoint now) noexcept {
    return lock != nullptr && (lock->is_lost() || lock->expires().passed(now));
}
/// Whether the lock was lost, or is left to expire because its message was `too_late` to start.
[[nodiscard]] inline bool has_ended(const OwnLock* lock, bool too_late) noexcept {
    return lock != nullptr && (too_late || lock->is_lost());
}

} // namespace sessionq::ports

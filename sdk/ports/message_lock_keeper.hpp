// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ports/lock_keeper.hpp"

namespace sessionq::ports {

/// The lock of one message, for a `MessageLockKeeper`. An `OwnLock` holds it. It must not move in
/// memory from `add` until it is removed or lost.
class MessageLock {
public:
    [[nodiscard]] Deadline expires() const noexcept { return lock_.expires(); }
    /// The instant after which no handler may start.
    [[nodiscard]] TimePoint last_start() const noexcept { return lock_.last_start(); }
    /// Whether a keeper has the lock: it was added, and neither removed nor lost.
    [[nodiscard]] bool is_kept() const noexcept { return place_ != nowhere; }

private:
    friend class MessageLockKeeper;

    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

    LockKeeper lock_{};
    TimePoint renew_until_{TimePoint::max()};
    std::size_t place_{nowhere}; // in the keeper's heap
};

/// The steps that the holder of messages takes now, in the order of the members.
struct MessageLockActions {
    std::vector<MessageLock*> lost{};  ///< These ended. The keeper does not have them any more.
    std::vector<MessageLock*> warn{};  ///< Once each: these are about to end.
    std::vector<MessageLock*> renew{}; ///< Ask the broker, in one request.
};

/// Makes the decisions of `LockKeeper` for the locks of many messages: when a lock is renewed, when
/// its holder is warned, and when the lock is lost. `OwnLocks` has a keeper and performs its
/// decisions. If a lock is due for a renewal, locks that are due soon are renewed with it. The
/// keeper owns no lock, and allocates nothing for a lock.
class MessageLockKeeper {
public:
    enum class Renewal : std::uint8_t { automatic, by_hand };

    /// The most locks of one renewal request. The others follow at once.
    static constexpr std::size_t max_batch = 500;

    explicit MessageLockKeeper(Renewal renewal) noexcept : renewal_{renewal} {}

    /// A message came at `now`, locked for `length`.
    void add(MessageLock& lock, TimePoint now, Duration length);
    /// The message is settled or given up. No effect if the lock was removed or lost before.
    void remove(MessageLock& lock) noexcept;
    /// Any kept lock; null: there is none.
    [[nodiscard]] MessageLock* any() const noexcept {
        return heap_.empty() ? nullptr : heap_.back();
    }

    /// All kept locks, in no order.
    [[nodiscard]] std::span<MessageLock* const> all() const noexcept { return heap_; }

    /// The lock is renewed until `until`, and no longer. Requires a kept lock.
    void renew_until(MessageLock& lock, TimePoint until) noexcept;

    /// The broker answered the renewal made at `asked`. Returns true if the lock is lost. The
    /// keeper then does not have the lock any more. No effect for a lock that is not kept.
    [[nodiscard]] bool answered(MessageLock& lock, TimePoint asked, TimePoint now,
                                const core::Result<LockGrant>& answer) noexcept;

    /// All locks may end sooner than granted: a renewal of each is due.
    void became_uncertain(TimePoint now);

    [[nodiscard]] MessageLockActions look(TimePoint now);

    /// When to look again; TimePoint::max(): never.
    [[nodiscard]] TimePoint next() const noexcept {
        return heap_.empty() ? TimePoint::max() : due(*heap_.front());
    }

private:
    [[nodiscard]] static TimePoint due(const MessageLock& lock) noexcept {
        return lock.lock_.next();
    }
    [[nodiscard]] bool may_renew(const MessageLock& lock, TimePoint now) const noexcept {
        return renewal_ == Renewal::automatic && now < lock.renew_until_;
    }
    void step(MessageLock& lock, TimePoint now, MessageLockActions& actions);
    void join(TimePoint now, MessageLockActions& actions);
    void place(MessageLock& lock, std::size_t at) noexcept;
    void sift(MessageLock& lock) noexcept;

    const Renewal renewal_;
    std::vector<MessageLock*> heap_{}; // the first is due first
};

} // namespace sessionq::ports

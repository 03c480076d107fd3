// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "ports/enveloped_state.hpp"
#include "ports/own_locks.hpp"
#include "ports/session_link.hpp"

namespace sessionq::ports {

/// A session link together with the things that end with it: the locks that its messages have of
/// their own, and the session's state in its two parts. A processor's session and a receiver each
/// hold one. If a message has no lock of its own, the functions here return and take null for it.
/// So callers need not ask which kind of link this is.
///
/// On the link's loop.
class HeldLink {
public:
    explicit HeldLink(SessionLinkPtr link) noexcept : link_{std::move(link)} {}

    /// From now on the locks of messages are renewed and watched, if they have locks of their own.
    /// `notifier` runs the callbacks of their stop tokens.
    void keep_message_locks(core::EventLoop& loop, core::Executor& notifier,
                            OwnLocks::Terms terms) {
        if (MessageLocks* const port = link_->message_locks()) {
            locks_ = std::make_unique<OwnLocks>(loop, notifier, *port, std::move(terms));
        }
    }
    /// Messages are locked one by one; the session's lock does not end.
    [[nodiscard]] bool locks_messages() const noexcept { return locks_ != nullptr; }

    /// False after `drop`.
    [[nodiscard]] bool is_there() const noexcept { return link_ != nullptr; }
    /// Requires `is_there`.
    [[nodiscard]] SessionLink* operator->() const noexcept { return link_.get(); }
    [[nodiscard]] EnvelopedState& state() noexcept { return state_; }

    /// A delivery came. Returns the lock that it has of its own; null: it has none. `held`: the
    /// delivery, if it stays until its lock is forgotten.
    [[nodiscard]] std::shared_ptr<OwnLock> lock_of(const Delivery& delivery,
                                                   Delivery* held = nullptr) {
        return locks_ != nullptr ? locks_->add(delivery, held) : nullptr;
    }
    /// From now on counts how long the lock may be renewed.
    void restart(OwnLock* lock) noexcept {
        if (locks_ != nullptr && lock != nullptr) {
            locks_->restart(*lock);
        }
    }
    /// The message is settled or gone: its lock is not renewed any more.
    void forget(OwnLock* lock) noexcept {
        if (locks_ != nullptr) {
            locks_->remove(lock);
        }
    }
    /// The locks of messages may end sooner than was granted.
    void became_uncertain() {
        if (locks_ != nullptr) {
            locks_->became_uncertain();
        }
    }
    /// Renews the lock of a message, see `OwnLocks::renew`. Requires one.
    RequestId renew(const std::shared_ptr<OwnLock>& lock, Deadline deadline,
                    OwnLocks::Renewed renewed) {
        return locks_->renew(lock, deadline, std::move(renewed));
    }

    /// Requires `is_there`.
    void settle(Delivery& delivery, Settlement settlement, OwnLock* lock) {
        forget(lock);
        link_->settle(delivery, std::move(settlement));
    }

    /// The link is lost, or not needed any more. Unanswered requests stay without an answer, except
    /// settlements.
    void drop() noexcept {
        link_.reset();
        locks_.reset();
        state_.drop();
    }

private:
    SessionLinkPtr link_;
    std::unique_ptr<OwnLocks> locks_{}; ///< null: messages have no locks of their own
    EnvelopedState state_{*link_};
};

} // namespace sessionq::ports

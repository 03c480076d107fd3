// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "ports/enveloped_state.hpp"
#include "ports/own_locks.hpp"
#include "ports/session_link.hpp"

namespace sessionq::ports {

/// Holds a session link and everything that ends with the link: the locks of single messages, and
/// the session's state in its two parts. A processor's session (`SessionDriver`) and a receiver
/// (`SessionReceiverCore`) each put the link that answers their accept into a `HeldLink`.
///
/// If a message has no lock of its own, its lock is null in all functions here. So no caller asks
/// which kind of link this is.
///
/// On the link's loop.
class HeldLink {
public:
    explicit HeldLink(SessionLinkPtr link) noexcept : link_{std::move(link)} {}
    ~HeldLink() { drop(); } // destroys the link first, because the locks must outlive its answers
    HeldLink(const HeldLink&) = delete;
    HeldLink& operator=(const HeldLink&) = delete;

    /// Makes the `OwnLocks` of the link, if the link's messages have locks of their own. From now
    /// on, `OwnLocks` renews and ends these locks, as `settings` says. `notifier` runs the
    /// callbacks of the locks' stop tokens.
    void keep_message_locks(core::EventLoop& loop, core::Executor& notifier,
                            OwnLocks::Settings settings) {
        if (MessageLocks* const port = link_->message_locks()) {
            locks_ = std::make_unique<OwnLocks>(loop, notifier, *port, std::move(settings));
        }
    }
    /// Whether messages have locks of their own. If so, the session's lock does not end.
    [[nodiscard]] bool locks_messages() const noexcept { return locks_ != nullptr; }

    /// False after `drop`.
    [[nodiscard]] bool is_there() const noexcept { return link_ != nullptr; }
    /// Requires `is_there`.
    [[nodiscard]] SessionLink* operator->() const noexcept { return link_.get(); }
    [[nodiscard]] EnvelopedState& state() noexcept { return state_; }

    /// A delivery came. Returns the delivery's own lock, or null if it has none. `held` is the
    /// delivery if it lives until its lock is forgotten, else null.
    [[nodiscard]] std::shared_ptr<OwnLock> lock_of(const Delivery& delivery,
                                                   Delivery* held = nullptr) {
        return locks_ != nullptr ? locks_->add(delivery, held) : nullptr;
    }
    /// The time for which the lock may be renewed counts from now.
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
    /// The locks of messages may end sooner than granted.
    void became_uncertain() {
        if (locks_ != nullptr) {
            locks_->became_uncertain();
        }
    }
    /// Fires the stop tokens of the messages' locks.
    void request_stop() {
        if (locks_ != nullptr) {
            locks_->request_stop();
        }
    }
    /// Renews the lock of a message, see `OwnLocks::renew`. Requires a lock, and `is_there`.
    RequestId renew(const std::shared_ptr<OwnLock>& lock, Deadline deadline,
                    OwnLocks::Renewed renewed) {
        return locks_->renew(lock, deadline, std::move(renewed));
    }

    /// Requires `is_there`.
    void settle(Delivery& delivery, Settlement&& settlement, OwnLock* lock) {
        forget(lock);
        link_->settle(delivery, std::move(settlement));
    }

    /// The link is lost, or not needed any more. It answers nothing after this call. The caller
    /// fails the unanswered settlements. The other unanswered requests stay unanswered.
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

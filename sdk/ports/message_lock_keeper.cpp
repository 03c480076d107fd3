// SPDX-License-Identifier: MIT
#include "ports/message_lock_keeper.hpp"

#include <algorithm>

namespace sessionq::ports {

void MessageLockKeeper::add(MessageLock& lock, TimePoint now, Duration length) {
    lock.lock_.granted(now, {.length = length});
    heap_.push_back(&lock);
    lock.place_ = heap_.size() - 1;
    sift(lock);
}

void MessageLockKeeper::remove(MessageLock& lock) noexcept {
    if (!lock.is_kept()) {
        return;
    }
    MessageLock& last = *heap_.back();
    place(last, lock.place_);
    heap_.pop_back();
    lock.place_ = MessageLock::nowhere;
    if (&last != &lock) {
        sift(last);
    }
}

void MessageLockKeeper::renew_until(MessageLock& lock, TimePoint until) noexcept {
    lock.renew_until_ = until;
}

bool MessageLockKeeper::answered(MessageLock& lock, TimePoint asked, TimePoint now,
                                 const core::Result<LockGrant>& answer) noexcept {
    if (!lock.is_kept()) {
        return false;
    }
    const bool is_lost = lock.lock_.answered(asked, now, answer).lost;
    if (is_lost) {
        remove(lock);
    } else {
        sift(lock);
    }
    return is_lost;
}

void MessageLockKeeper::became_uncertain(TimePoint now) {
    const std::vector<MessageLock*> all = heap_; // sifting moves them
    for (MessageLock* lock : all) {
        lock->lock_.became_uncertain(now);
        sift(*lock);
    }
}

MessageLockActions MessageLockKeeper::look(TimePoint now) {
    MessageLockActions actions;
    while (next() <= now && actions.renew.size() < max_batch) {
        step(*heap_.front(), now, actions);
    }
    if (!actions.renew.empty()) {
        join(now, actions);
    }
    return actions;
}

/// Adds the locks that are due for a renewal within a tenth of their length. So the locks of
/// messages that came one after another are renewed together.
void MessageLockKeeper::join(TimePoint now, MessageLockActions& actions) {
    while (!heap_.empty() && actions.renew.size() < max_batch) {
        MessageLock& lock = *heap_.front();
        const Duration ahead = lock.expires().time() - lock.lock_.last_start();
        if (lock.lock_.phase() != LockKeeper::Phase::held || !may_renew(lock, now) ||
            due(lock) - now > ahead) {
            return;
        }
        lock.lock_.became_uncertain(now);
        step(lock, now, actions);
    }
}

void MessageLockKeeper::step(MessageLock& lock, TimePoint now, MessageLockActions& actions) {
    const LockActions each = lock.lock_.look(now, may_renew(lock, now));
    if (each.lost) {
        remove(lock);
        actions.lost.push_back(&lock);
        return;
    }
    if (each.warn) {
        actions.warn.push_back(&lock);
    }
    if (each.renew) {
        actions.renew.push_back(&lock);
    }
    sift(lock);
}

void MessageLockKeeper::place(MessageLock& lock, std::size_t at) noexcept {
    heap_[at] = &lock;
    lock.place_ = at;
}

/// Moves the lock to its place in the heap, by its due time.
void MessageLockKeeper::sift(MessageLock& lock) noexcept {
    std::size_t at = lock.place_;
    for (; at != 0 && due(lock) < due(*heap_[(at - 1) / 2]); at = (at - 1) / 2) {
        place(*heap_[(at - 1) / 2], at);
    }
    for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
        if (child + 1 < heap_.size() && due(*heap_[child + 1]) < due(*heap_[child])) {
            ++child;
        }
        if (due(lock) <= due(*heap_[child])) {
            break;
        }
        place(*heap_[child], at);
        at = child;
    }
    place(lock, at);
}

} // namespace sessionq::ports

// SPDX-License-Identifier: MIT
#pragma once

#include "core/intrusive_list.hpp"

namespace sessionq::core {

/// Receives work from other threads for the loop that it is attached to. The implementation owns
/// the memory (for example an `MpscQueue` of intrusive nodes), so a hand-over allocates nothing. A
/// producer wakes the loop once for each batch:
///
///     if (queue.push(item)) {  // the queue was empty
///         loop.wake();
///     }
///
/// Destroying an attached inbox detaches it, so it must happen on the loop's thread.
class Inbox : public ListHook<Inbox> {
public:
    /// Takes and handles everything in the inbox. Runs on the loop's thread under a clean operation
    /// context. It may run more than once for a wake, or without one, and find nothing. It may
    /// attach and detach inboxes, including itself, and may post and wake.
    virtual void drain() noexcept = 0;

protected:
    ~Inbox() = default;
};

/// The inboxes attached to a loop, for implementations of `EventLoop`. Bound to the loop's thread.
class InboxSet {
public:
    void attach(Inbox& inbox) noexcept {
        inbox.unlink();
        inboxes_.push_back(inbox);
    }

    static void detach(Inbox& inbox) noexcept { inbox.unlink(); }

    /// Drains each inbox that is attached when the call begins, unless it is detached before its
    /// turn.
    void drain_all() noexcept {
        IntrusiveList<Inbox, Inbox> round;
        round.splice_back(inboxes_);
        while (Inbox* inbox = round.pop_front()) {
            inboxes_.push_back(*inbox);
            inbox->drain();
        }
    }

private:
    IntrusiveList<Inbox, Inbox> inboxes_;
};

} // namespace sessionq::core

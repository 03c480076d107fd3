#pragma once

#include "core/intrusive_list.hpp"

namespace sessionq::core {

/// A place where other threads leave work for a loop in memory of their own (an `MpscQueue` of
/// intrusive nodes, say), so that a crossing allocates nothing. Attached to the loop that empties
/// it. The pattern of a producer:
///
///     if (queue.push(item)) {  // was empty: the one push of a batch that has to tell
///         loop.wake();
///     }
///
/// Destroying an attached inbox detaches it; that too belongs on the loop's thread.
class Inbox : public ListHook<Inbox> {
public:
    /// Takes and handles everything that is there. On the loop's thread, under a clean operation
    /// context, once or more for each wake and also without one: finding nothing is normal. May
    /// attach and detach inboxes, itself among them, and may post and wake.
    virtual void drain() noexcept = 0;

protected:
    ~Inbox() = default;
};

/// The inboxes of a loop: what an implementation of `EventLoop` needs. Bound to the loop's thread.
class InboxSet {
public:
    void attach(Inbox& inbox) noexcept {
        inbox.unlink();
        inboxes_.push_back(inbox);
    }

    static void detach(Inbox& inbox) noexcept { inbox.unlink(); }

    /// Drains each inbox that was attached when the call began and still is when its turn comes.
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

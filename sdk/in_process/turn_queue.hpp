// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "broker/delivered.hpp"
#include "broker/instant.hpp"
#include "core/event_loop.hpp"
#include "core/inbox.hpp"
#include "core/mpsc_queue.hpp"
#include "in_process/settle_order_book.hpp"

namespace sessionq::in_process {

/// An object that takes turns on a loop.
class TurnTaker : public core::MpscNode, public std::enable_shared_from_this<TurnTaker> {
public:
    virtual ~TurnTaker() = default;

    /// Does the work that is due. On the loop.
    virtual void turn() = 0;

private:
    friend class TurnQueue;

    std::atomic<bool> is_notified_{false};  // in the crossing queue, or about to be
    std::shared_ptr<TurnTaker> notified_{}; // itself, while it is
};

/// Gives turns to the links of one loop: one turn each however often it was asked for, and one
/// wake-up for all.
///
/// Bound to the loop's thread, but for `notify`. Ends with its last `TurnQueueUse`.
class TurnQueue final : public core::Inbox, public std::enable_shared_from_this<TurnQueue> {
public:
    explicit TurnQueue(core::EventLoop& loop) : loop_{&loop} { loop.attach(*this); }

    [[nodiscard]] core::EventLoop& loop() noexcept { return *loop_; }
    [[nodiscard]] broker::Instant now() const noexcept { return {loop_->now(), loop_->wall_now()}; }

    /// Gives `item` a turn later. No effect if one is due already.
    void schedule(TurnTaker& item) noexcept {
        if (!item.is_notified_.load(std::memory_order_relaxed)) {
            notify(item);
        }
    }

    /// The same from any thread. The turn sees the writes that this thread made before.
    void notify(TurnTaker& item) noexcept;

    void drain() noexcept override;

    /// Memory for one turn at a time, kept for the next.
    [[nodiscard]] std::vector<broker::Delivered>& scratch() noexcept { return scratch_; }

    /// Memory of the links that ended, for those that begin.
    [[nodiscard]] SettleOrderBook::Spare& spare_books() noexcept { return spare_books_; }

private:
    friend class TurnQueueUse;

    void stop() noexcept;
    void take_notified(std::vector<std::shared_ptr<TurnTaker>>& to);

    core::EventLoop* loop_; // written under mutex_
    std::mutex mutex_;      // for threads that notify while the queue stops
    core::MpscQueue<TurnTaker> crossing_;
    std::vector<std::shared_ptr<TurnTaker>> round_;
    std::size_t uses_{0};
    std::vector<broker::Delivered> scratch_;
    SettleOrderBook::Spare spare_books_;
};

/// Keeps a turn queue going. Held by endpoints and links, on the loop's thread.
class TurnQueueUse {
public:
    explicit TurnQueueUse(std::shared_ptr<TurnQueue> queue) : queue_{std::move(queue)} {
        ++queue_->uses_;
    }
    ~TurnQueueUse() {
        if (--queue_->uses_ == 0) {
            queue_->stop();
        }
    }
    TurnQueueUse(const TurnQueueUse&) = delete;
    TurnQueueUse& operator=(const TurnQueueUse&) = delete;

    [[nodiscard]] TurnQueue* operator->() const noexcept { return queue_.get(); }
    [[nodiscard]] const std::shared_ptr<TurnQueue>& shared() const noexcept { return queue_; }

private:
    const std::shared_ptr<TurnQueue> queue_;
};

} // namespace sessionq::in_process

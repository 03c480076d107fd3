// SPDX-License-Identifier: MIT
#include "in_process/turn_queue.hpp"

#include <utility>

namespace sessionq::in_process {

void TurnQueue::stop() noexcept {
    loop_->detach(*this);
    std::vector<std::shared_ptr<TurnTaker>> late;
    const std::lock_guard lock{mutex_};
    loop_ = nullptr;
    take_notified(late);
}

void TurnQueue::notify(TurnTaker& item) noexcept {
    if (item.is_notified_.exchange(true, std::memory_order_seq_cst)) {
        return;
    }
    item.notified_ = item.shared_from_this();
    if (!crossing_.push(item)) {
        return; // the first push wakes the loop for all
    }
    std::vector<std::shared_ptr<TurnTaker>> late;
    const std::lock_guard lock{mutex_};
    if (loop_ != nullptr) {
        loop_->wake();
    } else {
        take_notified(late); // the loop takes no more
    }
}

void TurnQueue::drain() noexcept {
    const auto self = shared_from_this(); // a turn may end the last use
    take_notified(round_);
    for (std::size_t i = 0; i < round_.size(); ++i) {
        const std::shared_ptr<TurnTaker> item = std::move(round_[i]);
        item->turn();
    }
    round_.clear();
}

void TurnQueue::take_notified(std::vector<std::shared_ptr<TurnTaker>>& to) {
    for (TurnTaker* item = crossing_.take_all(); item != nullptr;) {
        TurnTaker* next = core::MpscQueue<TurnTaker>::next(*item);
        to.push_back(std::move(item->notified_));
        // From here on the item may be notified anew.
        item->is_notified_.store(false, std::memory_order_seq_cst);
        item = next;
    }
}

} // namespace sessionq::in_process

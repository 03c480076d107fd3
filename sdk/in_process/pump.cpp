#include "in_process/pump.hpp"

#include <utility>

namespace sessionq::in_process {

void Pump::release() noexcept {
    if (--users_ > 0) {
        return;
    }
    loop_->detach(*this);
    due_.clear();
    std::vector<std::shared_ptr<Pumped>> late;
    const std::lock_guard lock{mutex_};
    loop_ = nullptr;
    take_stirred(late);
}

void Pump::schedule(Pumped& item) {
    if (item.is_scheduled_) {
        return;
    }
    due_.push_back(item.shared_from_this());
    item.is_scheduled_ = true;
    if (!std::exchange(is_woken_, true)) {
        loop_->wake();
    }
}

void Pump::stir(Pumped& item) noexcept {
    if (item.is_stirred_.exchange(true, std::memory_order_seq_cst)) {
        return;
    }
    item.stirred_ = item.shared_from_this();
    if (!crossing_.push(item)) {
        return; // whoever was first wakes the loop for all
    }
    std::vector<std::shared_ptr<Pumped>> late;
    const std::lock_guard lock{mutex_};
    if (loop_ != nullptr) {
        loop_->wake();
    } else {
        take_stirred(late); // nobody will come for it
    }
}

void Pump::drain() noexcept {
    const auto self = shared_from_this();
    is_woken_ = false;
    round_.swap(due_);
    for (const auto& item : round_) {
        item->is_scheduled_ = false;
    }
    take_stirred(round_);
    for (std::size_t i = 0; i < round_.size(); ++i) {
        const std::shared_ptr<Pumped> item = std::move(round_[i]);
        item->turn();
    }
    round_.clear();
}

void Pump::take_stirred(std::vector<std::shared_ptr<Pumped>>& to) {
    for (Pumped* item = crossing_.take_all(); item != nullptr;) {
        Pumped* next = core::MpscQueue<Pumped>::next(*item);
        to.push_back(std::move(item->stirred_));
        item->is_stirred_.store(false,
                                std::memory_order_seq_cst); // from here on it may be stirred anew
        item = next;
    }
}

} // namespace sessionq::in_process

// SPDX-License-Identifier: MIT
#include "broker/consumer_manager.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::broker {

void ConsumerManager::remove(Consumer& consumer) {
    leave_line(consumer);
    if (consumer.place >= all_.size() || all_[consumer.place].get() != &consumer) {
        return; // not here, or removed before
    }
    std::swap(all_[consumer.place], all_.back());
    all_[consumer.place]->place = consumer.place;
    all_.pop_back();
}

void ConsumerManager::set_wanted(Consumer& consumer, std::uint32_t wanted) {
    leave_line(consumer);
    consumer.wanted = wanted;
    if (wanted != 0) {
        interested_[consumer.priority].push_back(consumer);
        consumer.interest = Interest::interested;
    }
}

Consumer* ConsumerManager::notify_next(std::size_t available) {
    shrink_to(available);
    const bool is_any = announced_ != available && !interested_.empty();
    Consumer* next = is_any ? interested_.begin()->second.front() : nullptr;
    if (next == nullptr) {
        return nullptr;
    }
    leave_line(*next);
    next->interest = Interest::notified;
    next->announced = std::min<std::size_t>(next->wanted, available - announced_);
    announced_ += next->announced;
    notified_.push_back(*next);
    return next;
}

/// Others have taken messages that were announced. They were the oldest, so the consumers that were
/// notified first lose theirs.
void ConsumerManager::shrink_to(std::size_t available) {
    while (Consumer* oldest = announced_ > available ? notified_.front() : nullptr) {
        const std::size_t taken = std::min(oldest->announced, announced_ - available);
        oldest->announced -= taken;
        announced_ -= taken;
        if (oldest->announced == 0) {
            Line::remove(*oldest);
        }
    }
}

void ConsumerManager::leave_line(Consumer& consumer) {
    if (consumer.is_linked()) {
        consumer.unlink();
        if (consumer.interest == Interest::interested) {
            const auto line = interested_.find(consumer.priority);
            if (line->second.empty()) {
                interested_.erase(line);
            }
        }
    }
    announced_ -= std::exchange(consumer.announced, 0);
    consumer.interest = Interest::none;
}

} // namespace sessionq::broker

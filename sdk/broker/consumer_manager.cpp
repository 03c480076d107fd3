#include "broker/consumer_manager.hpp"

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

void ConsumerManager::set_interested(Consumer& consumer, bool interested) {
    leave_line(consumer);
    if (interested) {
        interested_[consumer.priority].push_back(consumer);
        consumer.interest = Interest::interested;
    }
}

Consumer* ConsumerManager::notify_next() {
    const bool is_free = notified_ == nullptr && !interested_.empty();
    Consumer* next = is_free ? interested_.begin()->second.front() : nullptr;
    if (next == nullptr) {
        return nullptr;
    }
    leave_line(*next);
    next->interest = Interest::notified;
    notified_ = next;
    return next;
}

void ConsumerManager::leave_line(Consumer& consumer) {
    if (consumer.is_linked()) {
        consumer.unlink();
        const auto line = interested_.find(consumer.priority);
        if (line->second.empty()) {
            interested_.erase(line);
        }
    }
    if (notified_ == &consumer) {
        notified_ = nullptr;
    }
    consumer.interest = Interest::none;
}

} // namespace sessionq::broker

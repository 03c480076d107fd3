// SPDX-License-Identifier: MIT
#include "broker/ordered_messages.hpp"

namespace sessionq::broker {

void OrderedMessages::push(StoredMessage& message) {
    if (!has_ranks()) {
        by_arrival_.push(message);
        return;
    }
    lines_[MessageRank::of(*message.content, options_)].push(message);
    ++ranked_;
}

void OrderedMessages::remove(StoredMessage& message) {
    if (!has_ranks()) {
        by_arrival_.remove(message);
        return;
    }
    if (message.holder != nullptr) {
        return; // it was taken, and reading its rank may be costly
    }
    const auto line = lines_.find(MessageRank::of(*message.content, options_));
    if (line != lines_.end() && line->second.contains(message)) {
        line->second.remove(message);
        --ranked_;
        erase_if_empty(line);
    }
}

StoredMessage* OrderedMessages::pop_front() noexcept {
    if (!has_ranks()) {
        return by_arrival_.pop_front();
    }
    const auto line = lines_.begin();
    if (line == lines_.end()) {
        return nullptr;
    }
    StoredMessage* first = line->second.pop_front();
    --ranked_;
    erase_if_empty(line);
    return first;
}

void OrderedMessages::erase_if_empty(Lines::iterator line) noexcept {
    if (line->second.empty()) {
        lines_.erase(line);
    }
}

} // namespace sessionq::broker

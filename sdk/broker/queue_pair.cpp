#include "broker/queue_pair.hpp"

#include <algorithm>
#include <iterator>

namespace sessionq::broker {

std::optional<Failure> QueuePair::take(std::span<Arrival> arrivals, Instant at) {
    return perform(at, [&] {
        std::optional<Failure> not_taken;
        for (Arrival& arrival : arrivals) {
            if (auto failure = entity_.take(std::move(arrival))) {
                not_taken = std::move(failure);
            }
        }
        return not_taken;
    });
}

bool QueuePair::begin_forwarding() {
    auto& transits = context_.transits();
    if (transits.empty()) {
        return false;
    }
    std::ranges::move(transits, std::back_inserter(leaving_));
    transits.clear();
    return !std::exchange(is_forwarding_, true);
}

void QueuePair::forward(Instant at) {
    for (;;) {
        std::vector<Transit> messages;
        {
            const std::lock_guard lock{mutex_};
            if (leaving_.empty()) {
                is_forwarding_ = false;
                return;
            }
            messages.swap(leaving_);
        }
        directory_->deliver(*this, messages, at);
        const bool is_held = perform(at, [&] {
            for (Transit& transit : messages) {
                if (transit.is_held) {
                    transit.is_held = false;
                    held_.push_back(std::move(transit));
                } else {
                    transit.from->end_transit(transit);
                }
            }
            return !held_.empty();
        });
        if (is_held && directory_->has_begun()) { // it began in the meantime
            forward_held(at);
        }
    }
}

void QueuePair::forward_held(Instant at) {
    {
        const std::lock_guard lock{mutex_};
        std::ranges::move(held_, std::back_inserter(leaving_));
        held_.clear();
        if (leaving_.empty() || std::exchange(is_forwarding_, true)) {
            return;
        }
    }
    forward(at);
}

} // namespace sessionq::broker

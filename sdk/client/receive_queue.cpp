#include "client/receive_queue.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::client {

void ReceiveQueue::want(PendingPtr<Deliveries> pending, std::size_t max, bool present_only) {
    wants_.push_back({.pending = std::move(pending), .max = max, .present_only = present_only});
}

void ReceiveQueue::forget(const PendingBase& pending) {
    std::erase_if(wants_, [&](const Want& want) { return want.pending.get() == &pending; });
}

bool ReceiveQueue::delivered(ports::DeliveryPtr delivery) {
    credit_ -= std::min<std::size_t>(credit_, 1);
    ready_.push_back(std::move(delivery));
    return !wants_.empty() && !std::exchange(announced_, true);
}

void ReceiveQueue::drained() noexcept {
    draining_ = false;
    credit_ = 0;
    for (Want& want : wants_) {
        want.final = want.final || want.in_drain;
    }
}

bool ReceiveQueue::may_answer(const Want& want) const noexcept {
    if (!want.present_only) {
        return !ready_.empty();
    }
    return want.final || ready_.size() >= want.max;
}

std::size_t ReceiveQueue::answer(const Want& want) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(want.max, ready_.size()));
    Deliveries taken{std::make_move_iterator(ready_.begin()),
                     std::make_move_iterator(ready_.begin() + count)};
    ready_.erase(ready_.begin(), ready_.begin() + count);
    want.pending->complete(std::move(taken));
    return static_cast<std::size_t>(count);
}

std::size_t ReceiveQueue::serve() {
    announced_ = false;
    std::size_t handed_out = 0;
    // In turn: an operation is not served before an earlier one while there are messages.
    for (auto want = wants_.begin(); want != wants_.end();) {
        if (may_answer(*want)) {
            handed_out += answer(*want);
            want = wants_.erase(want);
        } else if (ready_.empty()) {
            ++want;
        } else {
            break;
        }
    }
    return handed_out;
}

ReceiveQueue::Flow ReceiveQueue::next_flow() {
    Flow flow;
    if (draining_) {
        return flow;
    }
    if (wants_.empty()) {
        return reclaim_ ? last_flow() : flow;
    }
    std::size_t wanted = 0;
    for (Want& want : wants_) {
        wanted += want.max;
        want.in_drain = want.present_only;
        flow.drain = flow.drain || want.present_only;
    }
    const std::size_t have = credit_ + ready_.size();
    if (wanted > have) {
        flow.credit = static_cast<std::uint32_t>(wanted - have);
        credit_ += flow.credit;
    }
    draining_ = flow.drain;
    return flow;
}

ReceiveQueue::Flow ReceiveQueue::last_flow() {
    const bool needed = credit_ > 0 && !draining_;
    draining_ = draining_ || needed;
    return {.drain = needed};
}

void ReceiveQueue::fail_all(const Failure& why) {
    for (auto wants = std::exchange(wants_, {}); const Want& want : wants) {
        want.pending->complete(why);
    }
}

} // namespace sessionq::client

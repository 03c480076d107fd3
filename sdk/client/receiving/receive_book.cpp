// SPDX-License-Identifier: MIT
#include "client/receiving/receive_book.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::detail::client {

void ReceiveBook::want(PendingPtr<Deliveries> pending, std::size_t max, bool present_only) {
    wants_.push_back({.pending = std::move(pending), .max = max, .present_only = present_only});
}

void ReceiveBook::forget(const PendingBase& pending) {
    std::erase_if(wants_, [&](const Want& want) { return want.pending.get() == &pending; });
}

bool ReceiveBook::delivered(ports::DeliveryPtr delivery) {
    credit_ -= std::min<std::size_t>(credit_, 1);
    ready_.push_back(std::move(delivery));
    return !wants_.empty() && !std::exchange(announced_, true);
}

void ReceiveBook::drained() noexcept {
    draining_ = false;
    credit_ = 0;
    for (Want& want : wants_) {
        want.final = want.final || want.in_drain;
    }
}

bool ReceiveBook::may_answer(const Want& want) const noexcept {
    if (!want.present_only) {
        return !ready_.empty();
    }
    return want.final || ready_.size() >= want.max;
}

ReceiveBook::Answer ReceiveBook::answer(const Want& want) {
    const auto end =
        ready_.begin() + static_cast<std::ptrdiff_t>(std::min(want.max, ready_.size()));
    Answer made{.pending = want.pending,
                .messages{std::make_move_iterator(ready_.begin()), std::make_move_iterator(end)}};
    ready_.erase(ready_.begin(), end);
    return made;
}

std::vector<ReceiveBook::Answer> ReceiveBook::serve() {
    announced_ = false;
    std::vector<Answer> answers;
    // In turn: an operation is not served before an earlier one while there are messages.
    for (auto want = wants_.begin(); want != wants_.end();) {
        if (may_answer(*want)) {
            answers.push_back(answer(*want));
            want = wants_.erase(want);
        } else if (ready_.empty()) {
            ++want;
        } else {
            break;
        }
    }
    return answers;
}

ReceiveBook::Flow ReceiveBook::next_flow() {
    Flow flow;
    if (draining_) {
        return flow;
    }
    if (wants_.empty() && prefetch_ == 0) {
        return reclaim_ ? last_flow() : flow;
    }
    std::size_t wanted = 0;
    for (Want& want : wants_) {
        wanted += want.max;
        want.in_drain = want.present_only;
        flow.drain = flow.drain || want.present_only;
    }
    wanted = std::max(wanted, prefetch_);
    const std::size_t have = credit_ + ready_.size();
    if (wanted > have) {
        flow.credit = static_cast<std::uint32_t>(wanted - have);
        credit_ += flow.credit;
    }
    draining_ = flow.drain;
    return flow;
}

ReceiveBook::Flow ReceiveBook::last_flow() {
    const bool needed = credit_ > 0 && !draining_;
    draining_ = draining_ || needed;
    return {.drain = needed};
}

std::vector<ReceiveBook::Answer> ReceiveBook::take_waiting() {
    std::vector<Answer> waiting;
    for (Want& want : std::exchange(wants_, {})) {
        waiting.push_back({.pending = std::move(want.pending)});
    }
    return waiting;
}

} // namespace sessionq::detail::client

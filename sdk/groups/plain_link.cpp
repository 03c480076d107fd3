// SPDX-License-Identifier: MIT
#include "groups/plain_link.hpp"

#include <utility>

namespace sessionq::groups {

ports::FirstCredit PlainLink::set_events(ports::LinkEvents& events) {
    events_ = &events;
    if (untold_loss_) {
        replies_.push([this] { events_->on_lost(*untold_loss_); });
    }
    return {}; // nothing went out with the accept
}

void PlainLink::answer(ports::Delivery& delivery, std::optional<Failure> failure) {
    if (failure) {
        replies_.push([this, &delivery, why = *std::move(failure)] { tell(delivery, &why); });
    } else {
        replies_.push([this, &delivery] { tell(delivery, nullptr); }); // small: no memory taken
    }
}

void PlainLink::tell(ports::Delivery& delivery, const Failure* failure) {
    const auto self = anchor_.handle();
    if (settlements_.take(delivery)) {
        events_->on_settled(delivery, failure);
    }
    if (self.get() != nullptr) {
        answered();
    }
}

void PlainLink::end_wait(const core::Result<core::Done>& result) {
    std::exchange(waiter_, nullptr)(result);
}

void PlainLink::tell_lost(const Failure& why, bool is_held) {
    const auto self = anchor_.handle();
    if (events_ == nullptr && is_held) {
        untold_loss_ = std::make_unique<Failure>(why);
        return;
    }
    replies_.flush();
    Failure unknown = why;
    unknown.outcome_unknown = true;
    if (self.get() == nullptr || !settlements_.fail_all(events_, unknown)) {
        return;
    }
    if (is_held) {
        events_->on_lost(why);
    } else if (waiter_) {
        end_wait(core::Done{});
    }
}

} // namespace sessionq::groups

// SPDX-License-Identifier: MIT
#include "groups/receiver_machine.hpp"

#include <utility>

namespace sessionq::groups {

using Action = ReceiverMachine::Action;

Action ReceiverMachine::wanted() noexcept {
    if (phase_ != Phase::detached) {
        return Action::none;
    }
    phase_ = Phase::connecting;
    return Action::connect;
}

void ReceiverMachine::connected() noexcept {
    if (phase_ == Phase::connecting) {
        phase_ = Phase::attaching;
    }
}

void ReceiverMachine::attached(Duration idle) noexcept {
    if (phase_ == Phase::attaching) {
        phase_ = Phase::attached;
        idle_ = idle;
    }
}

void ReceiverMachine::arrived(bool dealt_anew) noexcept {
    if (!is_attached()) {
        return;
    }
    has_received_ = true;
    recycling_ = false;
    deals_anew_ = deals_anew_ || dealt_anew;
    idle_at_ = TimePoint::max();
}

Action ReceiverMachine::want_drain(TimePoint now) noexcept {
    if (phase_ == Phase::draining) {
        drain_again_ = true;
    }
    if (phase_ != Phase::attached) {
        return Action::none;
    }
    phase_ = Phase::draining;
    drain_.begin(now);
    return Action::drain;
}

Action ReceiverMachine::drained(const Use& use) noexcept {
    if (!drain_.end()) {
        return Action::none;
    }
    if (use.none() || (recycling_ && !use.has_groups)) {
        phase_ = Phase::closing;
        return Action::close;
    }
    phase_ = Phase::attached;
    recycling_ = false;
    return Action::flow;
}

Action ReceiverMachine::drain_again(TimePoint now) noexcept {
    return std::exchange(drain_again_, false) ? want_drain(now) : Action::none;
}

/// Keeps an idle link if its queue marks the first message of a group. Such a queue may rebalance
/// by itself, and it would deal all groups anew when the link returns.
Action ReceiverMachine::use_changed(const Use& use, TimePoint now) noexcept {
    if (use.none()) {
        return phase_ == Phase::detached ? Action::finish : want_drain(now);
    }
    if (phase_ == Phase::attached && idle_ != Duration::zero() && has_received_ && !deals_anew_ &&
        !use.has_groups) {
        idle_at_ = now + idle_;
    }
    return Action::none;
}

Action ReceiverMachine::on_time(const Use& use, TimePoint now) noexcept {
    if (now < due()) {
        return Action::none;
    }
    if (phase_ == Phase::draining) {
        return drain_.repeat(now) ? Action::repeat_drain : Action::abandon;
    }
    idle_at_ = TimePoint::max();
    if (phase_ != Phase::attached || use.has_groups) {
        return Action::none;
    }
    recycling_ = true;
    return want_drain(now);
}

void ReceiverMachine::lost() noexcept { *this = {}; }

} // namespace sessionq::groups

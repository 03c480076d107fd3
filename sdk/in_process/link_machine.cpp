// SPDX-License-Identifier: MIT
#include "in_process/link_machine.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::in_process {

using Kind = LinkMachine::Action::Kind;

void LinkMachine::add_credit(std::uint32_t count) noexcept {
    if (phase_ == Phase::open) {
        credit_ += count;
        may_pull_ = true;
    }
}

void LinkMachine::drain() noexcept {
    if (phase_ == Phase::open) {
        draining_ = true;
        may_pull_ = true;
    }
}

void LinkMachine::work() noexcept { may_pull_ = true; }

void LinkMachine::lose() noexcept {
    if (phase_ == Phase::open) {
        phase_ = Phase::losing;
    }
}

void LinkMachine::close() noexcept {
    if (phase_ != Phase::closed) {
        phase_ = Phase::closing;
    }
}

void LinkMachine::begin_turn() noexcept { may_pull_now_ = true; }

LinkMachine::Action LinkMachine::next() noexcept {
    switch (phase_) {
    case Phase::open: return next_while_open();
    case Phase::losing:
        if (held_ != 0 || unconfirmed_ != 0) {
            return {};
        }
        phase_ = Phase::lost;
        return {.kind = Kind::lost};
    case Phase::closing:
        if (unconfirmed_ != 0) {
            return {};
        }
        phase_ = Phase::closed;
        return {.kind = Kind::closed};
    case Phase::lost:
    case Phase::closed: return {};
    }
    return {};
}

LinkMachine::Action LinkMachine::next_while_open() noexcept {
    if (may_pull_ && credit_ != 0) {
        if (!std::exchange(may_pull_now_, false)) {
            return {.kind = Kind::later};
        }
        asked_ = std::min(credit_, messages_per_turn);
        return {.kind = Kind::pull, .count = asked_};
    }
    if (!draining_ || held_ != 0) {
        return {};
    }
    if (std::exchange(credit_, 0) != 0) {
        return {.kind = Kind::withdraw};
    }
    draining_ = false;
    return {.kind = Kind::drained};
}

void LinkMachine::pulled(std::uint32_t count) noexcept {
    credit_ -= std::min(credit_, count);
    may_pull_ = count == asked_;
}

std::size_t LinkMachine::begin_commit() noexcept {
    if (committing_ != 0) {
        return 0;
    }
    committing_ = held_;
    return committing_;
}

void LinkMachine::committed() noexcept { held_ -= std::exchange(committing_, 0); }

} // namespace sessionq::in_process

// SPDX-License-Identifier: MIT
#include "servicebus/locked_session_machine.hpp"

namespace sessionq::detail::servicebus {

bool LockedSessionMachine::listen(bool keeps) noexcept {
    listens_ = true;
    return phase_ == Phase::losing || keeps;
}

bool LockedSessionMachine::may_use(bool link_is_gone) const noexcept {
    return phase_ == Phase::held && !link_is_gone;
}

bool LockedSessionMachine::close(bool link_is_gone) noexcept {
    if (may_use(link_is_gone)) {
        phase_ = Phase::closing;
        return true;
    }
    if (phase_ != Phase::closing) {
        phase_ = Phase::closed;
    }
    return false;
}

void LockedSessionMachine::end(End how) noexcept {
    next_ = phase_ == Phase::held && how == End::lock_over ? Action::note_lock_end
                                                           : Action::fail_settlements;
    if (phase_ == Phase::held) {
        phase_ = Phase::losing;
    }
}

LockedSessionMachine::Action LockedSessionMachine::next(bool keeps) noexcept {
    if (phase_ == Phase::held && listens_ && keeps) {
        return Action::tell_kept;
    }
    const Action now = next_;
    switch (now) {
    case Action::none:
    case Action::tell_kept: return Action::none;
    case Action::note_lock_end: next_ = Action::fail_settlements; return now;
    case Action::fail_settlements:
        if (!listens_ && phase_ == Phase::closing) {
            break; // there are no settlements
        }
        if (!listens_) {
            return Action::none; // a loss waits for somebody to tell
        }
        next_ = Action::tell_lost;
        return now;
    case Action::tell_lost:
    case Action::tell_closed: break;
    }
    next_ = Action::none;
    return last();
}

/// An answer to a settlement may have closed the session.
LockedSessionMachine::Action LockedSessionMachine::last() noexcept {
    if (phase_ == Phase::losing) {
        phase_ = Phase::lost;
        return Action::tell_lost;
    }
    if (phase_ == Phase::closing) {
        phase_ = Phase::closed;
        return Action::tell_closed;
    }
    return Action::none;
}

} // namespace sessionq::detail::servicebus

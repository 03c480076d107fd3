// SPDX-License-Identifier: MIT
// The lock of a session, and the instants at which the session's machine is to be called.

#include <algorithm>

#include "processor/session/session_machine.hpp"

namespace sessionq::detail::processor {

// The lock

void SessionMachine::locked(TimePoint asked, ports::LockGrant grant) {
    lock_.locked(asked, now_, grant);
    add(action::ShowLock{.renewed = false});
    look_at_lock();
}

void SessionMachine::renewed(TimePoint asked, const core::Result<ports::LockGrant>& answer) {
    if (keeps_lock()) {
        lock_.renewed(asked, now_, answer);
        add(action::ShowLock{.renewed = answer.ok()});
    }
    look_at_lock();
}

void SessionMachine::progressed() {
    progress_at_ = now_;
    look_at_lock();
}

void SessionMachine::look_at_lock() {
    if (!keeps_lock() || lock_.keeper().is_quiet(now_)) {
        return; // each message comes here
    }
    const Duration busy_for = in_flight() != 0 ? now_ - progress_at_ : Duration::zero();
    const LockSteps steps = lock_.look(now_, busy_for);
    if (steps.report_expired) {
        add(action::Report{.source = ErrorSource::lock_renewal,
                           .code = Errc::lock_lost,
                           .detail = "the lock expired"});
    }
    if (steps.warn) {
        add(action::WarnOfEnd{});
    }
    if (steps.report_slow) {
        add(action::Report{.source = ErrorSource::lock_renewal,
                           .code = Errc::lock_lost,
                           .detail = "the lock is not renewed: no handler of the session finished "
                                     "within max_lock_renewal"});
    }
    if (steps.renew) {
        add(action::RenewLock{});
    }
    if (steps.warn) {
        leave(CloseReason::lock_lost);
    }
}

// Time

TimePoint SessionMachine::ask_at() const noexcept {
    return phase_ == Phase::working ? flow_.ask_at(idle_.due_at(), idle_.timeout())
                                    : TimePoint::max();
}

TimePoint SessionMachine::idle_at() const noexcept {
    const bool may_idle = phase_ == Phase::working || phase_ == Phase::idling_out;
    return may_idle ? idle_.due_at() : TimePoint::max();
}

TimePoint SessionMachine::retry_at() const noexcept {
    const bool may_retry = phase_ <= Phase::working || phase_ == Phase::idling_out;
    return may_retry ? lists_.retry_at() : TimePoint::max();
}

/// When the parking ends, or the hold if the session is not parked.
TimePoint SessionMachine::leave_at() const noexcept {
    if (is_leaving()) {
        return TimePoint::max();
    }
    return phase_ == Phase::parked ? parked_until_ : hold_until_;
}

TimePoint SessionMachine::close_by() const noexcept {
    return phase_ == Phase::closing_link ? close_by_ : TimePoint::max();
}

TimePoint SessionMachine::next() const noexcept {
    if (phase_ == Phase::finished) {
        return TimePoint::max();
    }
    const TimePoint settle_look = lists_.is_settling() ? settle_wait_.look_at() : TimePoint::max();
    return std::min({lock_.next(keeps_lock()), flow_.drain_by(), settle_look, close_by(),
                     leave_at(), ask_at(), idle_at(), retry_at(), gather_by()});
}

void SessionMachine::due() {
    gather();
    look_at_lock();
    if (const auto reason = lock_.take_loss()) {
        lose(*reason); // handlers that run keep the link until they return
        react();
    }
    if (now_ >= close_by()) {
        drop_link();
        link_closed();
    } else if (lists_.is_settling() && settle_wait_.is_overdue(now_)) {
        add(action::Report{.source = ErrorSource::settlement,
                           .code = Errc::timeout,
                           .detail = "the broker does not answer settlements"});
        lose(CloseReason::unresponsive);
        drop_link();
    } else if (now_ >= flow_.drain_by()) {
        flow_.close();
        after_drain();
    }
    if (now_ >= leave_at()) {
        if (waits_ && phase_ == Phase::parked) {
            add(action::WriteDelay{delay_.end()});
        }
        start_leaving(phase_ == Phase::parked ? reason_ : CloseReason::max_hold);
    }
    react();
    if (now_ >= retry_at()) {
        progress_at_ = now_;
        while (MessageMachine* message = lists_.retrying().take_due(now_)) {
            follow(*message, message->retry_due());
        }
        react();
    }
    if (now_ >= ask_at() && drain()) {
        flow_.goes_ahead();
    }
    if (now_ >= idle_at()) {
        idle_.run_out();
        if (phase_ == Phase::working) {
            idle_out();
        }
        react();
    }
}

} // namespace sessionq::detail::processor

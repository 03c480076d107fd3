// SPDX-License-Identifier: MIT
#include "processor/slots/slot_machine.hpp"

#include "processor/slots/accept_pace.hpp"

namespace sessionq::detail::processor {

bool is_fault(CloseReason reason) noexcept {
    switch (reason) {
    case CloseReason::lock_lost:
    case CloseReason::connection_lost:
    case CloseReason::unresponsive: return true;
    default: return false;
    }
}

SlotActions SlotMachine::follow(std::optional<CloseReason> unwanted) noexcept {
    if (unwanted_ == CloseReason::stopped) {
        return {};
    }
    if (unwanted) {
        return stop(*unwanted);
    }
    start();
    return {};
}

void SlotMachine::start() noexcept {
    unwanted_.reset();
    if (phase_ == Phase::stopped) {
        phase_ = Phase::free;
    }
}

void SlotMachine::accepted() noexcept {
    if (phase_ == Phase::free) {
        phase_ = Phase::holding;
    }
}

void SlotMachine::due() noexcept {
    if (phase_ == Phase::backing_off) {
        phase_ = Phase::free;
    }
}

SlotActions SlotMachine::session_left(CloseReason reason, std::optional<Duration> fruitless_for,
                                      Duration held_for) noexcept {
    if (phase_ != Phase::holding) {
        return {};
    }
    if (unwanted_) {
        phase_ = Phase::stopped;
        return {};
    }
    if (is_fault(reason)) {
        if (backoff_.outlasted_by(held_for)) { // faults are rare enough without a longer wait
            backoff_.reset();
        }
        return back_off(backoff_.next(random_));
    }
    backoff_.reset();
    if (reason == CloseReason::open_failed) { // the session has waited already, or still waits
        fruitless_for.reset();
    }
    return back_off(fruitless_for ? AcceptPace::min_interval - *fruitless_for : Duration::zero());
}

SlotActions SlotMachine::stop(CloseReason why) noexcept {
    const bool is_new = !unwanted_;
    unwanted_ = why;
    if (phase_ == Phase::holding) {
        return {.leave_session = is_new, .reason = why};
    }
    phase_ = Phase::stopped;
    return {};
}

SlotStatus SlotMachine::status(const SlotWaits& waits) const noexcept {
    switch (phase_) {
    case Phase::free:
        if (waits.accept) {
            return {"accepting", "a session"};
        }
        if (waits.pause) {
            return {"backing_off", "the end of a backoff"};
        }
        return {"vacant", waits.named_sessions ? "one of the named sessions to be free" : ""};
    case Phase::backing_off: return {"backing_off", waits.timer ? "its backoff" : ""};
    case Phase::holding: return {"open", ""};
    case Phase::stopped:
        return unwanted_ == CloseReason::paused ? SlotStatus{"paused", "resume"}
                                                : SlotStatus{"stopped", "nothing: stopped"};
    }
    return {};
}

SlotActions SlotMachine::back_off(Duration delay) noexcept {
    phase_ = delay > Duration::zero() ? Phase::backing_off : Phase::free;
    return {.wait = phase_ == Phase::backing_off, .delay = delay};
}

} // namespace sessionq::detail::processor

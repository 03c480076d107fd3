#include "processor/slot_machine.hpp"

namespace sessionq::processor {

bool is_fault(CloseReason reason) noexcept {
    switch (reason) {
    case CloseReason::open_failed:
    case CloseReason::lock_lost:
    case CloseReason::connection_lost:
    case CloseReason::unresponsive: return true;
    default: return false;
    }
}

SlotActions SlotMachine::start() noexcept {
    return phase_ == Phase::vacant && !stopping_ ? accept_next() : SlotActions{};
}

SlotActions SlotMachine::accepted() noexcept {
    phase_ = Phase::holding;
    refused_ = 0;
    return {.open_session = true};
}

SlotActions SlotMachine::accept_failed(Errc code, Duration asked_ago,
                                       core::Random& random) noexcept {
    if (code == Errc::connection_refused) {
        ++refused_;
        SlotActions actions = space(asked_ago);
        actions.report_failure = true;
        return actions;
    }
    refused_ = 0;
    if (code ==
        Errc::
            no_session_available) { // R5: no fault, no backoff; only spaced when the broker did not wait
        backoff_.reset();
        return space(asked_ago);
    }
    SlotActions actions = back_off(backoff_.next(random));
    actions.report_failure = code != Errc::cancelled;
    return actions;
}

SlotActions SlotMachine::accept_overdue(core::Random& random) noexcept {
    SlotActions actions = back_off(backoff_.next(random));
    actions.cancel_accept = true;
    actions.report_failure = true;
    return actions;
}

SlotActions SlotMachine::wait_over() noexcept {
    return phase_ == Phase::backing_off ? accept_next() : SlotActions{};
}

SlotActions SlotMachine::session_left(CloseReason reason, std::optional<Duration> fruitless_for,
                                      Duration held_for, core::Random& random) noexcept {
    if (stopping_) {
        phase_ = Phase::stopped;
        return {};
    }
    if (is_fault(reason)) {
        if (backoff_.outlasted_by(held_for)) { // rare enough by itself
            backoff_.reset();
        }
        return back_off(backoff_.next(random));
    }
    backoff_.reset();
    return fruitless_for ? space(*fruitless_for) : accept_next();
}

SlotActions SlotMachine::stop() noexcept {
    if (stopping_) {
        return {};
    }
    stopping_ = true;
    const Phase was = phase_;
    if (was == Phase::holding) {
        return {.leave_session = true};
    }
    phase_ = Phase::stopped;
    return {.cancel_accept = was == Phase::accepting};
}

SlotActions SlotMachine::accept_next() noexcept {
    phase_ = Phase::accepting;
    return {.start_accept = true};
}

SlotActions SlotMachine::space(Duration asked_ago) noexcept {
    return back_off(min_accept_interval - asked_ago);
}

SlotActions SlotMachine::back_off(Duration delay) noexcept {
    if (delay <= Duration::zero()) {
        return accept_next();
    }
    phase_ = Phase::backing_off;
    return {.wait = true, .delay = delay};
}

} // namespace sessionq::processor

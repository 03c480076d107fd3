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
    if (unwanted_ == CloseReason::stopped) {
        return {};
    }
    unwanted_.reset();
    return phase_ == Phase::vacant || phase_ == Phase::stopped ? accept_next() : SlotActions{};
}

SlotActions SlotMachine::accepted() noexcept {
    if (phase_ != Phase::accepting) {
        return {};
    }
    phase_ = Phase::holding;
    refused_ = 0;
    return {.open_session = true};
}

SlotActions SlotMachine::accept_failed(Errc code, Duration asked_ago) noexcept {
    if (phase_ != Phase::accepting) {
        return {};
    }
    if (code == Errc::connection_refused) {
        ++refused_;
        SlotActions actions = space(asked_ago);
        actions.report_failure = true;
        return actions;
    }
    refused_ = 0;
    if (code == Errc::no_session_available) { // R5: only spaced where the broker did not wait
        backoff_.reset();
        return space(asked_ago);
    }
    SlotActions actions = back_off(backoff_.next(random_));
    actions.report_failure = code != Errc::cancelled;
    return actions;
}

SlotActions SlotMachine::due() noexcept {
    if (phase_ == Phase::backing_off) {
        return accept_next();
    }
    if (phase_ != Phase::accepting) {
        return {};
    }
    SlotActions actions = back_off(backoff_.next(random_));
    actions.cancel_accept = true;
    actions.report_failure = true;
    return actions;
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
        if (backoff_.outlasted_by(held_for)) { // rare enough by itself
            backoff_.reset();
        }
        return back_off(backoff_.next(random_));
    }
    backoff_.reset();
    return fruitless_for ? space(*fruitless_for) : accept_next();
}

SlotActions SlotMachine::stop(CloseReason why) noexcept {
    const bool is_new = !unwanted_;
    unwanted_ = why;
    if (phase_ == Phase::holding) {
        return {.leave_session = is_new, .reason = why};
    }
    const bool was_accepting = phase_ == Phase::accepting;
    phase_ = Phase::stopped;
    return {.cancel_accept = was_accepting};
}

SlotWords SlotMachine::words(const SlotWaits& waits) const noexcept {
    switch (phase_) {
    case Phase::vacant:
        return {"vacant", waits.named_sessions ? "one of the named sessions to be free" : ""};
    case Phase::accepting: return {"accepting", waits.accept ? "a session" : ""};
    case Phase::backing_off: return {"backing_off", waits.timer ? "its backoff" : ""};
    case Phase::holding: return {"open", ""};
    case Phase::stopped: return {"stopped", "nothing: stopped"};
    }
    return {};
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

// SPDX-License-Identifier: MIT
#include "processor/session/session_call.hpp"

#include <utility>

#include <sessionq/operation_context.hpp>

#include "core/access.hpp"
#include "processor/message/exception_text.hpp"
#include "processor/session/session_driver.hpp"

namespace sessionq::detail::processor {

SessionCall::SessionCall(SessionDriver& driver, std::optional<CloseReason> closes)
    : driver_{&driver},
      context_{client::Access::make<SessionContext>(driver.handled())},
      closes_{closes} {}

dispatch::Verdict SessionCall::run() noexcept {
    const Handlers& handlers = driver_->view().shared().handlers;
    try {
        const OperationContext::Scope scope{driver_->view().context()};
        if (opens() ? !handlers.session_open : !handlers.session_close) {
            return start_late(
                [this](Completion completion) { start_handler(std::move(completion)); });
        }
        call_handler();
    } catch (...) {
        handler_ended(std::current_exception());
    }
    return conclude();
}

void SessionCall::call_handler() {
    const Handlers& handlers = driver_->view().shared().handlers;
    if (closes_) {
        handlers.session_close(context_, *closes_);
    } else {
        handlers.session_open(context_);
    }
}

void SessionCall::start_handler(Completion completion) {
    const Handlers& handlers = driver_->view().shared().handlers;
    if (closes_) {
        handlers.start_session_close(context_, *closes_, std::move(completion));
    } else {
        handlers.start_session_open(context_, std::move(completion));
    }
}

SessionView& SessionCall::session_view() const noexcept { return driver_->view(); }

void SessionCall::handler_ended(std::exception_ptr error) noexcept {
    if (error) {
        failure_ = exception_text(error);
    }
}

dispatch::Verdict SessionCall::conclude() noexcept {
    // The hold comes before the notice, because the loop ends the hold when it gets the notice. No
    // other call of the session starts in between.
    driver_->view().lane().hold(1);
    driver_->view().workplace().notify(*this); // the loop may destroy the call from here on
    return dispatch::Verdict::proceed;
}

void SessionCall::noticed() { driver_->session_call_ended(); }

} // namespace sessionq::detail::processor

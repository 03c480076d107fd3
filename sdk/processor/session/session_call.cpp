// SPDX-License-Identifier: MIT
#include "processor/session/session_call.hpp"

#include <sessionq/operation_context.hpp>

#include "core/access.hpp"
#include "processor/message/exception_text.hpp"
#include "processor/session/session_driver.hpp"

namespace sessionq::detail::processor {

dispatch::Verdict SessionCall::run() noexcept {
    try {
        const OperationContext::Scope scope{driver_->view().context()};
        call_handler();
    } catch (...) {
        failure_ = exception_text(std::current_exception());
    }
    // The hold comes before the notice, because the loop ends the hold when it gets the notice. No
    // other call of the session starts in between.
    driver_->view().lane().hold(1);
    driver_->view().workplace().notify(*this); // the loop may destroy the call from here on
    return dispatch::Verdict::proceed;
}

void SessionCall::call_handler() {
    const Handlers& handlers = driver_->view().shared().handlers;
    auto context = client::Access::make<SessionContext>(driver_->handled());
    if (closes_) {
        handlers.session_close(context, *closes_);
    } else {
        handlers.session_open(context);
    }
}

void SessionCall::noticed() { driver_->session_call_ended(); }

} // namespace sessionq::detail::processor

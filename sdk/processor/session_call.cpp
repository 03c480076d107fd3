#include "processor/session_call.hpp"

#include <sessionq/operation_context.hpp>

#include "processor/exception_text.hpp"
#include "processor/session_pump.hpp"
#include "processor/shard.hpp"

namespace sessionq::processor {

dispatch::Verdict SessionCall::run() noexcept {
    try {
        const OperationContext::Scope scope{
            OperationContext{pump_->lease_expires(), pump_->stop_token()}};
        call_handler();
    } catch (...) {
        failed_ = true;
        failure_ = exception_text(std::current_exception());
    }
    pump_->shard().notify(*this); // the loop may destroy the call from here on
    return dispatch::Verdict::hold;
}

void SessionCall::call_handler() {
    const Handlers& handlers = pump_->shard().shared().handlers;
    SessionContext context{*pump_};
    if (kind_ == Kind::open) {
        handlers.session_open(context);
    } else {
        handlers.session_close(context, reason_);
    }
}

void SessionCall::noticed() { pump_->session_call_finished(*this); }

} // namespace sessionq::processor

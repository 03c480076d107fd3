// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <sessionq/call_options.hpp>

namespace sessionq::client {

/// The context of a call, combined with the ambient one, and the call's deadline. An operation is
/// made in it. The two are apart because the context's deadline travels in messages, and a timeout
/// of the call does not.
struct CallScope {
    OperationContext context;
    Deadline deadline; ///< of the context, or of the call's timeout if that is sooner

    [[nodiscard]] Deadline deadline_or(Duration configured, TimePoint now) const noexcept {
        return deadline.is_never() ? Deadline::after(configured, now) : deadline;
    }
};

[[nodiscard]] inline CallScope scope_of(const CallOptions& call, TimePoint now) {
    OperationContext context = call.context.within(OperationContext::current());
    if (call.stop.stop_possible()) {
        context = context.with_stop(call.stop);
    }
    Deadline deadline = context.deadline();
    if (call.timeout) {
        deadline = deadline.sooner(Deadline::after(*call.timeout, now));
    }
    return {.context = std::move(context), .deadline = deadline};
}

} // namespace sessionq::client

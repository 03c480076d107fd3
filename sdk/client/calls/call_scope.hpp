// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <sessionq/call_options.hpp>

namespace sessionq::detail::client {

/// The conditions under which a call runs: its context, combined with the ambient one, and its
/// deadline. `scope_of` makes the scope when the caller makes the call. The context and the
/// deadline are apart, because messages carry the deadline of the context but not the timeout of
/// the call.
struct CallScope {
    OperationContext context;
    Deadline deadline; ///< the context's, or the end of the timeout if sooner

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

} // namespace sessionq::detail::client

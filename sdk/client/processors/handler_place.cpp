// SPDX-License-Identifier: MIT
#include <sessionq/detail/handler_place.hpp>

#include <utility>

#include "core/access.hpp"
#include "core/trace_context.hpp"
#include "dispatch/coroutine_host.hpp"
#include "processor/message/handled_message.hpp"

namespace sessionq::detail {
namespace {

/// Returns the place in which a coroutine handler runs. `call` is the message that it handles, or
/// the first one of its batch.
HandlerPlacePtr place_of(const detail::processor::HandledMessage& call, OperationContext context) {
    return call.session().coroutines().place(
        std::move(context), core::MessageSpans::handler_span(call.spans), call.stop_token());
}

} // namespace

HandlerPlacePtr handler_place(MessageContext& message) {
    const detail::processor::HandledMessage& call = detail::client::Access::call(message);
    return place_of(call, core::under_trace_of(message.message(), call.operation_context()));
}

HandlerPlacePtr handler_place(std::span<MessageContext> batch) {
    return place_of(detail::client::Access::call(batch.front()), OperationContext::current());
}

HandlerPlacePtr handler_place(SessionContext& session) {
    return detail::client::Access::session(session)->coroutines().place(OperationContext::current(),
                                                                        {}, session.stop_token());
}

} // namespace sessionq::detail

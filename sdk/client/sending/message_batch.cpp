// SPDX-License-Identifier: MIT
#include <sessionq/message_batch.hpp>

#include <utility>

#include "client/check.hpp"
#include "client/sending/sender_core.hpp"
#include "client/sending/wire_size.hpp"
#include "core/as_result.hpp"
#include "core/trace_context.hpp"

namespace sessionq::inline v1 {
namespace {

/// Returns a trace context as long as that of a child span.
TraceContext context_as_long(const TraceContext* ambient) {
    return {.traceparent = "00-00000000000000000000000000000001-0000000000000001-00",
            .tracestate = ambient == nullptr ? std::string{} : ambient->tracestate};
}

} // namespace

bool MessageBatch::add_if_fits(const Message& message) {
    detail::client::check_message(message);
    detail::client::require_argument(
        !message.scheduled_enqueue_time,
        "Message::scheduled_enqueue_time is set; use Sender::schedule");
    Message added = message;
    const OperationContext& context = OperationContext::current();
    detail::client::WireSize size;
    if (traced_) {
        detail::client::complete_untraced(added, context);
        Message as_sent = added;
        core::add_trace(context_as_long(context.trace()), as_sent.properties);
        size = detail::client::wire_size(as_sent, beside_message_);
    } else {
        detail::client::complete_message(added, context);
        size = detail::client::wire_size(added, beside_message_);
    }
    const std::uint64_t as_batch = (messages_.empty() ? size.envelope : as_batch_) + size.in_batch;
    const std::uint64_t bytes = messages_.empty() ? size.alone : as_batch;
    const std::uint64_t most = messages_.empty() ? max_message_bytes_ : max_bytes_;
    if (most != 0 && bytes > most) {
        return false;
    }
    messages_.push_back(std::move(added));
    as_batch_ = as_batch;
    bytes_ = bytes;
    return true;
}

Result<void> MessageBatch::try_add(const Message& message) noexcept {
    return core::as_result([&] {
        if (!add_if_fits(message)) {
            throw Error{Errc::message_too_large, "the message does not fit into the batch"};
        }
    });
}

} // namespace sessionq::inline v1

// SPDX-License-Identifier: MIT
#include <sessionq/message_batch.hpp>

#include <utility>

#include "client/check.hpp"
#include "client/sender_core.hpp"
#include "client/wire_size.hpp"

namespace sessionq {

bool MessageBatch::try_add(const Message& message) {
    client::check_message(message);
    client::require_argument(!message.scheduled_enqueue_time,
                             "Message::scheduled_enqueue_time is set; use Sender::schedule");
    if (messages_.size() == max_messages) {
        return false;
    }
    Message added = message;
    client::complete_message(added, OperationContext::current());
    const client::WireSize size = client::wire_size(added, beside_message_);
    const std::uint64_t as_batch = (messages_.empty() ? size.envelope : as_batch_) + size.in_batch;
    const std::uint64_t bytes = messages_.empty() ? size.alone : as_batch;
    if (max_bytes_ != 0 && bytes > max_bytes_) {
        return false;
    }
    messages_.push_back(std::move(added));
    as_batch_ = as_batch;
    bytes_ = bytes;
    return true;
}

} // namespace sessionq

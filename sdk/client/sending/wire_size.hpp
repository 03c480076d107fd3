// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/message.hpp>
#include <sessionq/message_content.hpp>

#include "ports/endpoint.hpp"

namespace sessionq::detail::client {

/// The bytes that a message takes in AMQP's form: by itself, and in a batch. `MessageBatch` and a
/// redrive add up these sizes to fill a request.
struct WireSize {
    std::uint64_t alone{0};
    std::uint64_t in_batch{0};
    std::uint64_t envelope{0}; ///< bytes that a batch adds if this message is its first
};

/// `beside_message`: the bytes that the port adds to each message (`ports::SendingLimit`).
[[nodiscard]] WireSize wire_size(const Message& message, std::uint32_t beside_message = 0);

[[nodiscard]] WireSize wire_size(const MessageContent& content);

/// The bytes of the whole request in AMQP's form. The port of the local broker compares them with
/// the entity's limit.
[[nodiscard]] std::uint64_t sent_wire_size(const ports::SendRequest& request);

} // namespace sessionq::detail::client

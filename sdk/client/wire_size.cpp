// SPDX-License-Identifier: MIT
#include "client/wire_size.hpp"

#include <string>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/message_codec.hpp"

namespace sessionq::client {

WireSize wire_size(const Message& message, std::uint32_t beside_message) {
    // The epochs of the clocks: every instant takes the same room, and what is left of a deadline
    // takes the most.
    const std::string encoded = amqp::encode_message(message, {});
    const std::uint64_t size = encoded.size() + beside_message;
    return {.alone = size,
            .in_batch = amqp::batched_size(size),
            .envelope = amqp::envelope_size(encoded)};
}

std::uint64_t sent_wire_size(std::span<const Message> messages) {
    if (messages.size() == 1) {
        return wire_size(messages.front()).alone;
    }
    std::uint64_t bytes = messages.empty() ? 0 : wire_size(messages.front()).envelope;
    for (const Message& message : messages) {
        bytes += wire_size(message).in_batch;
    }
    return bytes;
}

} // namespace sessionq::client

// SPDX-License-Identifier: MIT
#include "client/sending/wire_size.hpp"

#include <string>
#include <vector>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/message_codec.hpp"

namespace sessionq::detail::client {

namespace {

WireSize wire_size_of(const std::string& encoded, std::uint32_t beside_message) {
    const std::uint64_t size = encoded.size() + beside_message;
    return {.alone = size,
            .in_batch = amqp::batched_size(size),
            .envelope = amqp::envelope_size(encoded)};
}

// Sizes are computed at the epochs of the clocks. An instant takes the same room at any clock
// reading. The time left until a deadline takes the most room at the epochs.
constexpr amqp::ClockReading epochs{};

} // namespace

WireSize wire_size(const Message& message, std::uint32_t beside_message) {
    return wire_size_of(amqp::encode_message(message, epochs), beside_message);
}

WireSize wire_size(const MessageContent& content) {
    return wire_size_of(amqp::encode_content(content, epochs), 0);
}

std::uint64_t sent_wire_size(const ports::SendRequest& request) {
    std::vector<std::string> encoded;
    encoded.reserve(request.size());
    for (const Message& message : request.messages) {
        encoded.push_back(amqp::encode_message(message, epochs));
    }
    for (const MessageContentPtr& content : request.contents) {
        encoded.push_back(amqp::encode_content(*content, epochs));
    }
    return amqp::sent_size(encoded);
}

} // namespace sessionq::detail::client

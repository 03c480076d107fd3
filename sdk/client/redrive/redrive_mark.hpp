// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/received_message.hpp>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::client {

/// The copy that a redrive sends for a dead letter of `source`, with its mark. It is the message as
/// it was encoded, with the changes that `redrive` names. The copy of one dead letter always has
/// the same message id. Throws `protocol_error` if its annotations or application properties are
/// malformed.
[[nodiscard]] MessageContentPtr redriven_copy(const ReceivedMessage& letter,
                                              std::string_view source,
                                              const amqp::ClockReading& at);

/// The sequence number of the dead letter of `source` whose copy the message is. Nothing if it is
/// not such a copy.
[[nodiscard]] std::optional<std::int64_t> redriven_from(const MessageContent& message,
                                                        std::string_view source);

} // namespace sessionq::client

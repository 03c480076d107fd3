// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/received_message.hpp>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::client {

/// The copy that a redrive sends for a dead letter of `source`, with its mark: the message as it
/// was encoded, with the changes that `redrive` names. The same dead letter always has the same
/// message id. Throws `protocol_error` if its annotations or application properties are malformed.
[[nodiscard]] MessageContentPtr redriven_copy(const ReceivedMessage& letter,
                                              std::string_view source,
                                              const amqp::ClockReading& at);

/// If the message is the copy of a dead letter of `source`, returns the sequence number of that
/// letter. Otherwise unset.
[[nodiscard]] std::optional<std::int64_t> redriven_from(const MessageContent& message,
                                                        std::string_view source);

} // namespace sessionq::client

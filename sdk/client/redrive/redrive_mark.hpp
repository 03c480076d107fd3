// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/received_message.hpp>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::detail::client {

/// Returns the copy that a redrive sends for a dead letter of `source`, with the redrive's mark.
/// The copy is the message as it was encoded, with the changes that the documentation of `redrive`
/// names. All copies of one dead letter have the same message id. Throws `protocol_error` if the
/// letter's annotations or application properties are malformed.
[[nodiscard]] MessageContentPtr redriven_copy(const ReceivedMessage& letter,
                                              std::string_view source,
                                              const amqp::ClockReading& at);

/// Returns the sequence number of the dead letter that the message was copied from. Returns nothing
/// if the message is not the copy of a dead letter of `source`.
[[nodiscard]] std::optional<std::int64_t> redriven_from(const MessageContent& message,
                                                        std::string_view source);

} // namespace sessionq::detail::client

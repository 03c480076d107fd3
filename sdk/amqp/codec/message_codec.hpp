// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::amqp {

/// Encodes a message as a sender does: header, annotations, properties, application properties, and
/// the body as one data, value or sequence section. It is created at `at`, and the time left until
/// its deadline counts from then.
[[nodiscard]] std::string encode_message(const Message& message, const ClockReading& at);

/// Encodes content as a sender does. Returns the original bytes if it came from the wire.
[[nodiscard]] std::string encode_content(const MessageContent& content, const ClockReading& at);

} // namespace sessionq::amqp

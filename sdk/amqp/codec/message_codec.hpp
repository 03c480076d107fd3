#pragma once

#include <string>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::amqp {

/// A message as a sender puts it on the wire: header, annotations, properties, application
/// properties, one data section.
[[nodiscard]] std::string encode_message(const Message& message, const ClockReading& at);

/// The same of one that was created before.
[[nodiscard]] std::string encode_message(const Message& message, WallTime created,
                                         const ClockReading& at);

/// The content as a sender would have put it: its own bytes where it came over a wire.
[[nodiscard]] std::string encode_content(const MessageContent& content, const ClockReading& at);

} // namespace sessionq::amqp

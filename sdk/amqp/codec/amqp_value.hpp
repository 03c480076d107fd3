// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <sessionq/amqp_value.hpp>

#include "amqp/codec/message_sections.hpp"

namespace sessionq::amqp {

class Encoder;

/// Appends a value. The bytes of an `EncodedValue` stay as they are.
void write_value(const AmqpValue& value, Encoder& encoder);
void write_list(const AmqpList& list, Encoder& encoder);

/// Sets the body of a message: a value, a sequence, whose sections it joins, or bytes. A value or a
/// sequence that cannot be decoded stays as `bytes`, because brokers carry it.
void read_body(const MessageSections& sections, std::string_view bytes, Message& into);

} // namespace sessionq::amqp

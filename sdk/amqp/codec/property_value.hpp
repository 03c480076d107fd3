// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include <sessionq/message.hpp>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

class Encoder;

/// Converts an application property, with its type. An `EncodedValue` whose bytes are not one
/// value becomes null.
[[nodiscard]] Value to_value(const PropertyValue& value);
[[nodiscard]] PropertyValue to_property(const Value& value);

/// Appends a property. The bytes of an `EncodedValue` stay as they are.
void write_property(const PropertyValue& value, Encoder& encoder);

/// Returns true if `read_property` can decode these bytes. Builds nothing.
[[nodiscard]] bool can_read_property(std::string_view encoded);

/// Decodes exactly one value. Returns nothing if the bytes are malformed.
[[nodiscard]] std::optional<PropertyValue> read_property(std::string_view encoded);

} // namespace sessionq::amqp

// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include <sessionq/message.hpp>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

/// Converts an application property. A value that PropertyValue cannot hold becomes its text.
[[nodiscard]] Value to_value(const PropertyValue& value);
[[nodiscard]] PropertyValue to_property(const Value& value);

/// Decodes exactly one value. Returns nothing if the bytes are malformed.
[[nodiscard]] std::optional<PropertyValue> read_property(std::string_view encoded);

} // namespace sessionq::amqp

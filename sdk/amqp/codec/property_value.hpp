#pragma once

#include <optional>
#include <string_view>

#include <sessionq/message.hpp>

#include "amqp/codec/value.hpp"

namespace sessionq::amqp {

/// An application property's value, there and back. What has no place in a PropertyValue comes as
/// its text.
[[nodiscard]] Value to_value(const PropertyValue& value);
[[nodiscard]] PropertyValue to_property(const Value& value);

/// The same of exactly one encoded value; nothing if it is none.
[[nodiscard]] std::optional<PropertyValue> read_property(std::string_view encoded);

} // namespace sessionq::amqp

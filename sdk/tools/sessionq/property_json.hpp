// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/message.hpp>

#include "tools/sessionq/json_text.hpp"

namespace sessionq::cli {

/// A value of an application property. Those that JSON has no type for are objects with one member,
/// such as {"int32": 5}; `parse_value` knows the names. An object with the member "amqp" holds a
/// value as AMQP encodes it.
[[nodiscard]] Json json_of(const PropertyValue& value);
[[nodiscard]] Json json_of(const Properties& properties);

/// Reads them again. `member` is its name in errors. Throws RecordError.
[[nodiscard]] PropertyValue read_value(const std::string& member, const Json& value);

/// The bytes of a member that is base64. Throws RecordError.
[[nodiscard]] std::string read_base64(const std::string& member, const Json& value);

} // namespace sessionq::cli

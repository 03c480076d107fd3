// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <sessionq/message.hpp>

namespace sessionq::cli {

/// Reads an application property: NAME=VALUE for text, or NAME:TYPE=VALUE with one of the types
/// string, int, uint, double, bool, time, base64 and null. A name that contains ':' needs a type.
/// Throws UsageError.
[[nodiscard]] std::pair<std::string, PropertyValue> parse_property(std::string_view text);

} // namespace sessionq::cli

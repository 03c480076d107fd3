// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace replay {

/// Checks that `line` is one JSON object, and reads the fields `names` from its top level, in that
/// order. Strings are unchanged. Numbers and booleans become their JSON text. Returns the error, or
/// nothing.
[[nodiscard]] std::string read_json_line(std::string_view line, std::span<const std::string> names,
                                         std::span<std::string> values);

} // namespace replay

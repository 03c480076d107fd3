#pragma once

#include <span>
#include <string>
#include <string_view>

namespace replay {

/// Checks that `line` is one JSON object and takes the values of the fields named in `names` from
/// its top level, in that order: strings as they are, numbers and booleans as their JSON text.
/// Returns what is wrong, or nothing.
[[nodiscard]] std::string read_json_line(std::string_view line, std::span<const std::string> names,
                                         std::span<std::string> values);

} // namespace replay

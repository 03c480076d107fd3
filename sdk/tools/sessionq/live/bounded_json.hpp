// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "tools/sessionq/json_text.hpp"

namespace sessionq::cli {

/// Reads JSON from outside. Nothing if it is invalid, or deeper than 32 levels: writing it again
/// would take stack for each.
[[nodiscard]] std::optional<Json> parse_bounded_json(std::string_view text);

} // namespace sessionq::cli

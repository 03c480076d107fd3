// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace sessionq::server {

/// Parses an ISO 8601 duration: `PT30S`, `P1DT12H`, `PT0.5S`. A year has 365 days, a month 30.
/// Returns nothing if the text is malformed or the duration does not fit.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(
    std::string_view text) noexcept;

} // namespace sessionq::server

#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace sessionq::server {

/// A duration as ISO 8601 writes it: `PT30S`, `P1DT12H`, `PT0.5S`; a year has 365 days and a
/// month 30. Nothing: it is none, or longer than the type holds.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(
    std::string_view text) noexcept;

} // namespace sessionq::server

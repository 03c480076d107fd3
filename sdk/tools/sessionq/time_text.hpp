// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::cli {

/// Reads "200ms", "1.5s", "2m", "1h", "7d" or "0". Nothing if the text is no duration, or one of
/// more than a hundred years.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

/// The shortest text that `parse_duration` reads: "90s", "1500ms".
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

/// Reads a time of RFC 3339, "2026-11-24T18:30:00.5Z" or with an offset such as "+01:00". Nothing
/// if the text is no such time.
[[nodiscard]] std::optional<WallTime> parse_time(std::string_view text);

/// A time of RFC 3339 in UTC, with milliseconds if there are any.
[[nodiscard]] std::string time_text(WallTime time);

} // namespace sessionq::cli

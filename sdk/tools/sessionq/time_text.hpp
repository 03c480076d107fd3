// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/property_value.hpp>
#include <sessionq/time.hpp>

namespace sessionq::cli {

/// Reads "200ms", "1.5s", "2m", "1h", "7d" or "0". Nothing if the text is no duration, or one of
/// more than a hundred years.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

/// The shortest text that `parse_duration` reads: "90s", "1500ms".
[[nodiscard]] std::string duration_text(std::chrono::milliseconds duration);

/// The same for times to live, which may have any length.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_milliseconds(std::string_view text);

/// Reads a time of RFC 3339, "2026-11-24T18:30:00.5Z" or with an offset such as "+01:00". Nothing
/// if the text is no such time. Years that `WallTime` cannot hold give one of its ends.
[[nodiscard]] std::optional<WallTime> parse_time(std::string_view text);
/// The same in units of 100 ns, for the years 1 to 9999.
[[nodiscard]] std::optional<DateTimeOffset> parse_instant(std::string_view text);

/// A time of RFC 3339 in UTC, with milliseconds if there are any. The ends of `WallTime` are those
/// of the years 1 to 9999.
[[nodiscard]] std::string time_text(WallTime time);
/// The same with all digits. Nothing outside of the years 1 to 9999.
[[nodiscard]] std::optional<std::string> instant_text(const DateTimeOffset& instant);

/// Reads and writes a length of time as .NET does: "[-][d.]hh:mm:ss[.fffffff]".
[[nodiscard]] std::optional<TimeSpan> parse_time_span(std::string_view text);
[[nodiscard]] std::string time_span_text(TimeSpan span);

/// An instant, if it lies in the years that `parse_instant` reads.
[[nodiscard]] std::optional<DateTimeOffset> instant_of(std::chrono::milliseconds since_1970);

} // namespace sessionq::cli

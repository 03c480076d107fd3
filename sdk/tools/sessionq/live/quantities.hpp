// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Quantities as people read them, in few characters.
namespace sessionq::cli {

/// "0", "15ns", "250us", "3.2ms", "12.5s", "4m05s", "3h20m", "2d03h".
/// Lengths below zero count as zero.
[[nodiscard]] std::string length_text(double seconds);

/// "1,234,567".
[[nodiscard]] std::string count_text(std::uint64_t count);

/// "1 session", "2,000 sessions": the noun with an s unless the count is 1.
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& noun);

/// "512 B", "1.5 KiB", "64.0 MiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// How much a total grew in `seconds`, a second. Nothing if it fell (its owner started again), or
/// if no time has passed.
[[nodiscard]] std::optional<double> rate_of(double before, double now, double seconds);

/// "12.3", "1,204", "0". "-": not known.
[[nodiscard]] std::string rate_text(const std::optional<double>& rate);

} // namespace sessionq::cli

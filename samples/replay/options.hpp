// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace replay {

/// The options of the command line. All are within range.
struct Options {
    std::string input{};
    std::string session_key{};
    std::optional<std::string> outcome{};
    std::uint32_t concurrent_sessions{1024};
    std::uint32_t calls_per_session{1};
    std::chrono::nanoseconds idle_timeout{std::chrono::milliseconds{200}};
    std::uint32_t workers{0}; ///< Zero: one per core. The command line requires 1 or more.
    std::chrono::nanoseconds handler_time{0};
    std::string connection{}; ///< Empty: a broker in this process.
    std::string entity{"records"};
    bool json{false};
};

/// Returns the options, or the help text. Throws InputError naming the option that is unknown,
/// missing or invalid.
[[nodiscard]] std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

/// Parses "200ms", "1.5s", "2m", "10us" or "0". Returns nothing for other text or more than a day.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(
    std::string_view text) noexcept;

} // namespace replay

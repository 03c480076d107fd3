#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace replay {

/// What the command line asks for. Everything in it is within range.
struct Options {
    std::string input{};
    std::string session_key{};
    std::optional<std::string> outcome{};
    std::uint32_t concurrent_sessions{1024};
    std::uint32_t calls_per_session{1};
    std::chrono::nanoseconds idle_timeout{std::chrono::milliseconds{200}};
    std::uint32_t workers{0}; ///< 0: one per core. On the command line at least 1.
    std::chrono::nanoseconds handler_time{0};
    std::string connection{}; ///< Empty: a broker of its own, in this process.
    std::string entity{"records"};
    bool json{false};
};

/// The options, or the help text that was asked for. Throws InputError naming the option that is
/// unknown, missing or impossible.
[[nodiscard]] std::variant<Options, std::string> parse_options(int argc, const char* const* argv);

/// "200ms", "1.5s", "2m", "10us", or a bare "0"; nothing if it is none of these or longer than a
/// day.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(
    std::string_view text) noexcept;

} // namespace replay

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/time.hpp>

#include "tools/command_line.hpp"

namespace sessionq::cli {

enum class Command : std::uint8_t { send, receive, consume, peek, sessions, state };

/// The options of the command line, checked without any I/O.
struct Options {
    Command command{Command::peek};
    std::string connection{};
    std::string ca_file{};
    std::string entity{};
    std::optional<std::string> session{};
    std::vector<std::string> bodies{}; ///< send; empty: the lines of standard input
    std::uint32_t count{0};            ///< receive, peek: most messages; zero: all
    Duration wait{std::chrono::seconds{5}};
    std::int64_t from{0};
    bool follows{false}; ///< peek: then show what comes
    std::uint32_t concurrent_sessions{8};
    Duration idle_timeout{std::chrono::seconds{1}};
    std::optional<std::string> new_state{};
    bool clears_state{false};
};

using tools::UsageError;

struct ParsedCommandLine {
    Options options{};
    std::string help{}; ///< not empty: help was requested
};
/// Throws UsageError. `environment`: the connection string of the environment, or empty.
[[nodiscard]] ParsedCommandLine parse_command_line(int count, const char* const* arguments,
                                                   const std::string& environment);

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>
#include <string_view>

#include <sessionq/logging.hpp>

namespace sessionq::core {

/// Passes one line to the sink, whatever the log level. Use `log`, which checks the level first.
void write_log(LogLevel level, std::string_view component, std::string_view text) noexcept;

/// Logs the concatenation of `parts`. Formats it only if the level is enabled. Never throws.
template <typename... Parts>
void log(LogLevel level, std::string_view component, const Parts&... parts) noexcept {
    if (level < log_level()) {
        return;
    }
    try {
        std::ostringstream line;
        (line << ... << parts);
        write_log(level, component, line.str());
    } catch (...) { // out of memory: drop the line
    }
}

} // namespace sessionq::core

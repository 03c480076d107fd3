#pragma once

#include <sstream>
#include <string_view>

#include <sessionq/logging.hpp>

namespace sessionq::core {

/// Hands one line to the sink, whatever the level; `log` below asks the level first.
void write_log(LogLevel level, std::string_view component, std::string_view text) noexcept;

/// Logs the concatenation of `parts`, formatted only when the level is on. Never throws.
template <typename... Parts>
void log(LogLevel level, std::string_view component, const Parts&... parts) noexcept {
    if (level < log_level()) {
        return;
    }
    try {
        std::ostringstream line;
        (line << ... << parts);
        write_log(level, component, line.str());
    } catch (...) { // no memory for the line: the line is what we can do without
    }
}

} // namespace sessionq::core

// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <sessionq/logging.hpp>

namespace sessionq::core {

/// Passes one record to the sink at every log level. Use `log` or `log_event`, which check the
/// level first.
void write_log(const LogRecord& record) noexcept;

/// Writes how often events that were held back have occurred, for each kind whose time is over.
void write_held_log() noexcept;

/// Logs the concatenation of `parts` as an event of that name, with the fields that have a value.
/// Formats it only if the level is enabled. Never throws.
template <typename... Parts>
void log_event(LogLevel level, std::string_view component, std::string_view event,
               std::initializer_list<LogField> fields, const Parts&... parts) noexcept {
    if (level < log_level()) {
        return;
    }
    try {
        std::ostringstream line;
        (line << ... << parts);
        const std::string text = line.str();
        std::vector<LogField> told;
        for (const LogField& field : fields) {
            if (!field.value.empty()) {
                told.push_back(field);
            }
        }
        write_log(
            {.level = level, .component = component, .event = event, .text = text, .fields = told});
    } catch (...) { // out of memory: drop the line
    }
}

/// The same without a name: it is never held back.
template <typename... Parts>
void log(LogLevel level, std::string_view component, const Parts&... parts) noexcept {
    log_event(level, component, {}, {}, parts...);
}

} // namespace sessionq::core

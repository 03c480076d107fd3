#pragma once

#include <functional>
#include <string_view>

namespace sessionq {

/// How much a log line matters, rising. `off`, as a level that is set, lets nothing through.
enum class LogLevel { trace, debug, info, warning, error, off };

[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

/// Receives each log line at or above the level. Called on whichever thread logs, receive threads
/// among them: must be thread-safe, quick and must not call sessionq. What it throws is swallowed.
/// `component` is a part of sessionq ("processor"), `text` one line without a secret (R24); both
/// are valid only during the call.
using LogSink =
    std::function<void(LogLevel level, std::string_view component, std::string_view text)>;

/// Replaces the process-wide sink; an empty one restores the default, which writes to standard
/// error. Thread-safe; the old sink may still be running in another thread when the call returns,
/// and is destroyed after its last use.
void set_log_sink(LogSink sink);

/// Sets the process-wide level; the default is `warning`. Thread-safe.
void set_log_level(LogLevel level) noexcept;

[[nodiscard]] LogLevel log_level() noexcept;

} // namespace sessionq

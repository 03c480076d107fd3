// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>

namespace sessionq {

/// The importance of a log line, ascending. As the level set, `off` suppresses all lines.
enum class LogLevel { trace, debug, info, warning, error, off };

[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

/// Receives each log line at or above the level. Any thread may call it, also a receive thread: it
/// must be thread-safe and quick, and must not call sessionq. Its exceptions are ignored.
/// `component` is a part of sessionq ("processor"). `text` is one line and contains no secret. Both
/// are valid only during the call.
using LogSink =
    std::function<void(LogLevel level, std::string_view component, std::string_view text)>;

/// Replaces the process-wide sink. An empty sink restores the default, which writes to standard
/// error. Thread-safe. The old sink may still run in another thread when this returns. It is
/// destroyed after its last use.
void set_log_sink(LogSink sink);

/// Sets the process-wide level. Default `warning`. Thread-safe.
void set_log_level(LogLevel level) noexcept;

/// The process-wide level. Thread-safe.
[[nodiscard]] LogLevel log_level() noexcept;

} // namespace sessionq

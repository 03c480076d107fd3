// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string_view>

#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// The importance of a log line, ascending. A failure that may cost the user something is at least
/// a `warning`; if a processor's `on_error` is told of it, the line is at `debug`. `info` tells the
/// life of connections and processors, `debug` that of sessions, `trace` the way of each message.
/// As the level set, `off` suppresses all lines.
enum class LogLevel { trace, debug, info, warning, error, off };

/// For example "warning".
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

/// Writes `to_string(level)`.
std::ostream& operator<<(std::ostream& out, LogLevel level);

/// A fact about an event. Names in use: `entity`, `session`, `message_id`, `sequence`, `attempt`,
/// `code` (of an `Errc`), `fate` (of a `MessageFate`), `reason` (of a `CloseReason`), `state` (of a
/// `Health`), `outcome` (of a settlement) and `peer` (HOST:PORT). A record has those that have a
/// value.
struct LogField {
    std::string_view name{};
    std::string_view value{};
    bool is_number{false}; ///< `value` is a whole number, written in decimal digits.
};

/// One line of the log. It contains no secret. All of it is valid only during the call of a sink.
struct LogRecord {
    LogLevel level{LogLevel::info};
    WallTime time{};
    std::string_view component{}; ///< A part of sessionq, for example "processor".
    std::string_view event{};     ///< A word for programs, "connection_lost". Empty: it has none.
    std::string_view text{};      ///< For people, one line. It contains the facts of the fields.
    std::span<const LogField> fields{};
    /// So many more failures like an earlier one were held back, and `text` is the last of them.
    /// Zero: it is an event of its own.
    std::uint64_t repeated{0};
};

/// Receives each log line at or above the level. Any thread may call it, also a receive thread: it
/// must be thread-safe and quick, and must not call sessionq. Its exceptions are ignored.
using LogSink = std::function<void(const LogRecord& record)>;

/// Gets a line without its end. The rules for a `LogSink` apply.
using LogLineWriter = std::function<void(std::string_view line)>;

/// Writes lines for people: "sessionq warning [processor] text". Null: to standard error.
///
/// Example:
///
///     set_log_sink(text_log_sink([](std::string_view line) { std::clog << line << '\n'; }));
///     if (log_level() > LogLevel::info) {
///         set_log_level(LogLevel::info);
///     }
[[nodiscard]] LogSink text_log_sink(LogLineWriter write = nullptr);

/// Writes each record as a JSON object in one line, with the members `time` (UTC, RFC 3339),
/// `level`, `component`, `event`, `text`, the fields, and `repeated`. Numbers are JSON numbers. An
/// empty event and a zero `repeated` are left out. Null: to standard error.
///
/// Example:
///
///     set_log_sink(json_log_sink());
///     set_log_level(LogLevel::info);
[[nodiscard]] LogSink json_log_sink(LogLineWriter write = nullptr);

/// Replaces the process-wide sink. An empty sink restores the default, which is `text_log_sink`.
/// Thread-safe. The old sink may still run in another thread when this returns. It is destroyed
/// after its last use, or when the process ends. Static objects may log before `main` and after it.
///
/// Failures, which are events with a `code`, are held back if they have the same name, entity, peer
/// and code as one in the 10 s before. Then one record tells how many there were. It comes with the
/// next line or the next look of a processor at its health, or with `flush_log`.
void set_log_sink(LogSink sink);

/// Writes at once the records that are held back. Thread-safe.
void flush_log();

/// Sets the process-wide level. Default `warning`. Thread-safe.
void set_log_level(LogLevel level) noexcept;

/// The process-wide level. Thread-safe.
[[nodiscard]] LogLevel log_level() noexcept;

} // namespace sessionq::inline v1

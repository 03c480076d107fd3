// SPDX-License-Identifier: MIT
#include "core/log.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "core/clock.hpp"
#include "core/log_folding.hpp"

namespace sessionq::inline v1 {
namespace {

std::atomic<LogLevel> current_level{LogLevel::warning};

struct Log {
    std::mutex mutex{};
    // guarded by mutex
    std::shared_ptr<const LogSink> sink{}; ///< null: the default
    core::LogFolding folding{};
};

/// Static objects of an application may log before `main` and after it, so this is made when it is
/// first asked for and never destroyed. The application's sink is.
Log& the_log() {
    static Log& log = *new Log;
    static const std::shared_ptr<void> at_exit{&log, [](void*) { set_log_sink({}); }};
    return log;
}

/// Without the lock: a sink is the application's.
void pass_on(const std::shared_ptr<const LogSink>& sink, const LogRecord& record) noexcept {
    try {
        if (sink) {
            (*sink)(record);
        } else {
            static const LogSink& to_standard_error = *new LogSink{text_log_sink()};
            to_standard_error(record);
        }
    } catch (...) { // a throwing sink must not end a receive thread
    }
}

void pass_on(const std::shared_ptr<const LogSink>& sink,
             const core::LogFolding::HeldKinds& held) noexcept {
    for (const core::LogFolding::Held& each : held) {
        pass_on(sink, each.last->record(each.count));
    }
}

} // namespace

std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
    case LogLevel::trace: return "trace";
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
    case LogLevel::off: return "off";
    }
    return "unknown";
}

void set_log_sink(LogSink sink) {
    auto replacement = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
    Log& log = the_log();
    const std::lock_guard lock{log.mutex};
    log.sink.swap(replacement);
    log.folding = {};
}

void flush_log() {
    Log& log = the_log();
    std::unique_lock lock{log.mutex};
    const auto held = log.folding.all();
    const auto sink = log.sink;
    lock.unlock();
    pass_on(sink, held);
}

void set_log_level(LogLevel level) noexcept {
    current_level.store(level, std::memory_order_relaxed);
}

LogLevel log_level() noexcept { return current_level.load(std::memory_order_relaxed); }

} // namespace sessionq::inline v1

namespace sessionq::core {

void write_log(const LogRecord& record) noexcept try {
    LogRecord timed = record;
    timed.time = system_clock().wall_now();
    const TimePoint now = system_clock().now();
    Log& log = the_log();
    std::unique_lock lock{log.mutex};
    const auto held = log.folding.due(now);
    const bool is_written = log.folding.offer(timed, now);
    const auto sink = log.sink;
    lock.unlock();
    pass_on(sink, held);
    if (is_written) {
        pass_on(sink, timed);
    }
} catch (...) { // out of memory: drop the line
}

void write_held_log() noexcept try {
    Log& log = the_log();
    std::unique_lock lock{log.mutex};
    const auto held = log.folding.due(system_clock().now());
    const auto sink = log.sink;
    lock.unlock();
    pass_on(sink, held);
} catch (...) {
}

} // namespace sessionq::core

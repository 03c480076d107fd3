// SPDX-License-Identifier: MIT
#include "core/log.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "core/clock.hpp"
#include "core/log_folding.hpp"

namespace sessionq {
namespace {

std::atomic<LogLevel> current_level{LogLevel::warning};
std::mutex sink_mutex;
// guarded by sink_mutex
std::shared_ptr<const LogSink> current_sink; // null: the default
core::LogFolding folding;

/// Without the lock: a sink is the application's.
void pass_on(const std::shared_ptr<const LogSink>& sink, const LogRecord& record) noexcept {
    try {
        if (sink) {
            (*sink)(record);
        } else {
            static const LogSink to_standard_error = text_log_sink();
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
    const std::lock_guard lock{sink_mutex};
    current_sink.swap(replacement);
    folding = {};
}

void flush_log() {
    std::unique_lock lock{sink_mutex};
    const auto held = folding.all();
    const auto sink = current_sink;
    lock.unlock();
    pass_on(sink, held);
}

void set_log_level(LogLevel level) noexcept {
    current_level.store(level, std::memory_order_relaxed);
}

LogLevel log_level() noexcept { return current_level.load(std::memory_order_relaxed); }

namespace core {

void write_log(const LogRecord& record) noexcept try {
    LogRecord timed = record;
    timed.time = system_clock().wall_now();
    const TimePoint now = system_clock().now();
    std::unique_lock lock{sink_mutex};
    const auto held = folding.due(now);
    const bool is_written = folding.offer(timed, now);
    const auto sink = current_sink;
    lock.unlock();
    pass_on(sink, held);
    if (is_written) {
        pass_on(sink, timed);
    }
} catch (...) { // out of memory: drop the line
}

void write_held_log() noexcept try {
    std::unique_lock lock{sink_mutex};
    const auto held = folding.due(system_clock().now());
    const auto sink = current_sink;
    lock.unlock();
    pass_on(sink, held);
} catch (...) {
}

} // namespace core
} // namespace sessionq

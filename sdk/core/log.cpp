// SPDX-License-Identifier: MIT
#include "core/log.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace sessionq {
namespace {

std::atomic<LogLevel> current_level{LogLevel::warning};
std::mutex sink_mutex;
// guarded by sink_mutex; null writes to standard error
std::shared_ptr<const LogSink> current_sink;

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
}

void set_log_level(LogLevel level) noexcept {
    current_level.store(level, std::memory_order_relaxed);
}

LogLevel log_level() noexcept { return current_level.load(std::memory_order_relaxed); }

namespace core {

void write_log(LogLevel level, std::string_view component, std::string_view text) noexcept {
    try {
        std::shared_ptr<const LogSink> sink;
        {
            const std::lock_guard lock{sink_mutex};
            sink = current_sink;
        }
        if (sink) {
            (*sink)(level, component, text);
            return;
        }
        std::string line{"sessionq "};
        line.append(to_string(level))
            .append(" [")
            .append(component)
            .append("] ")
            .append(text)
            .append("\n");
        std::fwrite(line.data(), 1, line.size(), stderr);
    } catch (...) { // a throwing sink must not end a receive thread
    }
}

} // namespace core
} // namespace sessionq

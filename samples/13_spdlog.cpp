// SPDX-License-Identifier: MIT
// sessionq's log in an application that logs with spdlog: levels, times, components and fields stay
// the same. Needs spdlog (Debian: libspdlog-dev).

#include <iostream>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <sessionq/sessionq.hpp>

namespace {

spdlog::level::level_enum level_of(sessionq::LogLevel level) {
    switch (level) {
    case sessionq::LogLevel::trace: return spdlog::level::trace;
    case sessionq::LogLevel::debug: return spdlog::level::debug;
    case sessionq::LogLevel::info: return spdlog::level::info;
    case sessionq::LogLevel::warning: return spdlog::level::warn;
    case sessionq::LogLevel::error: return spdlog::level::err;
    case sessionq::LogLevel::off: return spdlog::level::off;
    }
    return spdlog::level::err;
}

/// `key=value`, as logfmt has it. A value with blanks stands in quotes.
void add_field(std::string& line, std::string_view name, std::string_view value) {
    line.append(" ").append(name).append("=");
    if (!value.empty() && value.find_first_of(" \"=\\") == std::string_view::npos) {
        line.append(value);
        return;
    }
    line += '"';
    for (const char each : value) {
        if (each == '"' || each == '\\') {
            line += '\\';
        }
        line += each;
    }
    line += '"';
}

/// The text, then the event and its fields.
std::string line_of(const sessionq::LogRecord& record) {
    std::string line{record.text};
    if (!record.event.empty()) {
        add_field(line, "event", record.event);
    }
    for (const sessionq::LogField& field : record.fields) {
        add_field(line, field.name, field.value);
    }
    if (record.repeated != 0) {
        add_field(line, "repeated", std::to_string(record.repeated));
    }
    return line;
}

/// A logger like the application's for each part of sessionq, "sessionq.processor" for example, so
/// that the pattern's %n tells the source. Any thread may call it.
class SpdlogSink {
public:
    explicit SpdlogSink(std::shared_ptr<spdlog::logger> like) : like_{std::move(like)} {}

    void operator()(const sessionq::LogRecord& record) {
        logger_of(record.component)->log(record.time, {}, level_of(record.level), line_of(record));
    }

private:
    std::shared_ptr<spdlog::logger> logger_of(std::string_view component) {
        const std::lock_guard lock{mutex_};
        std::shared_ptr<spdlog::logger>& logger = loggers_[std::string{component}];
        if (logger == nullptr) {
            logger = like_->clone("sessionq." + std::string{component});
        }
        return logger;
    }

    std::shared_ptr<spdlog::logger> like_;
    std::mutex mutex_{};
    std::map<std::string, std::shared_ptr<spdlog::logger>> loggers_{};
};

/// A message whose handler throws. The log tells the fate of the message.
void fail_once() {
    sessionq::LocalBroker broker;
    broker.create_queue("orders");
    const auto client = sessionq::Client::in_process(broker);
    sessionq::Sender{client, "orders"}.send(sessionq::Message::of("order").in_session("ada"));

    std::latch handled{1};
    sessionq::SessionProcessor orders{client, "orders"};
    orders.on_message([&](sessionq::MessageContext& context) {
        if (context.message().delivery_count() == 0) {
            throw std::runtime_error{"the warehouse is closed"};
        }
        handled.count_down();
    });
    orders.start();
    handled.wait();
    orders.stop();
}

} // namespace

int main() {
    std::ostringstream kept;
    const auto to_memory = std::make_shared<spdlog::sinks::ostream_sink_mt>(kept);
    const auto to_terminal = std::make_shared<spdlog::sinks::stdout_sink_mt>();
    const auto application =
        std::make_shared<spdlog::logger>("shop", spdlog::sinks_init_list{to_terminal, to_memory});
    application->set_level(spdlog::level::debug);
    application->set_pattern("%T.%e %-7l %n: %v");

    // sessionq drops records below its own level before it calls the sink.
    const auto sink = std::make_shared<SpdlogSink>(application);
    sessionq::set_log_sink([sink](const sessionq::LogRecord& record) { (*sink)(record); });
    sessionq::set_log_level(sessionq::LogLevel::debug);

    application->info("one order");
    fail_once();
    sessionq::flush_log();
    sessionq::set_log_sink({}); // before spdlog goes

    const std::string log = kept.str();
    for (const char* expected : {"warning sessionq.processor: ", "the warehouse is closed",
                                 " entity=orders", " session=ada", " code=handler_failed"}) {
        if (log.find(expected) == std::string::npos) {
            std::cerr << "the log does not contain '" << expected << "'\n";
            return 1;
        }
    }
}

// SPDX-License-Identifier: MIT
#include <sessionq/logging.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

const std::array fields{LogField{.name = "entity", .value = "orders"},
                        LogField{.name = "session", .value = "a\"\n\x1b\xff"}};

LogRecord lost() {
    return {.level = LogLevel::warning,
            .time = WallTime{1'785'000'000s + 1500us},
            .component = "processor",
            .event = "session_lost",
            .text = "it is lost",
            .fields = fields};
}

} // namespace

TEST_CASE("log sinks: a line for people") {
    std::string line;
    const LogSink sink = text_log_sink([&line](std::string_view text) { line = text; });
    sink(lost());
    CHECK(line == "sessionq warning [processor] it is lost");
    LogRecord more = lost();
    more.repeated = 109;
    sink(more);
    CHECK(line == "sessionq warning [processor] 109 more, the last: it is lost");
}

TEST_CASE("log sinks: a record is a JSON object in one line, whatever its fields contain") {
    std::string line;
    const LogSink sink = json_log_sink([&line](std::string_view text) { line = text; });
    sink(lost());
    CHECK(line == R"({"time":"2026-07-25T17:20:00.001500Z","level":"warning",)"
                  R"("component":"processor","event":"session_lost","text":"it is lost",)"
                  R"("entity":"orders","session":"a\"\n\u001b)"
                  "\xef\xbf\xbd\"}");
    const std::array numbers{LogField{.name = "sequence", .value = "-12", .is_number = true},
                             LogField{.name = "code", .value = "7"},
                             LogField{.name = "attempt", .value = "x", .is_number = true}};
    sink({.level = LogLevel::info, .component = "amqp", .text = "plain", .fields = numbers});
    CHECK(line.ends_with(R"("text":"plain","sequence":-12,"code":"7","attempt":"x"})"));
    sink({.level = LogLevel::info, .component = "amqp", .text = "plain", .repeated = 2});
    CHECK(line == R"({"time":"1970-01-01T00:00:00.000000Z","level":"info",)"
                  R"("component":"amqp","text":"plain","repeated":2})");
}

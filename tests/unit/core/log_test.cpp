// SPDX-License-Identifier: MIT
#include "core/log.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

using namespace sessionq;

namespace {

struct Fixture {
    Fixture() {
        set_log_sink([this](const LogRecord& record) {
            lines.append(to_string(record.level))
                .append(" ")
                .append(record.component)
                .append(": ")
                .append(record.repeated != 0 ? std::to_string(record.repeated) + " more: " : "")
                .append(record.text)
                .append("\n");
        });
    }
    ~Fixture() {
        set_log_sink({});
        set_log_level(before);
    }
    LogLevel before{log_level()};
    std::string lines{};
};

struct Unprintable {
    friend std::ostream& operator<<(std::ostream& /*out*/, const Unprintable&) {
        throw std::runtime_error{"formatted"};
    }
};

} // namespace

TEST_CASE_FIXTURE(Fixture,
                  "log: lines at the level or above reach the sink, joined from their parts") {
    set_log_level(LogLevel::info);
    core::log(LogLevel::debug, "part", "below");
    core::log(LogLevel::info, "part", "a=", 1, ' ', std::string{"b"});
    core::log(LogLevel::error, "part", "worse");
    CHECK(lines == "info part: a=1 b\nerror part: worse\n");
}

TEST_CASE_FIXTURE(Fixture, "log: level off suppresses every line") {
    set_log_level(LogLevel::off);
    core::log(LogLevel::error, "part", "lost");
    CHECK(lines.empty());
    CHECK(log_level() == LogLevel::off);
}

TEST_CASE_FIXTURE(Fixture, "log: a part that throws only loses its line") {
    set_log_level(LogLevel::info);
    core::log(LogLevel::error, "part", Unprintable{});
    CHECK(lines.empty());
}

TEST_CASE_FIXTURE(Fixture, "log: what repeats an event is held back until it is asked for") {
    set_log_level(LogLevel::info);
    for (int i = 1; i <= 4; ++i) {
        core::log_event(LogLevel::warning, "part", "lost", {{"entity", "orders"}, {"code", "x"}},
                        "no. ", i);
    }
    core::log_event(LogLevel::warning, "part", "lost", {{"entity", "others"}, {"code", "x"}},
                    "another");
    core::log(LogLevel::warning, "part", "plain");
    core::log(LogLevel::warning, "part", "plain");
    CHECK(lines == "warning part: no. 1\nwarning part: another\nwarning part: plain\n"
                   "warning part: plain\n");
    lines.clear();
    flush_log();
    CHECK(lines == "warning part: 3 more: no. 4\n");
    lines.clear();
    flush_log();
    CHECK(lines.empty());
}

TEST_CASE_FIXTURE(Fixture, "log: an exception from the sink is ignored") {
    set_log_level(LogLevel::info);
    int calls = 0;
    set_log_sink([&](const LogRecord&) {
        ++calls;
        throw std::runtime_error{"sink"};
    });
    core::log(LogLevel::error, "part", "text");
    CHECK(calls == 1);
}

TEST_CASE_FIXTURE(Fixture, "log: without a sink a line goes to the standard error output") {
    set_log_sink({});
    set_log_level(LogLevel::info);
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int kept = ::dup(STDERR_FILENO);
    ::dup2(::fileno(file), STDERR_FILENO);
    core::log(LogLevel::info, "part", "text");
    std::fflush(stderr);
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
    std::rewind(file);
    std::string written(100, '\0');
    written.resize(std::fread(written.data(), 1, written.size(), file));
    std::fclose(file);
    CHECK(written == "sessionq info [part] text\n");
}

TEST_CASE("log: fields without a value are left out") {
    std::string told;
    set_log_sink([&told](const LogRecord& record) {
        for (const LogField& field : record.fields) {
            told.append(field.name).append("=").append(field.value).append(" ");
        }
    });
    core::log_event(LogLevel::warning, "part", "lost",
                    {{"entity", "orders"}, {"session", ""}, {"sequence", "7", true}}, "it");
    set_log_sink({});
    CHECK(told == "entity=orders sequence=7 ");
}

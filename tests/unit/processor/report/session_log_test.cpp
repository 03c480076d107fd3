// SPDX-License-Identifier: MIT
#include "processor/report/session_log.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using test::ProcessorBench;

namespace {

/// What the log tells of sessions and messages at a level, each line as "event: text".
std::vector<std::string> told_at(LogLevel level) {
    std::vector<std::string> lines;
    set_log_level(level);
    set_log_sink([&lines](const LogRecord& record) {
        if (record.level < LogLevel::info) {
            lines.push_back(std::string{record.event} + ": " + std::string{record.text});
        }
    });
    {
        ProcessorBench bench;
        bench.start();
        const auto link = bench.open("ada");
        bench.deliver(link, {"1"});
        bench.stop(std::chrono::seconds{1});
    }
    set_log_sink(nullptr);
    set_log_level(LogLevel::warning);
    return lines;
}

} // namespace

TEST_CASE("session log: debug tells the life of a session") {
    CHECK(told_at(LogLevel::debug) ==
          std::vector<std::string>{"session_opened: session 'ada' of 'orders' is opened",
                                   "session_closed: session 'ada' of 'orders' is closed: stopped"});
}

TEST_CASE("session log: trace tells the way of a message too") {
    CHECK(told_at(LogLevel::trace) ==
          std::vector<std::string>{"session_opened: session 'ada' of 'orders' is opened",
                                   "message_received: message 1 of session 'ada' of 'orders' is "
                                   "received",
                                   "message_settling: message 1 of session 'ada' of 'orders' is "
                                   "settled: complete",
                                   "session_closed: session 'ada' of 'orders' is closed: stopped"});
}

TEST_CASE("session log: a lock too short for the way to the broker is told once, at its start") {
    std::vector<std::string> lines;
    set_log_sink([&lines](const LogRecord& record) {
        if (record.event == "doubtful_setting") {
            lines.emplace_back(record.text);
        }
    });
    {
        ProcessorBench bench{{.session_idle_timeout = std::chrono::hours{1}}};
        bench.start();
        const auto link = bench.open("ada", std::chrono::seconds{5});
        const auto renew_after = [&](std::chrono::milliseconds wait) {
            bench.advance(wait);
            bench.advance(std::chrono::milliseconds{1500});
            REQUIRE(link->answer_renewal(ports::LockGrant{.length = std::chrono::seconds{5}}));
            bench.run();
        };
        renew_after(std::chrono::milliseconds{2500});
        renew_after(std::chrono::milliseconds{1000}); // half of what the first one has granted
    }
    set_log_sink(nullptr);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("the locks of 'orders' last 5000 ms, and the broker took 1500 ms"));
}

TEST_CASE("session log: other levels tell nothing of it") {
    CHECK(told_at(LogLevel::info).empty());
}

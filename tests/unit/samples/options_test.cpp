// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "replay/input_error.hpp"
#include "replay/options.hpp"

using namespace replay;
using namespace std::chrono_literals;

namespace {

std::variant<Options, std::string> parse(std::initializer_list<const char*> arguments) {
    std::vector<const char*> argv{"replay"};
    argv.insert(argv.end(), arguments);
    return parse_options(static_cast<int>(argv.size()), argv.data());
}

/// What is said of `arguments` besides a usable input and key.
std::string complaint_about(std::initializer_list<const char*> arguments) {
    std::vector<const char*> argv{"replay", "--input", "f", "--session-key", "k"};
    argv.insert(argv.end(), arguments);
    try {
        (void)parse_options(static_cast<int>(argv.size()), argv.data());
        return "none";
    } catch (const InputError& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("options: defaults") {
    const auto options = std::get<Options>(parse({"--input", "f", "--session-key", "k"}));
    CHECK(options.input == "f");
    CHECK(options.session_key == "k");
    CHECK_FALSE(options.outcome);
    CHECK(options.calls_per_session == 1);
    CHECK(options.idle_timeout == 200ms);
    CHECK(options.workers == 0);
    CHECK(options.handler_time == 0ms);
    CHECK_FALSE(options.json);
}

TEST_CASE("options: everything set, in both spellings") {
    const auto options = std::get<Options>(
        parse({"--input=f", "--session-key=k", "--outcome", "state", "--concurrent-sessions", "7",
               "--calls-per-session=3", "--idle-timeout", "0", "--workers", "2", "--handler-time",
               "1.5ms", "--json"}));
    CHECK(options.outcome == "state");
    CHECK(options.concurrent_sessions == 7);
    CHECK(options.calls_per_session == 3);
    CHECK(options.idle_timeout == 0ns);
    CHECK(options.workers == 2);
    CHECK(options.handler_time == 1500us);
    CHECK(options.json);
}

TEST_CASE("options: help is a text, not an error") {
    CHECK(std::get<std::string>(parse({"--help"})).find("--session-key") != std::string::npos);
    CHECK(std::get<std::string>(parse({"--version"})).starts_with("replay "));
}

TEST_CASE("options: what is missing or unknown is named") {
    CHECK_THROWS_WITH_AS((void)parse({"--session-key", "k"}), doctest::Contains("--input"),
                         InputError);
    CHECK_THROWS_WITH_AS((void)parse({"--input", "f"}), doctest::Contains("--session-key"),
                         InputError);
    CHECK(complaint_about({"--speed"}).find("--speed") != std::string::npos);
    CHECK(complaint_about({"stray"}) == "there are more arguments than expected");
    // what follows may be a secret
    CHECK(complaint_about({"--conection", "key"}) == "--conection: no such option");
    CHECK(complaint_about({"--workers"}).find("--workers") != std::string::npos);
    CHECK(complaint_about({"--input", "again"}).find("--input") != std::string::npos);
    CHECK(complaint_about({"--work", "2"}).find("--work") != std::string::npos);
}

TEST_CASE("options: counts out of range are refused by option and value") {
    CHECK(complaint_about({"--workers", "0"}) ==
          "--workers: '0' is not a whole number from 1 to 1024");
    CHECK(complaint_about({"--concurrent-sessions", "0"}) ==
          "--concurrent-sessions: '0' is not a whole number from 1 to 100000");
    CHECK(complaint_about({"--calls-per-session", "0"}) ==
          "--calls-per-session: '0' is not a whole number from 1 to 10000");
    for (const char* bad : {"-1", "1.5", "two", "4294967297", "1025", " 1", ""}) {
        CAPTURE(bad);
        const std::string argument = std::string{"--workers="} + bad;
        CHECK(complaint_about({argument.c_str()}).find("--workers") != std::string::npos);
    }
}

TEST_CASE("options: durations that are none are refused by option and value") {
    CHECK(complaint_about({"--idle-timeout", "200"}) ==
          "--idle-timeout: '200' is not a duration of at most a day; write for example 200ms, 1.5s "
          "or 0");
    CHECK(complaint_about({"--handler-time=-5ms"}).find("--handler-time: '-5ms'") !=
          std::string::npos);
}

TEST_CASE("options: durations") {
    CHECK(parse_duration("200ms") == 200ms);
    CHECK(parse_duration("1.5s") == 1500ms);
    CHECK(parse_duration("10us") == 10us);
    CHECK(parse_duration("2m") == 2min);
    CHECK(parse_duration("24h") == 24h);
    CHECK(parse_duration("0") == 0ns);
    CHECK(parse_duration("0s") == 0ns);
    for (const char* bad : {"", "ms", "5", "-1s", "1 s", "1sec", "25h", "nan", "inf", "1e3s", "1s2",
                            "99999999999999999999h"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_duration(bad));
    }
}

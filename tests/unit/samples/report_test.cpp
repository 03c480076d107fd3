// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <chrono>
#include <sstream>

#include <nlohmann/json.hpp>

#include "replay/report.hpp"

using namespace replay;
using namespace std::chrono_literals;

namespace {

const Report report{
    .figures = {.sent = 1000, .sessions = 10, .out_of_order = 1, .lost = 2, .duplicated = 3},
    .rolls = 8,
    .longest_wait = 2500us,
    .elapsed = 2s};

} // namespace

TEST_CASE("report: one line of JSON with exactly these keys") {
    std::ostringstream out;
    write_json(out, report);
    const auto line = nlohmann::ordered_json::parse(out.str());
    CHECK(line.dump() ==
          R"({"messages":1000,"sessions":10,"rolls":8,"out_of_order":1,"lost":2,"duplicated":3,)"
          R"("longest_wait_ms":2.5,"seconds":2.0,"messages_per_second":499.0})");
    CHECK(out.str().find('\n') == out.str().size() - 1);
}

TEST_CASE("report: the text names every figure") {
    std::ostringstream out;
    write_text(out, report);
    CHECK(out.str() == "1000 messages in 10 sessions, 8 rolls\n"
                       "1 out of order, 2 lost, 3 duplicated\n"
                       "longest wait of a ready session: 2.5 ms\n"
                       "2.0 s, 499.0 messages/s\n");
}

TEST_CASE("report: outcomes are a table and a count by outcome") {
    std::ostringstream out;
    write_outcomes(out, {{"libc6", 9, "installed"}, {"a", 2, "installed"}, {"b", 1, "unpacked"}},
                   2);
    CHECK(out.str() == "session  messages  last\n"
                       "libc6           9  installed\n"
                       "a               2  installed\n"
                       "... and 1 more\n"
                       "sessions by last: 2 installed, 1 unpacked\n");
}

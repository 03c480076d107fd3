// SPDX-License-Identifier: MIT
#include "processor/doubtful_settings.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::processor;
using namespace std::chrono_literals;

TEST_CASE("doubtful settings: the defaults are none, and neither are settings that fit") {
    CHECK(doubtful_settings({}).empty());
    CHECK(doubtful_settings({.max_concurrent_sessions = 2,
                             .max_concurrent_calls_per_session = 4,
                             .max_concurrent_calls = 2,
                             .session_idle_timeout = 5s,
                             .max_hold = 5s,
                             .prefetch = 4,
                             .worker_threads = 2,
                             .accept_wait = 1s,
                             .session_ids = {"a", "b", "c"}})
              .empty());
}

TEST_CASE("doubtful settings: each is told with its members") {
    struct Row {
        ProcessorOptions options;
        const char* member;
    };
    const Row rows[] = {
        {{.max_concurrent_calls_per_session = 4, .prefetch = 3}, "prefetch 3"},
        {{.max_concurrent_sessions = 1,
          .session_idle_timeout = Duration::max(),
          .session_ids = {"a", "b"}},
         "session_ids has 2"},
        {{.accept_wait = 999ms}, "accept_wait"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.member);
        const auto doubts = doubtful_settings(row.options);
        REQUIRE(doubts.size() == 1);
        CHECK(doubts.front().find(row.member) != std::string::npos);
    }
}

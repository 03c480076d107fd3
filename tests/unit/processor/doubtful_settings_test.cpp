// SPDX-License-Identifier: MIT
#include "processor/doubtful_settings.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::detail::processor;
using namespace std::chrono_literals;

namespace {

const ports::Capabilities& local_broker() {
    static const ports::Capabilities capabilities{"the local broker", {}};
    return capabilities;
}

std::vector<std::string> doubts_of(const SessionProcessorOptions& options,
                                   ports::Scope scope = ports::Scope::session,
                                   const ports::Capabilities& capabilities = local_broker()) {
    return doubtful_settings(options, capabilities, scope);
}

} // namespace

TEST_CASE("doubtful settings: the defaults are none, and neither are settings that fit") {
    CHECK(doubts_of({}).empty());
    CHECK(doubts_of({.max_concurrent_sessions = 2,
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
        SessionProcessorOptions options;
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
        const auto doubts = doubts_of(row.options);
        REQUIRE(doubts.size() == 1);
        CHECK(doubts.front().find(row.member) != std::string::npos);
    }
}

TEST_CASE("doubtful settings: fewer workers than handlers that may run at once") {
    CHECK_FALSE(doubtful_workers({}));
    CHECK_FALSE(doubtful_workers({.max_concurrent_sessions = 16, .worker_threads = 16}));
    CHECK_FALSE(doubtful_workers(
        {.max_concurrent_sessions = 16, .max_concurrent_calls = 4, .worker_threads = 4}));
    CHECK_FALSE(doubtful_workers({.max_concurrent_sessions = 1'000, .worker_threads = 64}));
    const auto doubt = doubtful_workers({.max_concurrent_sessions = 16, .worker_threads = 2});
    REQUIRE(doubt);
    CHECK(doubt->starts_with("worker_threads 2 "));
    CHECK(doubtful_workers({.max_concurrent_sessions = 8,
                            .max_concurrent_calls_per_session = 2,
                            .worker_threads = 15}));
}

TEST_CASE("doubtful settings: a session that may be idle for longer than the broker lets its link "
          "be") {
    const ports::Capabilities broker{"the broker", {}, "x", 10min};
    CHECK(doubts_of({.session_idle_timeout = 10min}, ports::Scope::session, broker).empty());
    CHECK(doubts_of({.session_idle_timeout = 11min}, ports::Scope::session, broker) ==
          std::vector<std::string>{"session_idle_timeout is longer than 10 min: the broker ends a "
                                   "session's link that was idle for so long"});
    CHECK(doubts_of({.session_idle_timeout = Duration::max()}, ports::Scope::session, broker)
              .size() == 1);
    // The link of an entity is made again.
    CHECK(
        doubts_of({.session_idle_timeout = Duration::max()}, ports::Scope::entity, broker).empty());
}

// SPDX-License-Identifier: MIT
#include "processor/report/health_board.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace sessionq::detail::processor;
using namespace std::chrono_literals;

namespace {

Health of_causes(Health::State state, std::vector<HealthReason> reasons) {
    return {.state = state, .reasons = std::move(reasons)};
}

constexpr auto degraded = Health::State::degraded;
constexpr auto failed = Health::State::failed;
constexpr auto healthy = Health::State::healthy;

} // namespace

TEST_CASE("health board: one reason for each cause at an entity, of what lasts longest") {
    std::vector<HealthReason> reasons;
    add_reason(reasons, {.cause = HealthCause::handler_slow, .session_id = "a", .since = 2s});
    add_reason(reasons, {.cause = HealthCause::handler_slow, .session_id = "b", .since = 3s});
    add_reason(reasons, {.cause = HealthCause::handler_slow, .session_id = "c", .since = 1s});
    add_reason(reasons, {.cause = HealthCause::handler_slow, .entity = "other", .since = 9s});
    REQUIRE(reasons.size() == 2);
    CHECK(reasons[0].session_id == "b");
    CHECK(reasons[0].count == 3);
    CHECK(reasons[1].count == 1);
}

TEST_CASE("health board: a processor has failed when all of it has") {
    const HealthReason reason{.cause = HealthCause::accept_refused};
    CHECK(merged({}).state == healthy);
    CHECK(merged({{}, {}}).state == healthy);
    CHECK(merged({of_causes(failed, {reason}), {}}).state == degraded);
    const Health whole = merged({of_causes(failed, {reason}), of_causes(failed, {reason})});
    CHECK(whole.state == failed);
    CHECK(whole.reasons.size() == 1);
}

TEST_CASE("health board: news is another state or another cause, not another length") {
    HealthBoard board{2};
    HealthReason reason{.cause = HealthCause::workers_busy, .entity = "orders", .since = 10s};
    CHECK(board.put(0, {}) == nullptr);
    REQUIRE(board.put(0, of_causes(degraded, {reason})) != nullptr);
    reason.since = 20s;
    CHECK(board.put(0, of_causes(degraded, {reason})) == nullptr);
    CHECK(board.put(1, of_causes(degraded, {reason})) == nullptr); // the same for the processor
    const HealthReason other{.cause = HealthCause::handler_slow, .entity = "orders"};
    const Health* news = board.put(1, of_causes(degraded, {reason, other}));
    REQUIRE(news != nullptr);
    CHECK(news->reasons.size() == 2);
    CHECK(board.put(0, {}) == nullptr); // the other thread still has it
    news = board.put(1, {});
    REQUIRE(news != nullptr);
    CHECK(news->state == healthy);
}

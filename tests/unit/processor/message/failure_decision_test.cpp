// SPDX-License-Identifier: MIT
#include "processor/message/failure_decision.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::decide_failure;
using detail::processor::FailureDecision;
using Action = FailurePolicy::Action;

TEST_CASE("failure decision: R9: the action is taken once the attempts are used up") {
    struct Row {
        FailurePolicy policy;
        std::uint32_t attempt;
        bool may_wait;
        std::optional<Action> step;
    };
    constexpr std::optional<Action> retry{};
    const BackoffOptions delay{.min = 10ms, .max = 1s};
    const Row rows[] = {
        {FailurePolicy::abandon_at_once(), 1, true, Action::abandon},
        {FailurePolicy::abandon(), 1, true, Action::park_session}, // for its delay
        {FailurePolicy::abandon(), 1, false, Action::abandon},
        {FailurePolicy::dead_letter(), 1, true, Action::dead_letter},
        {FailurePolicy::dead_letter(), 1, false, Action::dead_letter},
        {FailurePolicy::dead_letter_session(), 1, true, Action::dead_letter_session},
        {FailurePolicy::park_session(5s), 1, true, Action::park_session},
        {FailurePolicy::park_session(5s), 1, false,
         Action::abandon}, // the session is being left: nothing to park
        {FailurePolicy::abandon().after_attempts(3, delay), 1, true, retry},
        {FailurePolicy::abandon().after_attempts(3, delay), 2, true, retry},
        {FailurePolicy::abandon_at_once().after_attempts(3, delay), 3, true, Action::abandon},
        {FailurePolicy::abandon().after_attempts(3, delay), 1, false, Action::abandon},
        {FailurePolicy::dead_letter().after_attempts(2, delay), 1, true, retry},
        {FailurePolicy::dead_letter().after_attempts(2, delay), 2, true, Action::dead_letter},
        {FailurePolicy::dead_letter_session().after_attempts(2, delay), 2, true,
         Action::dead_letter_session},
        {FailurePolicy::park_session(5s).after_attempts(2, delay), 2, true, Action::park_session},
    };
    core::Random random{1};
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.policy.action));
        CAPTURE(row.policy.max_attempts);
        CAPTURE(row.attempt);
        CAPTURE(row.may_wait);
        CHECK(decide_failure(row.policy, {.attempt = row.attempt, .may_wait = row.may_wait}, random)
                  .action == row.step);
    }
}

TEST_CASE("failure decision: retries in place wait longer each time, with jitter") {
    const FailurePolicy policy =
        FailurePolicy::abandon().after_attempts(10, {.min = 100ms, .max = 400ms});
    core::Random random{1};
    const Duration full[] = {100ms, 200ms, 400ms, 400ms};
    for (std::uint32_t attempt = 1; attempt <= 4; ++attempt) {
        CAPTURE(attempt);
        const FailureDecision decision = decide_failure(policy, {.attempt = attempt}, random);
        CHECK(decision.delay >= full[attempt - 1] / 2);
        CHECK(decision.delay <= full[attempt - 1]);
    }
}

TEST_CASE("failure decision: parking lasts as long as the policy says, other actions do not wait") {
    core::Random random{1};
    const FailurePolicy parks = FailurePolicy::park_session(42s);
    CHECK(decide_failure(parks, {}, random).delay == 42s);
    CHECK(decide_failure(parks, {.may_wait = false}, random).delay == Duration::zero());
    CHECK(decide_failure(FailurePolicy::dead_letter(), {}, random).delay == Duration::zero());
}

TEST_CASE("failure decision: R9: abandon waits longer with each delivery, not while leaving") {
    core::Random random{1};
    const FailurePolicy policy = FailurePolicy::abandon_after({.min = 100ms, .max = 400ms});
    const Duration full[] = {100ms, 200ms, 400ms, 400ms};
    for (std::uint32_t deliveries = 0; deliveries < 4; ++deliveries) {
        CAPTURE(deliveries);
        const FailureDecision decision = decide_failure(policy, {.deliveries = deliveries}, random);
        CHECK(decision.delay >= full[deliveries] / 2);
        CHECK(decision.delay <= full[deliveries]);
        const FailureDecision leaving =
            decide_failure(policy, {.deliveries = deliveries, .may_wait = false}, random);
        CHECK(leaving.action == Action::abandon);
        CHECK(leaving.delay == Duration::zero());
    }
}

TEST_CASE("failure decision: a released message waits as an abandoned one does") {
    core::Random random{1};
    const auto release = [&](const FailurePolicy& policy, bool ordered, bool may_wait) {
        return detail::processor::decide_release(policy, {.may_wait = may_wait, .ordered = ordered},
                                                 random);
    };
    const FailurePolicy slow{.action = Action::dead_letter,
                             .abandon_delay = {.min = 10s, .max = 10s}};
    const FailureDecision parks = release(slow, true, true);
    CHECK(parks.action == Action::park_session);
    CHECK(parks.delay >= 5s);
    CHECK(release(slow, true, false).action == Action::abandon);
    CHECK(release(FailurePolicy::abandon_at_once(), true, true).action == Action::abandon);
    const FailureDecision alone = release(slow, false, true);
    CHECK(alone.action == Action::abandon);
    CHECK(alone.delay >= 5s);
    CHECK(release(slow, false, false).delay == Duration::zero());
}

TEST_CASE("failure decision: without an order the message waits, and no session is parked") {
    core::Random random{1};
    const FailurePolicy policy = FailurePolicy::abandon_after({.min = 100ms, .max = 400ms});
    const Duration full[] = {100ms, 200ms, 400ms, 400ms};
    for (std::uint32_t deliveries = 0; deliveries < 4; ++deliveries) {
        CAPTURE(deliveries);
        const FailureDecision decision =
            decide_failure(policy, {.deliveries = deliveries, .ordered = false}, random);
        CHECK(decision.action == Action::abandon);
        CHECK(decision.delay >= full[deliveries] / 2);
        CHECK(decision.delay <= full[deliveries]);
    }
    const FailureDecision leaving =
        decide_failure(policy, {.may_wait = false, .ordered = false}, random);
    CHECK(leaving.action == Action::abandon);
    CHECK(leaving.delay == Duration::zero());
}

TEST_CASE("failure decision: R9: a delayed retry takes the delay of its delivery, also at a stop") {
    core::Random random{1};
    const FailurePolicy policy = FailurePolicy::retry_later({1s, 60s});
    const Duration delays[] = {1s, 60s, 60s};
    for (std::uint32_t deliveries = 0; deliveries < 3; ++deliveries) {
        for (const bool may_wait : {true, false}) {
            CAPTURE(deliveries);
            const FailureDecision decision =
                decide_failure(policy, {.deliveries = deliveries, .may_wait = may_wait}, random);
            CHECK(decision.action == Action::retry_later);
            CHECK(decision.delay == delays[deliveries]);
        }
    }
}

TEST_CASE("failure decision: ten deliveries of the default policy take half a minute or more") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        core::Random random{seed};
        Duration all{};
        for (std::uint32_t deliveries = 0; deliveries < 10; ++deliveries) {
            all += decide_failure(FailurePolicy{}, {.deliveries = deliveries}, random).delay;
        }
        CHECK(all >= 30s);
    }
}

TEST_CASE("failure: a handler that is to settle its message and returns without that has failed") {
    CHECK_FALSE(detail::processor::is_unsettled(true, false));
    CHECK_FALSE(detail::processor::is_unsettled(true, true));
    CHECK_FALSE(detail::processor::is_unsettled(false, true));
    CHECK(detail::processor::is_unsettled(false, false));
}

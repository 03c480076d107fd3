// SPDX-License-Identifier: MIT
#include <sessionq/health.hpp>

#include <doctest/doctest.h>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

/// A bench that writes down each change of health.
struct HealthBench : ProcessorBench {
    explicit HealthBench(SessionProcessorOptions options = {},
                         std::vector<std::string> entities = {"orders"})
        : ProcessorBench{std::move(options), std::move(entities)} {
        handlers.health_changed = [this](const Health& health) {
            told.append(told.empty() ? "" : ", ").append(to_string(health.state));
            for (const HealthReason& each : health.reasons) {
                told.append(" ").append(to_string(each.cause));
            }
        };
    }
    [[nodiscard]] Health health() { return processor->describe_here().health; }
    [[nodiscard]] std::string take_told() { return std::exchange(told, {}); }

    std::string told{};
};

} // namespace

TEST_CASE("health: an hour of steady work is healthy") {
    HealthBench bench{{.max_concurrent_sessions = 2}};
    bench.start();
    for (int i = 0; i < 1200; ++i) {
        const auto link = bench.open("a", 30s);
        bench.deliver(link, {"1", "2"});
        bench.advance(3s);
        CHECK(bench.health().state == Health::State::healthy);
    }
    CHECK(bench.told.empty());
}

TEST_CASE("health: a handler that hangs, until it returns") {
    HealthBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("ada");
    bench.deliver(link, {"1"});
    bench.advance(59s);
    CHECK(bench.told.empty());
    bench.advance(2s);
    CHECK(bench.take_told() == "degraded handler_slow");
    const Health health = bench.health();
    REQUIRE(health.reasons.size() == 1);
    CHECK(health.reasons.front().entity == "orders");
    CHECK(health.reasons.front().session_id == "ada");
    CHECK(health.reasons.front().since >= 60s);
    CHECK(health.to_string().find("no handler of session 'ada' has finished") != std::string::npos);
    bench.finish();
    CHECK(bench.health().state == Health::State::healthy); // at once
    bench.advance(1s);
    CHECK(bench.take_told() == "healthy");
}

TEST_CASE("health: a session that is ready while a handler of another keeps the only call") {
    HealthBench bench{{.max_concurrent_sessions = 2, .max_concurrent_calls = 1}};
    bench.holds = true;
    bench.start();
    const auto a = bench.open("a");
    const auto b = bench.open("b");
    bench.deliver(a, {"1"});
    bench.deliver(b, {"2"});
    bench.advance(9s);
    CHECK(bench.told.empty());
    bench.advance(2s);
    CHECK(bench.take_told() == "degraded workers_busy");
    CHECK(bench.health().reasons.at(0).session_id == "b");
    bench.finish();
    CHECK(bench.health().state == Health::State::healthy);
    bench.advance(1s);
    CHECK(bench.take_told() == "healthy");
    bench.finish();
}

TEST_CASE("health: settlements without an answer") {
    HealthBench bench;
    bench.answers = false;
    bench.start();
    const auto link = bench.open("a");
    bench.deliver(link, {"1"});
    bench.advance(9s);
    CHECK(bench.told.empty());
    bench.advance(2s);
    CHECK(bench.take_told() == "degraded settlement_unanswered");
    CHECK(link->answer_settlement());
    bench.run();
    CHECK(bench.health().state == Health::State::healthy);
    link->answers = true;
}

TEST_CASE("health: an entity that is not there has failed at once") {
    HealthBench bench;
    bench.start();
    bench.endpoint.refuse(Errc::entity_not_found);
    bench.advance(1s);
    CHECK(bench.take_told() == "failed accept_refused");
    while (bench.endpoint.accepts.empty()) { // it is asked again: the broker lets it wait
        bench.advance(10ms);
    }
    CHECK(bench.health().state == Health::State::failed);
    bench.advance(1s);
    CHECK(bench.health().state == Health::State::healthy);
    bench.advance(1s);
    CHECK(bench.take_told() == "healthy");
}

TEST_CASE("health: a session that comes ends a row of refusals at once") {
    HealthBench bench;
    bench.start();
    bench.endpoint.refuse(Errc::unauthorized);
    bench.run();
    while (bench.endpoint.accepts.empty()) {
        bench.advance(10ms);
    }
    CHECK(bench.health().state == Health::State::failed);
    static_cast<void>(bench.open("a"));
    CHECK(bench.health().state == Health::State::healthy);
}

TEST_CASE("health: an accept without an answer, until there is one") {
    HealthBench bench;
    bench.start();
    bench.advance(67s); // accept_wait and its grace
    CHECK(bench.take_told() == "degraded accept_unanswered");
    bench.advance(30s); // that the next one waits shows nothing
    CHECK(bench.health().state == Health::State::degraded);
    bench.endpoint.refuse(Errc::cancelled); // the one that was given up
    bench.endpoint.refuse(Errc::no_session_available);
    bench.run();
    CHECK(bench.health().state == Health::State::healthy);
}

TEST_CASE("health: a parked session") {
    HealthBench bench{{.failure_policy = FailurePolicy::park_session(1min)}};
    bench.handle = [](MessageContext&) { throw std::runtime_error{"no"}; };
    bench.start();
    const auto link = bench.open("ada");
    bench.deliver(link, {"1"});
    bench.advance(9s);
    CHECK(bench.take_told().empty());
    bench.advance(2s);
    CHECK(bench.take_told() == "degraded sessions_parked");
    bench.handle = {};
    bench.advance(52s);
    CHECK(bench.take_told() == "healthy");
}

TEST_CASE("health: a session that is retried after a moment is no cause") {
    HealthBench bench{{.failure_policy = FailurePolicy::park_session(8ms)}};
    bench.handle = [](MessageContext&) { throw std::runtime_error{"no"}; };
    bench.start();
    const auto link = bench.open("ada");
    bench.deliver(link, {"1"});
    CHECK(bench.processor->describe_here().parked.size() == 1);
    CHECK(bench.health().state == Health::State::healthy);
}

TEST_CASE("health: a session whose on_session_open throws is told as parked") {
    HealthBench bench{{.error_backoff = {.min = 1min, .max = 1min}}};
    bench.handlers.session_open = [](SessionContext&) { throw std::runtime_error{"no"}; };
    bench.start();
    bench.open("ada");
    bench.advance(11s);
    CHECK(bench.take_told() == "degraded sessions_parked");
    CHECK(bench.health().reasons.at(0).detail == "session 'ada' is parked: on_session_open threw");
}

TEST_CASE("health: a paused processor needs nothing") {
    HealthBench bench;
    bench.start();
    bench.endpoint.refuse(Errc::entity_not_found);
    bench.run();
    bench.processor->pause();
    bench.run();
    CHECK(bench.health().state == Health::State::healthy);
}

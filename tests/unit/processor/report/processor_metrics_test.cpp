// SPDX-License-Identifier: MIT
#include "processor/report/processor_metrics.hpp"

#include <doctest/doctest.h>

#include "unit/processor/support/processor_bench.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::processor::Counters;
using detail::processor::Meters;
using detail::processor::ProcessorMetrics;
using test::ProcessorBench;

namespace {

Metrics metrics_of(const ProcessorBench& bench) {
    const ProcessorDescription described = bench.processor->describe_here();
    return bench.processor->metrics(&described);
}

MetricAttributes closed_by(const char* reason) { return {{"sessionq.close_reason", reason}}; }
MetricAttributes ended_as(const char* outcome) { return {{"sessionq.outcome", outcome}}; }

} // namespace

TEST_CASE("processor metrics: attributes name the system and the entity") {
    const auto attributes = [](std::vector<std::string> entities, const char* client_id = "") {
        ProcessorMetrics all{"servicebus", client_id, entities};
        all.add(*std::make_unique<Meters>());
        return all.take().find("sessionq.message.expired")->points.front().attributes;
    };
    CHECK(attributes({"orders"}) == MetricAttributes{{"messaging.system", "servicebus"},
                                                     {"messaging.destination.name", "orders"}});
    CHECK(attributes({"news/Subscriptions/mine"}) ==
          MetricAttributes{{"messaging.system", "servicebus"},
                           {"messaging.destination.name", "news"},
                           {"messaging.destination.subscription.name", "mine"}});
    CHECK(attributes({"a", "b"}) ==
          MetricAttributes{{"messaging.system", "servicebus"}, {"sessionq.entities", "a,b"}});
    CHECK(attributes({"orders"}, "billing") ==
          MetricAttributes{{"messaging.system", "servicebus"},
                           {"messaging.client.id", "billing"},
                           {"messaging.destination.name", "orders"}});
}

TEST_CASE("processor metrics: health is a point for each state, and one for each cause there is") {
    const auto of = [](const Health& health) {
        ProcessorMetrics all{"sessionq", {}, {"orders"}};
        all.add(health);
        return all.take();
    };
    const auto in = [](const Metrics& metrics, const char* state) {
        return metrics.value("sessionq.processor.health", {{"sessionq.state", state}});
    };
    const Metrics good = of({});
    CHECK(in(good, "healthy") == 1);
    CHECK(in(good, "degraded") == 0);
    CHECK(good.find("sessionq.processor.health")->points.size() == 3);
    CHECK(good.find("sessionq.health.reason") == nullptr);
    const HealthReason parked{.cause = HealthCause::sessions_parked};
    Metrics both = of({.state = Health::State::degraded, .reasons = {parked, parked}});
    both += good;
    CHECK(in(both, "healthy") == 1);
    CHECK(in(both, "degraded") == 1);
    CHECK(both.value("sessionq.health.reason", {{"sessionq.cause", "sessions_parked"}}) == 2);
}

TEST_CASE("processor metrics: what shards have measured adds up") {
    const auto meters = std::make_unique<Meters>();
    meters->counters.received(0);
    meters->hold.add(3s);
    ProcessorMetrics all{"sessionq", {}, {"orders"}};
    all.add(*meters);
    all.add(*meters);
    const Metrics metrics = all.take();
    CHECK(metrics.value("messaging.client.consumed.messages") == 2);
    CHECK(metrics.histogram("sessionq.session.hold").count() == 2);
    CHECK(metrics.find("sessionq.session.hold")->points.size() == 1);
}

TEST_CASE("processor metrics: every reason to close has its point, whose text is to_string's") {
    ProcessorMetrics all{"sessionq", {}, {"orders"}};
    all.add(*std::make_unique<Meters>());
    const Metrics metrics = all.take();
    const Metric& closed = *metrics.find("sessionq.session.closed");
    CHECK(closed.points.size() == detail::processor::close_reasons);
    CHECK(closed.points.back().attributes.back().value == to_string(CloseReason::unresponsive));
}

TEST_CASE("processor metrics: gauges of what was described") {
    ProcessorMetrics all{"sessionq", {}, {"orders"}};
    all.add(ProcessorDescription{
        .buffered_bytes = 700,
        .slots = {{.state = "open", .window = 32, .in_flight = 3, .running = 1},
                  {.state = "open", .window = 8, .in_flight = 2, .ready_for = 30ms},
                  {.state = "vacant"}},
        .parked = {{.state = "parked", .in_flight = 1, .ready_for = 10ms}},
        .settling = {{.state = "leaving"}, {.state = "leaving"}}});
    const Metrics metrics = all.take();
    CHECK(metrics.value("sessionq.slot.count", {{"sessionq.state", "open"}}) == 2);
    CHECK(metrics.value("sessionq.slot.count", {{"sessionq.state", "vacant"}}) == 1);
    CHECK(metrics.value("sessionq.session.without_slot", {{"sessionq.state", "parked"}}) == 1);
    CHECK(metrics.value("sessionq.session.without_slot", {{"sessionq.state", "settling"}}) == 2);
    CHECK(metrics.value("sessionq.session.ready") == 2);
    CHECK(metrics.value("sessionq.session.ready.age") == doctest::Approx(0.03));
    CHECK(metrics.value("sessionq.message.in_flight") == 6);
    CHECK(metrics.value("sessionq.message.window") == 40);
    CHECK(metrics.value("sessionq.message.running") == 1);
    CHECK(metrics.value("sessionq.buffer.usage") == 700);
}

TEST_CASE("processor metrics: every counter has its name and attribute") {
    struct Row {
        Counters::Count Counters::*counter;
        const char* name;
        MetricAttributes attributes{};
    };
    const auto result = [](const char* text) {
        return MetricAttributes{{"sessionq.result", text}};
    };
    const std::vector<Row> rows{
        {&Counters::messages_received, "messaging.client.consumed.messages"},
        {&Counters::messages_redelivered, "sessionq.message.redelivered"},
        {&Counters::messages_handled, "sessionq.message.handled", result("returned")},
        {&Counters::messages_failed, "sessionq.message.handled", result("threw")},
        {&Counters::messages_retried, "sessionq.message.retries"},
        {&Counters::messages_expired, "sessionq.message.expired"},
        {&Counters::messages_completed, "sessionq.message.ended", ended_as("completed")},
        {&Counters::messages_abandoned, "sessionq.message.ended", ended_as("abandoned")},
        {&Counters::messages_dead_lettered, "sessionq.message.ended", ended_as("dead_lettered")},
        {&Counters::messages_deferred, "sessionq.message.ended", ended_as("deferred")},
        {&Counters::messages_released, "sessionq.message.ended", ended_as("released")},
        {&Counters::messages_lost, "sessionq.message.ended", ended_as("lost")},
        {&Counters::settlement_failures, "sessionq.settlement.failures"},
        {&Counters::sessions_accepted, "sessionq.accept.answers", result("session")},
        {&Counters::empty_accepts, "sessionq.accept.answers", result("empty")},
        {&Counters::accept_failures, "sessionq.accept.answers", result("failed")},
        {&Counters::late_accepts, "sessionq.accept.answers", result("late")},
        {&Counters::surplus_accepts, "sessionq.accept.answers", result("surplus")},
        {&Counters::sessions_opened, "sessionq.session.opened"},
        {&Counters::sessions_parked, "sessionq.session.parked"},
        {&Counters::locks_lost, "sessionq.lock.lost"},
        {&Counters::lock_renewals, "sessionq.lock.renewals"},
    };
    const auto meters = std::make_unique<Meters>();
    std::uint64_t count = 0;
    for (const Row& row : rows) {
        (meters->counters.*row.counter).add(++count);
    }
    ProcessorMetrics all{"sessionq", {}, {"orders"}};
    all.add(*meters);
    const Metrics metrics = all.take();
    count = 0;
    for (const Row& row : rows) {
        CAPTURE(row.name);
        ++count;
        CHECK(metrics.value(row.name, row.attributes) == count);
    }
}

TEST_CASE("processor metrics: without a description there are no gauges") {
    ProcessorBench bench;
    bench.start();
    const Metrics metrics = bench.processor->metrics(nullptr);
    CHECK(metrics.find("sessionq.slot.count") == nullptr);
    CHECK(metrics.find("messaging.client.consumed.messages") != nullptr);
}

TEST_CASE("processor metrics: the time of handlers, settlements and holds") {
    ProcessorBench bench;
    bench.answers = false;
    bench.holds = true;
    bench.start();
    bench.advance(200ms);
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1", "2"});
    bench.advance(3ms);
    bench.finish("no");
    bench.advance(5ms);
    link->answers = true;
    bench.run();
    bench.finish_all();
    const Metrics metrics = metrics_of(bench);
    const Histogram threw =
        metrics.histogram("messaging.process.duration", {{"error.type", "handler_failed"}});
    CHECK(threw.count() == 1);
    CHECK(threw.max() == 3ms);
    CHECK(metrics.histogram("sessionq.accept.wait").max() == 200ms);
    CHECK(metrics.value("messaging.client.consumed.messages") == 2);
    CHECK(metrics.value("sessionq.message.handled", {{"sessionq.result", "threw"}}) == 1);
}

TEST_CASE("processor metrics: a settlement takes until the broker's answer") {
    ProcessorBench bench;
    bench.answers = false;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1"});
    bench.advance(7ms);
    link->answers = true;
    bench.run();
    const Metrics metrics = metrics_of(bench);
    const Histogram settle = metrics.histogram("messaging.client.operation.duration",
                                               {{"messaging.operation.name", "settle"}});
    CHECK(settle.count() == 1);
    CHECK(settle.max() == 7ms);
    const Histogram margin =
        metrics.histogram("sessionq.lock.margin", {{"sessionq.lock.use", "settle"}});
    CHECK(margin.count() == 1);
    CHECK(margin.max() == 60s - 7ms);
    CHECK(metrics.value("sessionq.message.ended", ended_as("completed")) == 1);
    CHECK(metrics.value("sessionq.message.ended") == 1);
}

TEST_CASE("processor metrics: a renewed lock had so much left") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1"});
    bench.advance(51s); // it was asked for at 50 s
    REQUIRE(link->answer_renewal(ports::LockGrant{.length = 60s}));
    const Metrics metrics = metrics_of(bench);
    const Histogram margin =
        metrics.histogram("sessionq.lock.margin", {{"sessionq.lock.use", "renew"}});
    CHECK(margin.count() == 1);
    CHECK(margin.max() == 9s);
    CHECK(metrics.value("sessionq.lock.renewals") == 1);
}

TEST_CASE("processor metrics: what is lost with its lock is counted once") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a", 60s);
    bench.deliver(link, {"1", "2", "3"}); // one runs, two wait
    bench.advance(61s);
    bench.finish();
    const Metrics metrics = metrics_of(bench);
    CHECK(metrics.value("sessionq.lock.lost") == 1);
    CHECK(static_cast<double>(bench.counters().messages_lost) +
              metrics.value("sessionq.message.ended", ended_as("released")) ==
          3);
    CHECK(bench.counters().messages_lost >= 1);
    CHECK(metrics.value("sessionq.session.closed", closed_by("lock_lost")) == 1);
    CHECK(metrics.histogram("sessionq.session.hold").count() == 1);
}

TEST_CASE("processor metrics: retries, deliveries before, and settling otherwise") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::dead_letter().after_attempts(
                              3, {.min = 1ms, .max = 1ms})}};
    bench.handle = [](MessageContext& context) {
        if (context.message().text() == "later") {
            context.defer();
        } else if (context.message().text() == "bad") {
            throw std::runtime_error{"no"};
        }
    };
    bench.start();
    const auto link = bench.open("a");
    link->answers_state = true; // no consumer died of it
    link->redeliver("later");
    bench.deliver(link, {"bad", "good"});
    bench.advance(1s);
    CHECK(bench.counters().messages_received == 3);
    CHECK(bench.counters().messages_redelivered == 1);
    CHECK(bench.counters().messages_deferred == 1);
    CHECK(bench.counters().messages_retried == 2);
    CHECK(bench.counters().messages_failed == 3);
    CHECK(bench.counters().messages_dead_lettered == 1);
    CHECK(bench.counters().messages_completed == 1);
    CHECK(bench.counters().messages_lost == 0);
}

TEST_CASE("processor metrics: a roll lasts until the first message of the next session") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    bench.start();
    const auto first = bench.open("a");
    bench.deliver(first, {"1"});
    CHECK(metrics_of(bench).histogram("sessionq.roll.latency").count() == 0);
    bench.advance(1s); // it is left
    CHECK(metrics_of(bench).value("sessionq.session.closed", closed_by("idle")) == 1);
    bench.advance(20ms);
    const auto second = bench.open("b");
    CHECK(metrics_of(bench).histogram("sessionq.roll.latency").count() == 0);
    bench.advance(30ms);
    bench.deliver(second, {"2"});
    bench.deliver(second, {"3"});
    const Histogram roll = metrics_of(bench).histogram("sessionq.roll.latency");
    CHECK(roll.count() == 1);
    CHECK(roll.max() == 50ms);
}

TEST_CASE("processor metrics: or until its opening") {
    ProcessorBench bench{{.session_idle_timeout = 1s}};
    bench.handlers.session_open = [](SessionContext&) {};
    bench.start();
    const auto first = bench.open("a");
    bench.deliver(first, {"1"});
    bench.advance(1s);
    bench.advance(20ms);
    const auto second = bench.open("b");
    bench.advance(30ms);
    bench.deliver(second, {"2"});
    const Histogram roll = metrics_of(bench).histogram("sessionq.roll.latency");
    CHECK(roll.count() == 1);
    CHECK(roll.max() == 20ms);
}

TEST_CASE("processor metrics: a session whose message waits for a worker is ready") {
    ProcessorBench bench;
    bench.holds = true;
    bench.start();
    const auto link = bench.open("a");
    link->deliver("1");
    bench.loop.run_until_idle(); // no worker comes
    bench.loop.advance_to(bench.loop.now() + 40ms);
    CHECK(bench.slot().ready_for == 40ms);
    CHECK(metrics_of(bench).value("sessionq.session.ready") == 1);
    CHECK(metrics_of(bench).value("sessionq.session.ready.age") == doctest::Approx(0.04));
    bench.run();
    bench.advance(10ms);
    CHECK(bench.slot().ready_for == 0ms); // its handler runs
    link->deliver("2");                   // and this one is behind it
    bench.loop.run_until_idle();
    CHECK(bench.slot().ready_for == 0ms);
    CHECK(metrics_of(bench).value("sessionq.session.ready") == 0);
    bench.finish_all();
    CHECK(metrics_of(bench).histogram("sessionq.message.ready_wait").count() == 1);
    CHECK(metrics_of(bench).histogram("sessionq.message.ready_wait").max() == 40ms);
    CHECK(bench.counters().longest_ready_wait == 40ms);
}

TEST_CASE("processor metrics: a message tried again is ready from when its delay is over") {
    ProcessorBench bench{{.failure_policy = FailurePolicy::abandon_at_once().after_attempts(
                              2, {.min = 1s, .max = 1s})}};
    bench.handle = [&bench](MessageContext&) {
        if (bench.handled == "1") {
            throw std::runtime_error{"the first time"};
        }
    };
    bench.start();
    bench.open("a")->deliver("1");
    bench.run();
    bench.loop.advance(1s); // no worker comes
    bench.loop.advance(30ms);
    CHECK(bench.handled == "1");
    bench.run();
    CHECK(bench.handled == "1 1");
    CHECK(metrics_of(bench).histogram("sessionq.message.ready_wait").count() == 2);
    const Duration longest = metrics_of(bench).histogram("sessionq.message.ready_wait").max();
    CHECK(longest >= 30ms);
    CHECK(longest < 1030ms); // not from its first end
}

TEST_CASE("processor metrics: a batch is one handler and several messages") {
    ProcessorBench bench;
    bench.handlers.start_message = {};
    bench.handlers.messages = [&bench](std::span<MessageContext>) {
        bench.loop.advance_to(bench.loop.now() + 2ms);
    };
    bench.handlers.batch = {.max_messages = 10};
    bench.start();
    const auto link = bench.open("a");
    bench.deliver(link, {"1", "2", "3"});
    const Metrics metrics = metrics_of(bench);
    const Histogram handlers = metrics.histogram("messaging.process.duration");
    CHECK(handlers.count() == 1);
    CHECK(handlers.max() == 2ms);
    CHECK(metrics.value("sessionq.message.handled") == 3);
}

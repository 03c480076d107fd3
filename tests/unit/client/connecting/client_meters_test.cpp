// SPDX-License-Identifier: MIT
#include "client/connecting/client_meters.hpp"

#include <doctest/doctest.h>

#include <future>
#include <mutex>

#include <sessionq/processor.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/session_receiver.hpp>

#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using detail::client::ClientMeters;

namespace {

const MetricAttributes send_failed{{"error.type", "send_failed"}};

} // namespace

TEST_CASE("client meters: sends that failed are apart") {
    const auto meters = std::make_unique<ClientMeters>();
    meters->sent(3, 5ms, true);
    meters->sent(2, 7ms, false);
    core::MetricList all{{}};
    detail::client::add_metrics(all, *meters, nullptr);
    const Metrics metrics = all.take();
    CHECK(metrics.value("messaging.client.sent.messages") == 5);
    CHECK(metrics.value("messaging.client.sent.messages", send_failed) == 2);
    CHECK(metrics.histogram("messaging.client.operation.duration").count() == 2);
    CHECK(metrics.histogram("messaging.client.operation.duration", send_failed).max() == 7ms);
    CHECK(metrics.find("sessionq.connection.count") == nullptr); // in process
}

TEST_CASE("client meters: answers to accepts") {
    const auto meters = std::make_unique<ClientMeters>();
    const Failure none{.code = Errc::no_session_available};
    const Failure refused{.code = Errc::unauthorized};
    meters->accepted(5ms, nullptr);
    meters->accepted(6ms, &none);
    meters->accepted(7ms, &none);
    meters->accepted(8ms, &refused);
    core::MetricList all{{}};
    detail::client::add_metrics(all, *meters, nullptr);
    const Metrics metrics = all.take();
    const auto answers = [&](const char* result) {
        return metrics.value("sessionq.accept.answers", {{"sessionq.result", result}});
    };
    CHECK(answers("session") == 1);
    CHECK(answers("empty") == 2);
    CHECK(answers("failed") == 1);
    CHECK(metrics.histogram("sessionq.accept.wait").count() == 1);
    CHECK(metrics.histogram("sessionq.accept.wait").max() == 5ms);
}

TEST_CASE("client meters: connections") {
    core::ConnectionCounts counts;
    counts.opened.add(5);
    counts.reopened.add(2);
    counts.lost.add(2);
    counts.closed.add(1);
    counts.failures.add(4);
    counts.received.add(700);
    counts.sent.add(300);
    core::MetricList all{{}};
    detail::client::add_metrics(all, *std::make_unique<ClientMeters>(), &counts);
    const Metrics metrics = all.take();
    CHECK(metrics.value("sessionq.connection.count") == 2);
    CHECK(metrics.value("sessionq.connection.opened") == 5);
    CHECK(metrics.value("sessionq.connection.reopened") == 2);
    CHECK(metrics.value("sessionq.connection.lost") == 2);
    CHECK(metrics.value("sessionq.connection.failures") == 4);
    CHECK(metrics.value("sessionq.network.io", {{"network.io.direction", "receive"}}) == 700);
    CHECK(metrics.value("sessionq.network.io", {{"network.io.direction", "transmit"}}) == 300);
}

TEST_CASE("client metrics: what senders and receivers did, over all receive threads") {
    test::OrdersFixture f;
    for (int i = 0; i < 4; ++i) { // each is on another thread
        Sender{f.client, "orders"}.send_all(
            {Message::of("1").in_session("a"), Message::of("2").in_session("b")});
    }
    const Sender patient{f.client, "orders", {.max_attempts = 2}};
    patient.send(Message::of("3").in_session("c"));
    const Sender lost{f.client, "nowhere"};
    CHECK(test::code_of([&] { lost.send(Message::of("4").in_session("a")); }) ==
          Errc::entity_not_found);
    static_cast<void>(SessionReceiver::accept(f.client, "orders", "a"));

    const Metrics metrics = f.client.metrics();
    CHECK(metrics.value("messaging.client.sent.messages") == 10);
    CHECK(metrics.value("messaging.client.sent.messages", send_failed) == 1);
    const Histogram sends = metrics.histogram("messaging.client.operation.duration",
                                              {{"messaging.operation.name", "send"}});
    CHECK(sends.count() == 6);
    CHECK(sends.max() > 0ns);
    CHECK(metrics.value("sessionq.accept.answers", {{"sessionq.result", "session"}}) == 1);
    CHECK(metrics.find("messaging.client.sent.messages")->points.front().attributes ==
          MetricAttributes{{"messaging.system", "sessionq"}, {"messaging.operation.name", "send"}});
    CHECK(metrics.find("messaging.client.sent.messages")->points.size() == 2);
}

TEST_CASE("processor metrics: of the last start, and nothing before") {
    test::OrdersFixture f;
    SessionProcessor processor{f.client, "orders"};
    std::promise<void> handled;
    processor.on_message([&handled](MessageContext&) { handled.set_value(); });
    CHECK(processor.metrics().all().empty());
    f.sender.send(Message::of("1").in_session("a"));
    processor.start();
    REQUIRE(handled.get_future().wait_for(30s) == std::future_status::ready);
    CHECK(processor.metrics().value("sessionq.slot.count") == 8);
    CHECK(processor.stop(30s).complete);
    const Metrics metrics = processor.metrics();
    CHECK(metrics.value("sessionq.message.ended", {{"sessionq.outcome", "completed"}}) == 1);
    CHECK(metrics.histogram("messaging.process.duration").count() == 1);
    CHECK(metrics.histogram("sessionq.lock.margin").count() == 1);
    CHECK(metrics.value("sessionq.session.closed", {{"sessionq.close_reason", "stopped"}}) == 1);
    CHECK(metrics.find("sessionq.message.expired")->points.front().attributes ==
          MetricAttributes{{"messaging.system", "sessionq"},
                           {"messaging.destination.name", "orders"}});
}

TEST_CASE("processor metrics: what waits at the entity, health, and the name of the client") {
    LocalBroker broker;
    broker.create_queue("orders", {.requires_session = true});
    const Client client = Client::in_process(broker, {.client_id = "billing"});
    const Sender sender{client, "orders"};
    for (const char* session : {"a", "b", "c"}) {
        sender.send(Message::of("1").in_session(session));
    }
    std::promise<void> started;
    std::promise<void> go_on;
    const auto may_go_on = go_on.get_future().share();
    std::once_flag once;
    SessionProcessor processor{client, "orders", {.max_concurrent_sessions = 1}};
    processor.on_message([&](MessageContext&) {
        std::call_once(once, [&] { started.set_value(); });
        may_go_on.wait();
    });
    processor.start();
    REQUIRE(started.get_future().wait_for(30s) == std::future_status::ready);
    const Metrics busy = processor.metrics();
    CHECK(busy.value("sessionq.entity.messages", {{"sessionq.state", "active"}}) == 3);
    CHECK(busy.value("sessionq.entity.sessions.waiting") == 2);
    CHECK(busy.value("sessionq.entity.sessions.waiting.age") > 0);
    CHECK(busy.value("sessionq.processor.health", {{"sessionq.state", "healthy"}}) == 1);
    CHECK(busy.find("sessionq.entity.sessions.waiting")->points.front().attributes ==
          MetricAttributes{{"messaging.system", "sessionq"},
                           {"messaging.client.id", "billing"},
                           {"messaging.destination.name", "orders"}});
    const Metrics of_client = client.metrics();
    for (const Metric& metric : of_client.all()) {
        CHECK(metric.points.front().attributes[1].value == "billing");
    }
    go_on.set_value();
    CHECK(processor.stop(30s).complete);
    CHECK(test::code_of([&] {
              static_cast<void>(Client::in_process(broker, {.client_id = "\xff"}));
          }) == Errc::invalid_option);
}

TEST_CASE("processor metrics: of an entity without sessions, whose messages have the locks") {
    test::OrdersFixture f;
    f.broker.create_queue("plain", {.requires_session = false});
    Sender{f.client, "plain"}.send(Message{.body = "1"});
    Processor processor{f.client, "plain"};
    std::promise<void> handled;
    processor.on_message([&handled](MessageContext&) { handled.set_value(); });
    processor.start();
    REQUIRE(handled.get_future().wait_for(30s) == std::future_status::ready);
    CHECK(processor.stop(30s).complete);
    const Metrics metrics = processor.metrics();
    CHECK(metrics.value("messaging.client.consumed.messages") == 1);
    const Histogram margin = metrics.histogram("sessionq.lock.margin");
    CHECK(margin.count() == 1);
    CHECK(margin.max() > 1s);
}

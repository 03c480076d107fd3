// SPDX-License-Identifier: MIT
// The spans of senders, and how they connect with those of handlers.
#include "client/sending/send_span.hpp"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sessionq/browser.hpp>
#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_processor.hpp>
#include <sessionq/testing/recording_tracer.hpp>

#include "support/code_of.hpp"

using namespace sessionq;
using namespace std::chrono_literals;
using testing::RecordedSpan;

namespace {

const TraceContext web_request{
    .traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", .tracestate = "a=1"};
constexpr Duration spans_patience = 20s;

struct TracedOrders {
    TracedOrders() { broker.create_queue("orders"); }

    /// Sorted by sequence number.
    std::vector<std::optional<TraceContext>> traces() const {
        std::vector<std::optional<TraceContext>> found;
        for (const ReceivedMessage& each : Browser{client, "orders"}) {
            found.push_back(each.trace());
        }
        return found;
    }

    std::shared_ptr<testing::RecordingTracer> spans{std::make_shared<testing::RecordingTracer>()};
    LocalBroker broker{};
    Client client{Client::in_process(broker, {.tracer = spans})};
    Sender sender{client, "orders"};
    CallOptions within_request{.context = OperationContext{}.with_trace(web_request)};
};

Message carrying(const TraceContext& trace) {
    Message message = Message::of("carries one").in_session("ada");
    message.properties["traceparent"] = trace.traceparent;
    return message;
}

} // namespace

TEST_CASE("send span: a message carries the context of its send") {
    TracedOrders orders;
    orders.sender.send(Message::of("placed").in_session("ada"), orders.within_request);
    const auto ended = orders.spans->spans();
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].name == "send orders");
    CHECK(ended[0].kind == SpanKind::producer);
    CHECK(ended[0].parent == web_request);
    CHECK(ended[0].error_type.empty());
    CHECK(ended[0].attributes.at("messaging.system") == SpanValue{std::string{"sessionq"}});
    CHECK(ended[0].attributes.contains("messaging.message.id"));
    CHECK(orders.traces() == std::vector{std::optional{ended[0].context}});
}

TEST_CASE("send span: the messages of one request each carry a context of their own") {
    TracedOrders orders;
    const TraceContext own{.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01",
                           .tracestate = ""};
    std::vector<Message> messages{Message::of("1").in_session("ada"), carrying(own),
                                  Message::of("3").in_session("ada")};
    SUBCASE("as a list") { orders.sender.send_all(messages, orders.within_request); }
    SUBCASE("as a batch") {
        MessageBatch batch = orders.sender.create_batch();
        for (const Message& each : messages) {
            REQUIRE(batch.add_if_fits(each));
        }
        orders.sender.send(std::move(batch), orders.within_request);
    }
    const auto ended = orders.spans->spans();
    REQUIRE(ended.size() == 3);
    CHECK(ended[0].name == "create orders");
    CHECK(ended[0].parent == web_request);
    CHECK(ended[1].parent == web_request);
    CHECK(ended[2].name == "send orders");
    CHECK(ended[2].kind == SpanKind::client);
    CHECK(ended[2].parent == web_request);
    CHECK(ended[2].links == std::vector{ended[0].context, own, ended[1].context});
    CHECK(orders.traces() ==
          std::vector<std::optional<TraceContext>>{ended[0].context, own, ended[1].context});
}

TEST_CASE("send span: a batch has room for the contexts that its messages will get") {
    TracedOrders orders;
    const OperationContext::Scope scope{orders.within_request.context};
    MessageBatch batch = orders.sender.create_batch(10'000);
    while (batch.add_if_fits(Message::of("x").in_session("ada"))) {
    }
    REQUIRE(batch.size() > 10);
    MessageBatch carries{10'000}; // contexts in scope are counted when they are added
    while (carries.add_if_fits(Message::of("x").in_session("ada"))) {
    }
    CHECK(batch.size() == carries.size());
    CHECK(batch.bytes() == carries.bytes());
}

TEST_CASE("send span: ends when the broker answers, and says why it failed") {
    TracedOrders orders;
    CHECK(test::code_of([&] {
              Sender{orders.client, "nowhere"}.send(Message::of("x").in_session("ada"));
          }) == Errc::entity_not_found);
    CHECK(test::code_of([&] {
              orders.sender.send(Message::of("x").in_session("ada"), {.timeout = 0s});
          }) == Errc::timeout);
    const std::int64_t number = orders.sender.schedule(Message::of("later").in_session("ada"),
                                                       std::chrono::system_clock::now() + 1h);
    CHECK(number > 0);
    const auto ended = orders.spans->spans();
    REQUIRE(ended.size() == 3);
    CHECK(ended[0].name == "send nowhere");
    CHECK(ended[0].error_type == "entity_not_found");
    CHECK(ended[1].error_type == "timeout");
    CHECK(ended[2].name == "schedule orders");
    CHECK(ended[2].error_type.empty());
}

TEST_CASE("send span: a trace goes on from a send through its handler to what that sends") {
    TracedOrders orders;
    orders.broker.create_queue("bills");
    SessionProcessor processor{orders.client, "orders"};
    Sender bills{orders.client, "bills"};
    processor.on_message([&](MessageContext& context) {
        bills.send(Message::of(context.message().text()).in_session("ada"));
    });
    orders.sender.send(Message::of("placed").in_session("ada"), orders.within_request);
    processor.start();
    // send orders, receive orders, send bills, process orders, settle orders
    std::map<std::string, RecordedSpan> by_name;
    for (const RecordedSpan& each : orders.spans->wait_for(5, spans_patience)) {
        by_name.emplace(each.name, each);
    }
    CHECK(processor.stop(spans_patience).complete);
    REQUIRE(by_name.size() == 5);
    CHECK(by_name["process orders"].parent == by_name["send orders"].context);
    CHECK(by_name["send bills"].parent == by_name["process orders"].context);
    CHECK(by_name["settle orders"].parent == by_name["process orders"].context);
    for (const auto& [name, span] : by_name) {
        INFO(name);
        CHECK(span.error_type.empty());
        CHECK((name == "receive orders" ||
               span.context.traceparent.substr(3, 32) == web_request.traceparent.substr(3, 32)));
        CHECK(span.end >= span.start);
    }
}

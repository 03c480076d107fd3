// SPDX-License-Identifier: MIT
// The spans of receivers: accepts and receives that got something, and settlements.
#include "client/receiving/receive_span.hpp"

#include <doctest/doctest.h>

#include <sessionq/client.hpp>
#include <sessionq/local_broker.hpp>
#include <sessionq/receiver.hpp>
#include <sessionq/sender.hpp>
#include <sessionq/session_receiver.hpp>
#include <sessionq/testing/recording_tracer.hpp>

using namespace sessionq;
using namespace std::chrono_literals;
using testing::RecordedSpan;

namespace {

const TraceContext job{.traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
                       .tracestate = ""};

struct TracedReceivers {
    TracedReceivers() {
        broker.create_queue("orders");
        broker.create_queue("mail", {.requires_session = false});
    }
    /// Returns what the sends were, in order.
    std::vector<TraceContext> send(const std::string& to, std::vector<Message> messages) {
        for (Message& each : messages) {
            Sender{client, to}.send(std::move(each));
        }
        std::vector<TraceContext> sent;
        for (const RecordedSpan& each : spans->spans()) {
            sent.push_back(each.context);
        }
        spans->clear();
        return sent;
    }

    std::shared_ptr<testing::RecordingTracer> spans{std::make_shared<testing::RecordingTracer>()};
    LocalBroker broker{};
    Client client{Client::in_process(broker, {.tracer = spans})};
    OperationContext in_job{OperationContext{}.with_trace(job)};
};

} // namespace

TEST_CASE("receive span: an accept that gets a session is a span, and an empty wait is none") {
    TracedReceivers all;
    CHECK_FALSE(SessionReceiver::accept_next_if_any(all.client, "orders", 0s).has_value());
    CHECK(all.spans->spans().empty());
    all.send("orders", {Message::of("1").in_session("ada")});
    auto receiver = SessionReceiver::accept_next(all.client, "orders", {}, {.context = all.in_job});
    const auto ended = all.spans->spans();
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].name == "receive orders");
    CHECK(ended[0].parent == job);
    CHECK(ended[0].attributes.at("sessionq.session.id") == SpanValue{std::string{"ada"}});
    CHECK_FALSE(ended[0].attributes.contains("messaging.batch.message_count"));
}

TEST_CASE("receive span: a receive links to what it got, and settlements have the ambient parent") {
    TracedReceivers all;
    const auto sent = all.send(
        "orders", {Message::of("1").in_session("ada"), Message::of("2").in_session("ada")});
    auto receiver = SessionReceiver::accept_next(all.client, "orders");
    all.spans->clear();
    const OperationContext::Scope scope{all.in_job};
    auto messages = receiver.receive(2, 5s);
    while (messages.size() < 2) {
        auto more = receiver.receive(1, 5s);
        messages.push_back(std::move(more.at(0)));
    }
    std::vector<TraceContext> links;
    for (const RecordedSpan& each : all.spans->spans()) {
        CHECK(each.name == "receive orders");
        CHECK(each.parent == job);
        links.insert(links.end(), each.links.begin(), each.links.end());
    }
    CHECK(links == sent);
    all.spans->clear();
    CHECK(receiver.receive(1, 0s).empty());
    CHECK(all.spans->spans().empty());

    messages[0].complete();
    receiver.close();
    CHECK_THROWS_AS(messages[1].complete(), Error); // fails before it is a request
    const auto settled = all.spans->spans();
    REQUIRE(settled.size() == 1);
    CHECK(settled[0].name == "settle orders");
    CHECK(settled[0].parent == job);
    CHECK(settled[0].links == std::vector{sent[0]});
    CHECK(settled[0].error_type.empty());
    CHECK(all.spans->open() == 0);
}

TEST_CASE("receive span: to open a receiver of an entity without sessions is no span") {
    TracedReceivers all;
    const auto sent = all.send("mail", {Message{.body = "1"}});
    auto receiver = Receiver::open(all.client, "mail");
    CHECK(all.spans->spans().empty());
    auto message = receiver.receive_one(5s);
    REQUIRE(message.has_value());
    message->dead_letter("Odd");
    const auto ended = all.spans->spans();
    REQUIRE(ended.size() == 2);
    CHECK(ended[0].name == "receive mail");
    CHECK(ended[0].links == sent);
    CHECK(ended[1].name == "settle mail");
    CHECK(ended[1].parent == sent[0]);
    CHECK(ended[1].attributes.at("messaging.servicebus.disposition_status") ==
          SpanValue{std::string{"dead_letter"}});
}

// SPDX-License-Identifier: MIT
#include "core/span_plan.hpp"

#include <array>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include "core/trace_context.hpp"

using namespace sessionq;
using core::SpanDraft;
using core::SpanPlan;

namespace {

const TraceContext ambient{.traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
                           .tracestate = "a=1"};
const TraceContext sent{.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01",
                        .tracestate = ""};

SpanPlan plan_of_azure() {
    return SpanPlan{{.system = "servicebus", .address = "contoso.example", .port = 5671}};
}

std::map<std::string, SpanValue, std::less<>> facts_of(const SpanDraft& draft) {
    std::map<std::string, SpanValue, std::less<>> facts;
    for (const SpanAttribute& each : draft.attributes) {
        CHECK(facts.emplace(each.name, each.value).second);
    }
    return facts;
}

Message message_of(std::string id, const TraceContext* trace = nullptr) {
    Message message = Message::of("placed").in_session("ada");
    message.message_id = std::move(id);
    message.correlation_id = "talk";
    if (trace != nullptr) {
        core::add_trace(*trace, message.properties);
    }
    return message;
}

ReceivedMessage received(const TraceContext* trace, std::uint32_t delivery_count = 0) {
    return {std::make_shared<const DecodedContent>(message_of("7", trace)),
            {.delivery_count = delivery_count}};
}

SpanValue text(const char* value) { return std::string{value}; }
SpanValue number(std::int64_t value) { return value; }

} // namespace

TEST_CASE("span plan: a client that has a name has it in its spans") {
    const SpanPlan plan{{.system = "servicebus", .client_id = "billing"}};
    const auto facts = facts_of(plan.send("send", "orders", std::array{message_of("7")}, nullptr));
    CHECK(facts.at("messaging.client.id") == text("billing"));
    const auto nameless =
        facts_of(plan_of_azure().send("send", "orders", std::array{message_of("7")}, nullptr));
    CHECK_FALSE(nameless.contains("messaging.client.id"));
}

TEST_CASE("span plan: a message without a context gets that of its send") {
    const std::array messages{message_of("7")};
    const SpanDraft draft = plan_of_azure().send("send", "orders", messages, &ambient);
    CHECK(draft.name == "send orders");
    CHECK(draft.kind == SpanKind::producer);
    CHECK(draft.parent == ambient);
    CHECK(draft.links.empty());
    CHECK(facts_of(draft) == std::map<std::string, SpanValue, std::less<>>{
                                 {"messaging.system", text("servicebus")},
                                 {"messaging.operation.name", text("send")},
                                 {"messaging.operation.type", text("send")},
                                 {"messaging.destination.name", text("orders")},
                                 {"server.address", text("contoso.example")},
                                 {"server.port", number(5671)},
                                 {"sessionq.session.id", text("ada")},
                                 {"messaging.message.id", text("7")},
                                 {"messaging.message.conversation_id", text("talk")}});
}

TEST_CASE("span plan: a send of messages with contexts is a client that links to them") {
    const std::array alone{message_of("7", &sent)};
    const SpanDraft one = plan_of_azure().send("schedule", "orders", alone, nullptr);
    CHECK(one.name == "schedule orders");
    CHECK(one.kind == SpanKind::client);
    CHECK_FALSE(one.parent.has_value());
    CHECK(one.links == std::vector{sent});
    CHECK(facts_of(one)["messaging.operation.type"] == text("send"));

    const std::array several{message_of("7", &sent), message_of("8", &ambient), message_of("9")};
    const SpanDraft batch = plan_of_azure().send("send", "orders", several, &ambient);
    CHECK(batch.kind == SpanKind::client);
    CHECK(batch.links == std::vector{sent, ambient});
    CHECK(facts_of(batch)["messaging.batch.message_count"] == number(3));
    CHECK_FALSE(facts_of(batch).contains("messaging.message.id"));
    CHECK_FALSE(facts_of(batch).contains("sessionq.session.id"));
}

TEST_CASE("span plan: each message of a batch has a span of its own") {
    const SpanDraft draft = plan_of_azure().create("orders", message_of("7"), &ambient);
    CHECK(draft.name == "create orders");
    CHECK(draft.kind == SpanKind::producer);
    CHECK(draft.parent == ambient);
    CHECK(facts_of(draft)["messaging.operation.type"] == text("create"));
    CHECK(facts_of(draft)["messaging.message.id"] == text("7"));
}

TEST_CASE("span plan: an accept names the session, and in process no server") {
    const SpanPlan local{{.system = "sessionq"}};
    const SpanDraft draft = local.receive({.entity = "orders", .session_id = "ada"});
    CHECK(draft.name == "receive orders");
    CHECK(draft.kind == SpanKind::client);
    CHECK_FALSE(draft.parent.has_value());
    CHECK(facts_of(draft)["sessionq.session.id"] == text("ada"));
    CHECK_FALSE(facts_of(draft).contains("server.address"));
    CHECK_FALSE(facts_of(draft).contains("server.port"));
}

TEST_CASE("span plan: a request that got messages links to them") {
    const ReceivedMessage traced = received(&sent);
    const ReceivedMessage plain = received(nullptr);
    const std::array<const ReceivedMessage*, 1> one{&traced};
    const SpanDraft alone = plan_of_azure().receive({"orders", "ada"}, one, &ambient);
    CHECK(alone.parent == ambient);
    CHECK(alone.links == std::vector{sent});
    CHECK(facts_of(alone)["messaging.message.id"] == text("7"));
    const std::array<const ReceivedMessage*, 2> two{&plain, &traced};
    const SpanDraft several = plan_of_azure().receive({"orders", "ada"}, two, nullptr);
    CHECK_FALSE(several.parent.has_value());
    CHECK(several.links == std::vector{sent});
    CHECK(facts_of(several)["messaging.batch.message_count"] == number(2));
}

TEST_CASE("span plan: a subscription's topic is the destination") {
    const auto facts = [](std::string_view entity) {
        return facts_of(plan_of_azure().receive({.entity = entity}));
    };
    CHECK(facts("news/subscriptions/all")["messaging.destination.name"] == text("news"));
    CHECK(facts("news/Subscriptions/all")["messaging.destination.subscription.name"] ==
          text("all"));
    CHECK(facts("orders/$DeadLetterQueue")["messaging.destination.name"] ==
          text("orders/$DeadLetterQueue"));
    CHECK_FALSE(facts("orders").contains("messaging.destination.subscription.name"));
}

TEST_CASE("span plan: a handler continues its message's trace, that of a batch links to all") {
    const ReceivedMessage traced = received(&sent, 2);
    const ReceivedMessage plain = received(nullptr);
    const SpanDraft one = plan_of_azure().process({"orders", "ada"}, traced);
    CHECK(one.name == "process orders");
    CHECK(one.kind == SpanKind::consumer);
    CHECK(one.parent == sent);
    CHECK(one.links == std::vector{sent});
    CHECK(facts_of(one)["messaging.message.id"] == text("7"));
    CHECK(facts_of(one)["messaging.message.conversation_id"] == text("talk"));
    CHECK(facts_of(one)["messaging.servicebus.message.delivery_count"] == number(3));

    const SpanDraft untraced = plan_of_azure().process({"orders", "ada"}, plain);
    CHECK_FALSE(untraced.parent.has_value());
    CHECK(untraced.links.empty());

    const std::array<const ReceivedMessage*, 3> all{&traced, &plain, &traced};
    const SpanDraft batch = plan_of_azure().process({"orders", "ada"}, all);
    CHECK_FALSE(batch.parent.has_value());
    CHECK(batch.links == std::vector{sent, sent});
    CHECK(facts_of(batch)["messaging.batch.message_count"] == number(3));
}

TEST_CASE("span plan: a settlement belongs to the handler's span, or else to the message's trace") {
    const ReceivedMessage message = received(&sent);
    const SpanDraft handled =
        plan_of_azure().settle({"orders", "ada"}, message, "dead-letter", &ambient);
    CHECK(handled.name == "settle orders");
    CHECK(handled.kind == SpanKind::client);
    CHECK(handled.parent == ambient);
    CHECK(handled.links == std::vector{sent});
    CHECK(facts_of(handled)["messaging.servicebus.disposition_status"] == text("dead_letter"));
    CHECK(plan_of_azure().settle({"orders", "ada"}, message, "complete", nullptr).parent == sent);
}

TEST_CASE("span plan: the kinds have names") {
    CHECK(to_string(SpanKind::internal) == "internal");
    CHECK(to_string(SpanKind::producer) == "producer");
    CHECK(to_string(SpanKind::client) == "client");
    CHECK(to_string(SpanKind::consumer) == "consumer");
}

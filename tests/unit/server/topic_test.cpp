// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/rule_book.hpp"
#include "front.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using std::chrono::seconds;

namespace {

/// A topic with two subscriptions, one with sessions and one without, and a client for management
/// requests.
struct TopicFront : Front {
    TopicFront() {
        REQUIRE(broker.create_topic("news", {}, now()).ok());
        REQUIRE(broker
                    .create_subscription("news", "all",
                                         {.requires_session = true, .lock_duration = seconds{30}},
                                         {}, now())
                    .ok());
        REQUIRE(broker
                    .create_subscription("news", "red", {},
                                         {{.name = "red", .filter = SqlFilter{"color = 'red'"}}},
                                         now())
                    .ok());
        enter();
    }

    Reply ask(const std::string& entity, const char* operation, const Value& body) {
        const std::string name = std::to_string(++asked_);
        LinkLog& answers = receive("answers" + name, entity + "/$management");
        answers.receiver->add_credit(10);
        LinkLog& requests = send("requests" + name, entity + "/$management");
        REQUIRE(requests.opened);
        requests.sender->send(
            "1",
            request("id", "answers" + name,
                    Value::map({{"operation", std::string{"com.microsoft:"} + operation}}), body),
            true);
        run();
        REQUIRE(answers.messages.size() == 1);
        return read_reply(answers.messages.back());
    }

    Message coloured(const char* body, const char* color) {
        Message message = Message::of(body).in_session("a");
        message.properties = {{"color", std::string{color}}};
        return message;
    }

private:
    int asked_{0};
};

} // namespace

TEST_CASE("Topic: its subscriptions receive what a client sends, by session or not, in any case of "
          "the name") {
    TopicFront front;
    LinkLog& sender = front.send("s", "news");
    REQUIRE(sender.opened);
    sender.sender->send("1", amqp::encode_message(front.coloured("1", "red"), front.reading()),
                        false);
    sender.sender->send("2", amqp::encode_message(front.coloured("2", "blue"), front.reading()),
                        false);
    front.run();
    LinkLog& by_session = front.receive("r", Front::by_session("NEWS/Subscriptions/ALL", "a"));
    REQUIRE(by_session.opened);
    by_session.receiver->add_credit(10);
    front.run();
    CHECK(by_session.messages.size() == 2);
    LinkLog& red = front.receive("r2", "news/subscriptions/red");
    REQUIRE(red.opened);
    red.receiver->add_credit(10);
    front.run();
    REQUIRE(red.messages.size() == 1);
    CHECK(amqp::decode_delivery(red.messages[0], front.reading()).value().content->body() == "1");
}

TEST_CASE("Topic: a subscription's dead letters are received from its sub-queue") {
    TopicFront front;
    Message no_session = front.coloured("lost", "blue");
    no_session.session_id.reset();
    front.put("news", {no_session});
    LinkLog& dead = front.receive("r", "news/Subscriptions/all/$deadletterqueue");
    REQUIRE(dead.opened);
    dead.receiver->add_credit(10);
    front.run();
    REQUIRE(dead.messages.size() == 1);
    CHECK(amqp::decode_delivery(dead.messages[0], front.reading())
              .value()
              .facts.dead_letter->reason == "Session ID is null");
}

TEST_CASE("Topic: receiving from a topic and sending to a subscription fail; unknown names are not "
          "found") {
    TopicFront front;
    const auto refusal = [](const LinkLog& log) {
        return log.closed ? log.why.name : std::string{};
    };
    CHECK(refusal(front.receive("1", "news")) == "amqp:not-allowed");
    CHECK(refusal(front.receive("2", Front::by_session("news", "a"))) == "amqp:not-allowed");
    CHECK(refusal(front.send("3", "news/Subscriptions/all")) == "amqp:not-allowed");
    CHECK(refusal(front.receive("4", "news/Subscriptions/none")) == "amqp:not-found");
    CHECK(refusal(front.send("5", "none")) == "amqp:not-found");
    REQUIRE(front.broker.create_queue("on", {.forward_to = "plain"}, front.now()).ok());
    CHECK(refusal(front.receive("6", "on")) == "amqp:not-allowed");
}

TEST_CASE("Topic: requests for sessions and for what is received are refused at a topic, not "
          "answered with nothing") {
    TopicFront front;
    const auto refused = [&](const char* operation, const Value& body) {
        const auto reply = front.ask("news", operation, body);
        CHECK(reply.description.find("receive from its subscriptions") != std::string::npos);
        return reply.condition;
    };
    CHECK(refused("get-message-sessions",
                  Value::map({{"last-updated-time", amqp::Timestamp::of(WallTime::max())},
                              {"skip", std::int32_t{0}},
                              {"top", std::int32_t{10}}})) == "amqp:not-allowed");
    CHECK(front
              .ask("news", "enumerate-rules",
                   Value::map({{"skip", std::int32_t{0}}, {"top", std::int32_t{10}}}))
              .description.find("receive from") == std::string::npos);
}

TEST_CASE("Topic: scheduling returns numbers that cancel, and reaches the subscriptions when due") {
    TopicFront front;
    Message later = front.coloured("later", "red");
    later.scheduled_enqueue_time = front.loop.wall_now() + seconds{10};
    const auto schedule = [&] {
        const Value encoded =
            Value::map({{"message", Value::binary(amqp::encode_message(later, front.reading()))},
                        {"message-id", "m"}});
        return front.ask("news", "schedule-message",
                         Value::map({{"messages", Value::list({encoded})}}));
    };
    const auto first = schedule();
    CHECK(first.status == 200);
    CHECK(schedule().status == 200);
    const auto peeked = front.ask("news", "peek-message",
                                  Value::map({{"from-sequence-number", std::int64_t{1}},
                                              {"message-count", std::int32_t{10}}}));
    CHECK(peeked.body.find("messages")->items()->size() == 2);
    CHECK(front
              .ask("news", "cancel-scheduled-message",
                   Value::map({{"sequence-numbers", *first.body.find("sequence-numbers")}}))
              .status == 200);
    front.pass(seconds{10});
    CHECK(front.counts("news/subscriptions/red").active == 1);
}

TEST_CASE("Management: rules are added, listed by page and removed") {
    TopicFront front;
    const std::string red = "news/Subscriptions/red";
    const auto add = [&](const char* name, const char* expression) {
        return front.ask(
            red, "add-rule",
            Value::map({{"rule-name", name},
                        {"rule-description",
                         Value::map({{"sql-filter", Value::map({{"expression", expression}})}})}}));
    };
    CHECK(add("blue", "color = 'blue'").status == 200);
    const auto again = add("BLUE", "color = 'blue'");
    CHECK(again.status == 409);
    CHECK(again.condition == "com.microsoft:entity-already-exists");
    const auto bad = add("bad", "color =");
    CHECK(bad.status == 400);
    CHECK(bad.condition == "com.microsoft:argument-error");
    front.put("news", {front.coloured("1", "blue")});
    CHECK(front.counts(red).active == 1);

    const auto page = [&](std::int32_t skip, std::int32_t top) {
        return front.ask(red, "enumerate-rules", Value::map({{"skip", skip}, {"top", top}}));
    };
    const auto both = page(0, 100);
    CHECK(both.status == 200);
    REQUIRE(both.body.find("rules")->items()->size() == 2);
    const Value* described = (*both.body.find("rules")->items())[0].find("rule-description");
    REQUIRE(described->described() != nullptr);
    CHECK((*described->described()->value.items())[2] == Value{"blue"});
    CHECK(page(1, 100).body.find("rules")->items()->size() == 1);
    CHECK(page(0, 1).body.find("rules")->items()->size() == 1);
    CHECK(page(2, 100).status == 204);

    const auto remove = [&](const char* name) {
        return front.ask(red, "remove-rule", Value::map({{"rule-name", name}}));
    };
    CHECK(remove("blue").status == 200);
    const auto gone = remove("blue");
    CHECK(gone.status == 404);
    CHECK(gone.condition == "amqp:not-found");
    front.put("news", {front.coloured("2", "blue")});
    CHECK(front.counts(red).active == 1);
}

TEST_CASE("Management: an entity without rules and an incomplete body give an error") {
    TopicFront front;
    for (const char* operation : {"add-rule", "remove-rule", "enumerate-rules"}) {
        const auto answer = front.ask(
            "plain", operation,
            Value::map({{"rule-name", "r"}, {"skip", std::int32_t{0}}, {"top", std::int32_t{1}}}));
        CHECK(answer.status == 400);
        CHECK(answer.condition == "amqp:not-allowed");
        CHECK(front.ask("news/subscriptions/red", operation, amqp::Map{}).status == 400);
    }
}

TEST_CASE("Topic: a message whose rules take long is confirmed when it is in its subscriptions") {
    TopicFront front;
    std::vector<Rule> rules;
    for (int i = 0; i < 300; ++i) {
        rules.push_back({.name = std::to_string(i), .filter = SqlFilter{"a LIKE '%aaab%'"}});
    }
    rules.push_back({.name = "all"});
    REQUIRE(
        front.broker.create_subscription("news", "slow", {}, std::move(rules), front.now()).ok());
    LinkLog& sending = front.send("sender", "news");
    Message heavy = Message::of("heavy").in_session("a");
    heavy.properties = {{"a", std::string(30'000, 'a')}};
    sending.sender->send("1", amqp::encode_message(heavy, front.reading()), false);
    sending.sender->send(
        "2", amqp::encode_message(Message::of("light").in_session("a"), front.reading()), false);
    front.run();
    CHECK(sending.outcomes.empty());
    CHECK(front.counts("news/Subscriptions/slow").active == 0);
    for (int turn = 0; turn < 100 && sending.outcomes.size() < 2; ++turn) {
        front.pass(std::chrono::milliseconds{1});
    }
    REQUIRE(sending.outcomes.size() == 2);
    CHECK(sending.outcomes[0].kind == amqp::OutcomeKind::accepted);
    CHECK(front.counts("news/Subscriptions/slow").active == 2);
}

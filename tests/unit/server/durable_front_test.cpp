// SPDX-License-Identifier: MIT
// What the server confirms only after it is durable.
#include <doctest/doctest.h>

#include "front.hpp"
#include "support/held_journal.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::OutcomeKind;
using amqp::Value;

namespace {

/// A server connection whose journal answers on the test's order.
struct DurableFront : Front {
    explicit DurableFront(server::Limits limits = {})
        : DurableFront{std::make_shared<HeldJournal>(), limits} {}
    DurableFront(std::shared_ptr<HeldJournal> with, server::Limits limits)
        : Front{limits, amqp::SaslCredentials::Mechanism::plain, with}, journal{std::move(with)} {
        enter();
        settle_down();
    }

    void settle_down(const std::optional<Failure>& why = std::nullopt) {
        run();
        journal->answer(why);
        run();
    }
    void say(LinkLog& link, const char* body, bool settled = false) {
        link.sender->send("t" + std::to_string(++tags),
                          amqp::encode_message(Message::of(body).in_session("a"), reading()),
                          settled);
        run();
    }

    std::shared_ptr<HeldJournal> journal;
    int tags{0};
};

const Failure disk_full{.code = Errc::server_busy, .detail = "the store is full"};

} // namespace

TEST_CASE("durable server: a send is accepted after its commit, one for many, and rejected if that "
          "fails") {
    DurableFront front;
    LinkLog& link = front.send("s", "orders");
    front.say(link, "one");
    front.say(link, "two");
    CHECK(link.outcomes.empty());
    CHECK(front.counts("orders").active == 2);
    CHECK(front.journal->waiting.size() == 1);
    front.settle_down();
    REQUIRE(link.outcomes.size() == 2);
    CHECK(link.outcomes[1].kind == OutcomeKind::accepted);
    CHECK(link.settled[1]);
    front.say(link, "three");
    front.settle_down(disk_full);
    REQUIRE(link.outcomes.size() == 3);
    CHECK(link.outcomes[2].kind == OutcomeKind::rejected);
    CHECK(link.outcomes[2].error.name == "com.microsoft:server-busy");
    CHECK(link.outcomes[2].error.text == "the store is full");
}

TEST_CASE("durable server: a connection is quiet once its sends are answered; then it grants no "
          "more credit") {
    DurableFront front{server::Limits{.send_credit = 10}};
    LinkLog& link = front.send("s", "orders");
    CHECK(front.connection->is_quiet());
    front.say(link, "one");
    CHECK_FALSE(front.connection->is_quiet());
    front.connection->quiesce();
    for (int i = 0; i < 9; ++i) {
        front.say(link, "more");
    }
    front.settle_down();
    CHECK(front.connection->is_quiet());
    CHECK(link.outcomes.size() == 10);
    CHECK(link.sender->credit() == 0);

    SUBCASE("a link that ends takes what it has not answered with it") {
        LinkLog& leaving = front.send("leaving", "orders");
        leaving.sender->close();
        front.run();
        CHECK(front.connection->is_quiet());
    }
}

TEST_CASE("durable server: a bad send is rejected at once, and a settled send gets no answer") {
    DurableFront front;
    LinkLog& link = front.send("s", "orders");
    front.say(link, "settled", true);
    front.journal->failing = true;
    front.say(link, "refused");
    REQUIRE(link.outcomes.size() == 1);
    CHECK(link.outcomes[0].kind == OutcomeKind::rejected);
    CHECK(link.outcomes[0].error.name == "com.microsoft:server-busy");
    CHECK(front.counts("orders").active == 1);
}

TEST_CASE("durable server: sends that wait for the disk use the sender's credit") {
    DurableFront front{server::Limits{.send_credit = 10}};
    LinkLog& link = front.send("s", "orders");
    for (int i = 0; i < 10; ++i) {
        front.say(link, "x");
    }
    CHECK(link.sender->credit() == 0);
    front.settle_down();
    CHECK(link.sender->credit() == 10);
    CHECK(link.outcomes.size() == 10);
}

TEST_CASE("durable server: a peer that settles its own send, or leaves, gets no answer") {
    DurableFront front;
    LinkLog& hasty = front.send("hasty", "orders");
    auto delivery = hasty.sender->send(
        "t", amqp::encode_message(Message::of("x").in_session("a"), front.reading()), false);
    front.run();
    delivery.settle();
    front.settle_down();
    LinkLog& leaving = front.send("leaving", "orders");
    front.say(leaving, "y");
    leaving.sender->close();
    front.settle_down();
    CHECK(front.counts("orders").active == 2);
    CHECK(leaving.outcomes.empty());
    front.say(hasty, "z");
    front.stream->hang_up();
    front.settle_down();
    CHECK(front.ended == 1);
}

TEST_CASE("durable server: an outcome is answered after its commit; a release stores nothing and "
          "is answered at once") {
    DurableFront front;
    front.put("orders", {Message::of("1").in_session("a"), Message::of("2").in_session("a"),
                         Message::of("3").in_session("a")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    link.receiver->add_credit(3);
    front.run();
    REQUIRE(link.deliveries.size() == 3);
    link.deliveries[0].update({.kind = OutcomeKind::accepted});
    link.deliveries[1].update({.kind = OutcomeKind::accepted});
    front.run();
    CHECK(link.outcomes.empty());
    CHECK_FALSE(front.connection->is_quiet());
    front.settle_down();
    REQUIRE(link.outcomes.size() == 2);
    CHECK(link.outcomes[0].kind == OutcomeKind::accepted);
    CHECK(link.settled[0]);
    link.deliveries[2].update({.kind = OutcomeKind::accepted});
    front.settle_down(disk_full);
    REQUIRE(link.outcomes.size() == 3);
    CHECK(link.outcomes[2].kind == OutcomeKind::rejected);
    CHECK(link.outcomes[2].error.name == "com.microsoft:server-busy");
    CHECK(front.connection->is_quiet());

    front.put("orders", {Message::of("4").in_session("a")});
    link.receiver->add_credit(1);
    front.run();
    REQUIRE(link.deliveries.size() == 4);
    const auto mark = front.journal->mark;
    link.deliveries[3].update({.kind = OutcomeKind::released});
    front.run();
    REQUIRE(link.outcomes.size() == 4);
    CHECK(link.outcomes[3].kind == OutcomeKind::released);
    CHECK(front.journal->mark == mark);
}

TEST_CASE("durable server: an outcome that the peer settles later is answered once only") {
    DurableFront front;
    front.put("orders", {Message::of("1").in_session("a")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    link.receiver->add_credit(1);
    front.run();
    REQUIRE(link.deliveries.size() == 1);
    link.deliveries[0].update({.kind = OutcomeKind::accepted});
    front.run();
    link.deliveries[0].settle();
    front.settle_down();
    CHECK(front.connection->is_quiet());
    CHECK(front.counts("orders").active == 0);
}

TEST_CASE("durable server: receive-and-delete delivers after the deletion's commit, and a drain "
          "waits for that") {
    DurableFront front;
    front.put("orders", {Message::of("1").in_session("a"), Message::of("2").in_session("a")});
    amqp::Attach attach = Front::by_session("orders", "a");
    attach.sender_mode = amqp::SenderSettleMode::settled;
    LinkLog& link = front.receive("r", attach);
    link.receiver->add_credit(5);
    CHECK(link.receiver->drain());
    front.run();
    CHECK(link.messages.empty());
    CHECK(link.drained == 0);
    CHECK(front.counts("orders").active == 0);
    front.settle_down();
    CHECK(link.messages.size() == 2);
    CHECK(link.drained == 1);
    CHECK(front.connection->is_quiet());
}

TEST_CASE(
    "durable server: a peer that lowers its credit gets no more than the held-back messages") {
    DurableFront front;
    front.put("orders", {Message::of("1").in_session("a"), Message::of("2").in_session("a"),
                         Message::of("3").in_session("a"), Message::of("4").in_session("a")});
    amqp::Attach attach = Front::by_session("orders", "a");
    attach.sender_mode = amqp::SenderSettleMode::settled;
    LinkLog& link = front.receive("r", attach);
    link.receiver->add_credit(2);
    front.run();
    CHECK(front.counts("orders").active == 2);
    front.flow(1000, 1);
    CHECK(front.counts("orders").active == 2);
    front.settle_down();
    CHECK_FALSE(link.messages.empty());
}

TEST_CASE("durable server: if deleting fails, messages wait for a later commit, in order, and a "
          "loss is reported after them") {
    DurableFront front;
    amqp::Attach attach = Front::by_session("orders", "a");
    attach.sender_mode = amqp::SenderSettleMode::settled;
    LinkLog& link = front.receive("r", attach);
    link.receiver->add_credit(5);
    front.put("orders", {Message::of("1").in_session("a")});
    front.put("orders", {Message::of("2").in_session("a")});
    CHECK(front.counts("orders").active == 0);
    front.settle_down(disk_full);
    CHECK(link.messages.empty());
    front.put("orders", {Message::of("3").in_session("a")});
    front.settle_down(disk_full);
    CHECK(link.messages.empty());
    REQUIRE(front.broker.delete_entity("orders", front.now()).ok());
    front.run();
    CHECK_FALSE(link.closed);
    front.settle_down();
    front.settle_down();
    REQUIRE(link.messages.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(link.messages[i].ends_with(static_cast<char>('1' + i)));
    }
    CHECK(link.closed);
    CHECK(front.connection->is_quiet());
}

TEST_CASE("durable server: on a full disk only requests that need space are refused") {
    DurableFront front;
    REQUIRE(front.broker.create_topic("news", {}, front.now()).ok());
    REQUIRE(front.broker.create_subscription("news", "all", {}, {}, front.now()).ok());
    front.put("orders", {Message::of("1").in_session("a"), Message::of("2").in_session("a"),
                         Message::of("3").in_session("a")});
    LinkLog& holder = front.receive("holder", Front::by_session("orders", "a"));
    holder.receiver->add_credit(3);
    front.run();
    REQUIRE(holder.deliveries.size() == 3);
    const auto tool = [&](const std::string& entity) {
        LinkLog& answers = front.receive(entity + "-answers", entity + "/$management");
        answers.receiver->add_credit(100);
        LinkLog& requests = front.send(entity + "-requests", entity + "/$management");
        return [&front, &answers, &requests, entity](const char* operation, const Value& body) {
            requests.sender->send(
                "1",
                Front::request(
                    "id", entity + "-answers",
                    Value::map({{"operation", std::string{"com.microsoft:"} + operation}}), body),
                true);
            front.settle_down();
            REQUIRE_FALSE(answers.messages.empty());
            return Front::read_reply(answers.messages.back());
        };
    };
    const auto orders = tool("orders");
    const auto all = tool("news/Subscriptions/all");
    const auto state = [](Value bytes) {
        return Value::map({{"session-id", "a"}, {"session-state", std::move(bytes)}});
    };
    const auto rule = [](const char* name) {
        return Value::map({{"rule-name", name},
                           {"rule-description",
                            Value::map({{"sql-filter", Value::map({{"expression", "1=1"}})}})}});
    };
    const auto scheduled = [&] {
        Message later = Message::of("later").in_session("a");
        later.scheduled_enqueue_time = front.now().wall + std::chrono::hours{1};
        const Value message =
            Value::map({{"message-id", "m"},
                        {"message", Value::binary(amqp::encode_message(later, front.reading()))}});
        return orders("schedule-message", Value::map({{"messages", amqp::List{message}}}));
    };
    CHECK(orders("set-session-state", state(Value::binary("x"))).status == 200);
    CHECK(all("add-rule", rule("one")).status == 200);
    const auto to_cancel = scheduled();
    REQUIRE(to_cancel.status == 200);

    front.journal->full = true;
    for (const auto& reply : {orders("set-session-state", state(Value::binary("y"))),
                              all("add-rule", rule("two")), scheduled()}) {
        CHECK(reply.status == 403);
        CHECK(reply.condition == "amqp:resource-limit-exceeded");
    }
    CHECK(orders("set-session-state", state(Value{})).status == 200);
    CHECK(all("remove-rule", Value::map({{"rule-name", "one"}})).status == 200);
    CHECK(all("remove-rule", Value::map({{"rule-name", "one"}})).status == 404);
    CHECK(orders("cancel-scheduled-message", to_cancel.body).status == 200);

    std::string changed = amqp::encode(Value::map({{"seen", true}}));
    holder.deliveries[0].update({.kind = OutcomeKind::modified, .annotations = changed});
    holder.deliveries[1].update({.kind = OutcomeKind::modified, .undeliverable_here = true});
    holder.deliveries[2].update({.kind = OutcomeKind::accepted});
    front.settle_down();
    REQUIRE(holder.outcomes.size() == 3);
    // the first succeeds, because it stores nothing
    CHECK(holder.outcomes[0].kind == OutcomeKind::rejected);
    CHECK(holder.outcomes[0].error.name == "amqp:resource-limit-exceeded");
    CHECK(holder.outcomes[1].kind == OutcomeKind::modified);
    CHECK(holder.outcomes[2].kind == OutcomeKind::accepted);
    CHECK(front.counts("orders").deferred == 1);
}

TEST_CASE(
    "durable server: requests that change data are answered after their commit, others at once") {
    DurableFront front;
    LinkLog& answers = front.receive("answers", "orders/$management");
    answers.receiver->add_credit(10);
    LinkLog& requests = front.send("requests", "orders/$management");
    front.receive("holder", Front::by_session("orders", "a"));
    const auto ask = [&](const char* operation, const Value& body) {
        requests.sender->send(
            "1",
            Front::request("id", "answers",
                           Value::map({{"operation", std::string{"com.microsoft:"} + operation}}),
                           body),
            true);
        front.run();
    };
    const Value state = Value::map({{"session-id", "a"}, {"session-state", Value::binary("x")}});
    ask("set-session-state", state);
    CHECK(answers.messages.empty());
    ask("get-session-state", Value::map({{"session-id", "a"}}));
    CHECK(answers.messages.size() == 1);
    front.settle_down();
    REQUIRE(answers.messages.size() == 2);
    CHECK(Front::read_reply(answers.messages[1]).status == 200);
    ask("set-session-state", state);
    front.settle_down(disk_full);
    REQUIRE(answers.messages.size() == 3);
    CHECK(Front::read_reply(answers.messages[2]).status == 503);
    CHECK(Front::read_reply(answers.messages[2]).condition == "com.microsoft:server-busy");
    ask("set-session-state", Value::map({{"session-id", "nobody's"}}));
    CHECK(answers.messages.size() == 4); // a refusal changes nothing
}

TEST_CASE("durable server: an answer with deferred messages that waits for its commit counts, and "
          "the next request waits") {
    DurableFront front{{.unread_answers = 1}};
    LinkLog& answers = front.receive("answers", "orders/$management");
    answers.receiver->add_credit(10);
    LinkLog& requests = front.send("requests", "orders/$management");
    front.put("orders", {Message::of("1").in_session("a"), Message::of("2").in_session("a")});
    LinkLog& holder = front.receive("holder", Front::by_session("orders", "a"));
    holder.receiver->add_credit(2);
    front.settle_down();
    for (auto& delivery : holder.deliveries) {
        delivery.update({.kind = OutcomeKind::modified, .undeliverable_here = true});
    }
    front.settle_down();
    REQUIRE(front.counts("orders").deferred == 2);
    for (const std::int64_t number : {1, 2}) {
        requests.sender->send(
            std::to_string(number),
            Front::request(
                "id", "answers",
                Value::map({{"operation", "com.microsoft:receive-by-sequence-number"}}),
                Value::map({{"sequence-numbers", amqp::Array{.element = 0x81, .items = {number}}},
                            {"session-id", "a"}})),
            true);
    }
    front.run();
    CHECK(answers.messages.empty());
    CHECK(front.connection->peer().answer_bytes != 0);
    CHECK(front.connection->peer().waiting_request_bytes != 0); // the second one
    SUBCASE("until then") {
        front.settle_down();
        front.settle_down();
        CHECK(answers.messages.size() == 2);
    }
    SUBCASE("or until their link is gone") {
        requests.sender->close();
        front.settle_down();
        CHECK(answers.messages.empty());
    }
    CHECK(front.connection->peer().answer_bytes == 0);
    CHECK(front.connection->peer().waiting_request_bytes == 0);
}

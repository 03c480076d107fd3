// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/entity_state.hpp"
#include "managed.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using std::chrono::seconds;

TEST_CASE("message operations: peek shows messages of an entity or a session without changes; the "
          "end is 204") {
    Managed front;
    front.put("orders", {message("a", "1"), message("b", "2"), message("a", "3")});
    const auto peek = [&](Value session, std::int64_t from = 1) {
        return front.ask("peek-message", Value::map({{"from-sequence-number", from},
                                                     {"message-count", std::int32_t{10}},
                                                     {"session-id", std::move(session)}}));
    };
    CHECK(front.bodies(peek({})) == std::vector<std::string>{"1", "2", "3"});
    CHECK(front.bodies(peek("a")) == std::vector<std::string>{"1", "3"});
    CHECK(peek("a", 4).status == 204);
    front.hold("b");
    const auto of_link = front.ask("peek-message",
                                   Value::map({{"from-sequence-number", std::int64_t{1}},
                                               {"message-count", std::int32_t{10}}}),
                                   "holder");
    CHECK(front.bodies(of_link) == std::vector<std::string>{"2"});
}

TEST_CASE("message operations: messages are scheduled, and cancelled by sequence number") {
    Managed front;
    Message later = message("a", "later");
    later.scheduled_enqueue_time = front.loop.wall_now() + seconds{60};
    const Value one =
        Value::map({{"message", amqp::Binary{amqp::encode_message(later, front.reading())}}});
    const auto scheduled =
        front.ask("schedule-message", Value::map({{"messages", Value::list({one, one})}}));
    CHECK(scheduled.status == 200);
    const Value* numbers = scheduled.body.find("sequence-numbers");
    REQUIRE(numbers != nullptr);
    REQUIRE(numbers->as<amqp::Array>() != nullptr);
    CHECK(numbers->as<amqp::Array>()->element == 0x81);
    CHECK(front.counts("orders").scheduled == 2);
    CHECK(front.ask("cancel-scheduled-message", Value::map({{"sequence-numbers", *numbers}}))
              .status == 200);
    CHECK(front.counts("orders").scheduled == 0);
    CHECK(front.ask("cancel-scheduled-message", Value::map({{"sequence-numbers", *numbers}}))
              .status == 404);
}

TEST_CASE("message operations: deferred messages are received by number with their lock token, and "
          "settled") {
    Managed front;
    front.put("orders", {message("a", "1"), message("a", "2")});
    LinkLog& holder = front.hold("a");
    holder.receiver->add_credit(2);
    front.run();
    for (auto& delivery : holder.deliveries) {
        delivery.update({.kind = amqp::OutcomeKind::modified, .undeliverable_here = true});
    }
    front.run();
    CHECK(front.counts("orders").deferred == 2);
    const auto received = front.ask("receive-by-sequence-number",
                                    Value::map({{"sequence-numbers", longs({1, 2})},
                                                {"receiver-settle-mode", std::uint32_t{1}},
                                                {"session-id", "a"}}));
    CHECK(received.status == 200);
    CHECK(front.bodies(received) == std::vector<std::string>{"1", "2"});
    std::vector<Value> tokens;
    const auto& items = *received.body.find("messages")->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Value* token = items[i].find("lock-token");
        REQUIRE(token != nullptr);
        const auto inside =
            amqp::decode_delivery(front.messages(received)[i], front.reading()).value();
        REQUIRE(inside.lock_token);
        CHECK(*token == Value{*inside.lock_token});
        CHECK(inside.locked_until == amqp::Timestamp::of(WallTime::max()).time());
        tokens.push_back(*token);
    }
    const auto dispose = [&](const char* status, Value token) {
        return front.ask("update-disposition",
                         Value::map({{"lock-tokens", uuids({std::move(token)})},
                                     {"disposition-status", status},
                                     {"deadletter-reason", "why"},
                                     {"session-id", "a"}}));
    };
    CHECK(dispose("completed", tokens[0]).status == 200);
    CHECK(dispose("suspended", tokens[1]).status == 200);
    CHECK(front.counts("orders").deferred == 0);
    CHECK(front.counts("orders/$DeadLetterQueue").active == 1);
    const auto again = dispose("completed", tokens[0]);
    CHECK(again.status == 410);
    CHECK(again.condition == "com.microsoft:message-lock-lost");
    CHECK(front
              .ask("receive-by-sequence-number",
                   Value::map({{"sequence-numbers", longs({1})}, {"session-id", "a"}}))
              .status == 404);
}

TEST_CASE("message operations: many deferred messages are received in turns") {
    const std::vector<std::string> all{"1", "2", "3", "4", "5"};
    Managed front{"orders", {.decoded_at_once = 2}};
    for (const std::string& body : all) {
        front.put("orders", {message("a", body.c_str())});
    }
    LinkLog& holder = front.hold("a");
    holder.receiver->add_credit(5);
    front.run();
    for (auto& delivery : holder.deliveries) {
        delivery.update({.kind = amqp::OutcomeKind::modified, .undeliverable_here = true});
    }
    front.run();
    REQUIRE(front.counts("orders").deferred == 5);
    const auto receive = [&](std::uint32_t settle_mode, std::initializer_list<std::int64_t> which) {
        return front.ask("receive-by-sequence-number",
                         Value::map({{"sequence-numbers", longs(which)},
                                     {"receiver-settle-mode", settle_mode},
                                     {"session-id", "a"}}));
    };
    SUBCASE("locked") {
        const auto received = receive(1, {1, 2, 3, 4, 5});
        CHECK(front.bodies(received) == all);
        for (const Value& item : *received.body.find("messages")->items()) {
            CHECK(front
                      .ask("update-disposition",
                           Value::map({{"lock-tokens", uuids({*item.find("lock-token")})},
                                       {"disposition-status", "completed"},
                                       {"session-id", "a"}}))
                      .status == 200);
        }
        CHECK(front.counts("orders").deferred == 0);
    }
    SUBCASE("locked, and settled together, in turns too") {
        const auto received = receive(1, {1, 2, 3, 4, 5});
        amqp::Array tokens{.element = 0x98};
        for (const Value& item : *received.body.find("messages")->items()) {
            tokens.items.push_back(*item.find("lock-token"));
        }
        CHECK(front
                  .ask("update-disposition", Value::map({{"lock-tokens", tokens},
                                                         {"disposition-status", "abandoned"},
                                                         {"session-id", "a"}}))
                  .status == 200);
        CHECK(front.counts("orders").deferred == 5);
        CHECK(receive(1, {5}).status == 200); // it is not held any more
    }
    SUBCASE("and deleted") {
        const auto received = receive(0, {1, 2, 3, 4, 5});
        CHECK(front.bodies(received) == all);
        CHECK(front.counts("orders").deferred == 0);
        CHECK(receive(0, {1}).status == 404);
    }
    SUBCASE("in the order that was asked for") {
        CHECK(front.bodies(receive(1, {5, 1})) == std::vector<std::string>{"5", "1"});
        CHECK(front.bodies(receive(1, {4, 2, 3})) == std::vector<std::string>{"4", "2", "3"});
    }
    CHECK(front.connection->peer().answer_bytes == 0);
}

TEST_CASE("message operations: requests wait while an answer is written that is large enough") {
    Managed front{"plain", {.decoded_at_once = 1, .unread_answers = 1}};
    front.put("plain", {message("", "1"), message("", "2"), message("", "3"), message("", "4")});
    LinkLog& reading = front.receive("reader", "plain");
    reading.receiver->add_credit(4);
    front.run();
    for (auto& delivery : reading.deliveries) {
        delivery.update({.kind = amqp::OutcomeKind::modified, .undeliverable_here = true});
    }
    front.run();
    REQUIRE(front.counts("plain").deferred == 4);
    const auto ask = [&](const char* id, std::initializer_list<std::int64_t> which) {
        front.requests->sender->send(
            id,
            Front::request(id, "answers",
                           Value::map({{"operation", "com.microsoft:receive-by-sequence-number"}}),
                           Value::map({{"sequence-numbers", longs(which)},
                                       {"receiver-settle-mode", std::uint32_t{1}}})),
            true);
    };
    ask("long", {1, 2, 3});
    ask("short", {4});
    SUBCASE("and are then answered") {
        front.run();
        REQUIRE(front.answers->messages.size() == 2);
        CHECK(Front::read_reply(front.answers->messages[0]).correlation == Value{"long"});
        CHECK(Front::read_reply(front.answers->messages[1]).correlation == Value{"short"});
    }
    SUBCASE("or go with their link") {
        front.requests->sender->close();
        front.run();
    }
    CHECK(front.connection->peer().answer_bytes == 0);
    CHECK(front.connection->peer().waiting_request_bytes == 0);
}

TEST_CASE("message operations: deferred messages of a session need its lock") {
    Managed front;
    CHECK(front
              .ask("receive-by-sequence-number",
                   Value::map({{"sequence-numbers", longs({1})}, {"session-id", "a"}}))
              .status == 410);
}

TEST_CASE("message operations: a settlement that names a session whose lock was lost says so") {
    Managed front;
    front.put("orders", {message("a", "1")});
    LinkLog& holder = front.hold("a");
    holder.receiver->add_credit(1);
    front.run();
    holder.deliveries.front().update(
        {.kind = amqp::OutcomeKind::modified, .undeliverable_here = true});
    front.run();
    const auto received = front.ask("receive-by-sequence-number",
                                    Value::map({{"sequence-numbers", longs({1})},
                                                {"receiver-settle-mode", std::uint32_t{1}},
                                                {"session-id", "a"}}));
    REQUIRE(received.status == 200);
    const Value token = *received.body.find("messages")->items()->front().find("lock-token");
    const auto condition = [&](const char* session) {
        return front
            .ask("update-disposition",
                 Value::map({{"lock-tokens", uuids({token})},
                             {"disposition-status", "completed"},
                             {"session-id", session == nullptr ? Value{} : Value{session}}}))
            .condition;
    };
    SUBCASE("it was never held") {
        CHECK(condition("b") == "com.microsoft:session-lock-lost");
        CHECK(condition("a").empty());
    }
    SUBCASE("it expired") {
        front.pass(seconds{61});
        CHECK(condition("a") == "com.microsoft:session-lock-lost");
        CHECK(condition(nullptr) == "com.microsoft:message-lock-lost");
    }
}

TEST_CASE("message operations: unknown lock tokens and arrays of nulls are lost locks") {
    Managed front;
    for (const Value& tokens :
         {uuids({core::Uuid{}}), Value{amqp::Array{.element = 0x40, .items = {Value{}}}},
          uuids({core::Uuid::make()})}) {
        const auto reply =
            front.ask("update-disposition",
                      Value::map({{"lock-tokens", tokens}, {"disposition-status", "completed"}}));
        CHECK(reply.status == 410);
    }
    CHECK(front
              .ask("update-disposition",
                   Value::map({{"lock-tokens", uuids({})}, {"disposition-status", "eaten"}}))
              .status == 400);
}

TEST_CASE("message operations: a message lock is renewed by its token, whose delivery tag has "
          "another byte order") {
    Managed front{"plain"};
    front.put("plain", {{.body = "1"}});
    LinkLog& link = front.receive("r", "plain");
    link.receiver->add_credit(1);
    front.pass(seconds{20});
    const Value token = amqp::token_of(link.tags.at(0)).value();
    const auto renewed = front.ask("renew-lock", Value::map({{"lock-tokens", uuids({token})}}));
    CHECK(renewed.status == 200);
    const Value* expirations = renewed.body.find("expirations");
    REQUIRE(expirations != nullptr);
    REQUIRE(expirations->as<amqp::Array>() != nullptr);
    CHECK(expirations->as<amqp::Array>()->element == 0x83);
    CHECK(expirations->items()->at(0) ==
          Value{amqp::Timestamp::of(front.loop.wall_now() + seconds{30})});
    front.pass(seconds{20});
    link.deliveries.at(0).update({.kind = amqp::OutcomeKind::accepted});
    front.run();
    CHECK(link.outcomes.at(0).kind == amqp::OutcomeKind::accepted);
    CHECK(front.ask("renew-lock", Value::map({{"lock-tokens", uuids({token})}})).status == 410);
}

TEST_CASE("message operations: a request has at most so many items") {
    Managed front{"orders", {.items_per_request = 3}};
    const auto cancel = [&](std::initializer_list<std::int64_t> numbers) {
        return front.ask("cancel-scheduled-message",
                         Value::map({{"sequence-numbers", longs(numbers)}}));
    };
    CHECK(cancel({1, 2, 3}).status == 404);
    const auto refused = cancel({1, 2, 3, 4});
    CHECK(refused.status == 400);
    CHECK(refused.condition == "amqp:resource-limit-exceeded");
    const auto renew =
        front.ask("renew-lock",
                  Value::map({{"lock-tokens", uuids(std::vector<Value>(4, core::Uuid::make()))}}));
    CHECK(renew.condition == "amqp:resource-limit-exceeded");
}

TEST_CASE("message operations: a request with too many values is rejected") {
    Managed front;
    const auto outcome = [&](std::size_t items) {
        front.requests->sender->send("2",
                                     Front::request("id", "answers",
                                                    Value::map({{"operation", "none"}}),
                                                    amqp::List(items, Value{true})),
                                     false);
        front.run();
        REQUIRE(!front.requests->outcomes.empty());
        return front.requests->outcomes.back().kind;
    };
    // the list itself is a value too
    CHECK(outcome(server::most_request_values - 1) == amqp::OutcomeKind::accepted);
    CHECK(outcome(server::most_request_values) == amqp::OutcomeKind::rejected);
}

TEST_CASE("message operations: a search among many messages goes on in turns, until it has found "
          "one or there are no more") {
    Managed front{"plain"};
    constexpr std::size_t others = 3 * broker::messages_a_search + 7;
    std::vector<Message> messages(others);
    messages.push_back(message("wanted", "found"));
    front.put("plain", std::move(messages));
    const auto peek = [&](const char* session) {
        return front.ask("peek-message", Value::map({{"from-sequence-number", std::int64_t{1}},
                                                     {"message-count", std::int32_t{10}},
                                                     {"session-id", session}}));
    };
    CHECK(front.bodies(peek("wanted")) == std::vector<std::string>{"found"});
    CHECK(peek("none").status == 204);
}

TEST_CASE("message operations: many messages to schedule are decoded in turns, all or none") {
    Managed front{"orders", {.decoded_at_once = 2}};
    Message later = message("a", "later");
    later.scheduled_enqueue_time = front.loop.wall_now() + seconds{60};
    const Value good =
        Value::map({{"message", Value::binary(amqp::encode_message(later, front.reading()))}});
    amqp::List entries(5, good);
    std::int64_t status = 200;
    std::uint64_t scheduled = 5;
    SUBCASE("all") {}
    SUBCASE("the last is none") {
        entries.back() = Value::map({{"message", Value::binary("x")}});
        status = 400;
        scheduled = 0;
    }
    SUBCASE("one is missing") {
        entries[3] = Value::map({{"other", 1}});
        status = 400;
        scheduled = 0;
    }
    CHECK(front.ask("schedule-message", Value::map({{"messages", Value{entries}}})).status ==
          status);
    CHECK(front.counts("orders").scheduled == scheduled);
    CHECK(front.connection->peer().waiting_request_bytes == 0);
}

TEST_CASE("message operations: the less memory is left for peers, the less a peek returns, but one "
          "message always") {
    server::Limits limits;
    limits.memory.all = std::size_t{2} << 20U;
    Managed front{"plain", limits};
    for (int i = 0; i < 20; ++i) {
        front.put("plain", {Message{.body = std::string(4'000, 'x')}});
    }
    const auto peeked = [&] {
        return front
            .bodies(front.ask("peek-message", Value::map({{"from-sequence-number", std::int64_t{0}},
                                                          {"message-count", std::int32_t{20}}})))
            .size();
    };
    const std::size_t some = peeked();
    CHECK(some > 1);
    CHECK(some < 10);
    struct Account final : server::MemoryBook::Account {
        using server::MemoryBook::Account::Account;
        void evict(server::MemoryBook::Bound) override {}
        std::size_t trim() noexcept override { return bytes(); }
    } other{front.context.memory};
    other.claim();
    front.context.memory.set(other, std::size_t{15} << 17U, front.loop.now());
    CHECK(peeked() == 1);
}

#include <doctest/doctest.h>

#include "amqp/codec/lock_token.hpp"
#include "front.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;
using std::chrono::seconds;

namespace {

/// A client with a session of "orders" in hand and a way to ask the node that manages an entity.
struct Managed : Front {
    explicit Managed(const std::string& entity = "orders") {
        enter();
        LinkLog& reading = receive("answers", entity + "/$management");
        reading.receiver->add_credit(1000);
        answers = &reading;
        requests = &send("requests", entity + "/$management");
    }

    Reply ask(const char* operation, const Value& body, const char* link = "") {
        Value properties = Value::map({{"operation", std::string{"com.microsoft:"} + operation}, {"associated-link-name", link}});
        requests->sender->send("1", request("id", "answers", std::move(properties), body), true);
        const std::size_t before = answers->messages.size();
        run();
        REQUIRE(answers->messages.size() == before + 1);
        const Reply reply = read_reply(answers->messages.back());
        CHECK(reply.correlation == Value{"id"});
        return reply;
    }

    LinkLog& hold(const char* id) { return receive("holder", by_session("orders", id)); }

    /// Of the messages of an answer, the encoded bytes.
    std::vector<std::string> messages(const Reply& reply) {
        std::vector<std::string> all;
        const Value* list = reply.body.find("messages");
        REQUIRE(list != nullptr);
        for (const Value& item : *list->items()) {
            all.emplace_back(item.find("message")->bytes().value());
        }
        return all;
    }
    std::vector<std::string> bodies(const Reply& reply) {
        std::vector<std::string> all;
        for (const std::string& encoded : messages(reply)) {
            all.emplace_back(amqp::decode_delivery(encoded, reading()).value().content->body());
        }
        return all;
    }

    LinkLog* answers{nullptr};
    LinkLog* requests{nullptr};
};

Value longs(std::initializer_list<std::int64_t> numbers) { return amqp::Array{.element = 0x81, .items = {numbers.begin(), numbers.end()}}; }

Value uuids(std::vector<Value> tokens) { return amqp::Array{.element = 0x98, .items = std::move(tokens)}; }

Message message(const char* session, const char* body) { return Message::text(session, body); }

} // namespace

TEST_CASE("Management: an unknown operation and a body that lacks something are told apart, in words") {
    Managed front;
    CHECK(front.ask("make-coffee", amqp::Map{}).status == 501);
    const auto lacking = front.ask("peek-message", amqp::Map{});
    CHECK(lacking.status == 400);
    CHECK(lacking.condition == "com.microsoft:argument-error");
}

TEST_CASE("Management: a session's lock is renewed from now on, by its id or by its receiver's name") {
    Managed front;
    front.hold("a");
    front.pass(seconds{20});
    const auto by_id = front.ask("renew-session-lock", Value::map({{"session-id", "a"}}));
    CHECK(by_id.status == 200);
    const Value* until = by_id.body.find("expiration");
    REQUIRE(until != nullptr);
    CHECK(*until == Value{amqp::Timestamp::of(front.loop.wall_now() + seconds{30})});
    front.pass(seconds{20});
    CHECK(front.ask("renew-session-lock", amqp::Map{}, "holder").status == 200);
    const auto other = front.ask("renew-session-lock", Value::map({{"session-id", "b"}}));
    CHECK(other.status == 410);
    CHECK(other.condition == "com.microsoft:session-lock-lost");
}

TEST_CASE("Management: a session's state is kept as bytes; null and no bytes clear it") {
    Managed front;
    front.hold("a");
    const auto state = [&] { return *front.ask("get-session-state", Value::map({{"session-id", "a"}})).body.find("session-state"); };
    CHECK(state().is_null());
    const auto set = [&](Value value) {
        return front.ask("set-session-state", Value::map({{"session-id", "a"}, {"session-state", std::move(value)}})).status;
    };
    for (const Value& nothing : {Value{}, Value::binary("")}) {
        CHECK(set(Value::binary("step 3")) == 200);
        CHECK(state() == Value::binary("step 3"));
        CHECK(set(nothing) == 200);
        CHECK(state().is_null());
    }
    CHECK(front.ask("get-session-state", Value::map({{"session-id", "b"}})).status == 410);
}

TEST_CASE("Management: peeking shows an entity or a session and disturbs nothing; the end is 204") {
    Managed front;
    front.put("orders", {message("a", "1"), message("b", "2"), message("a", "3")});
    const auto peek = [&](Value session, std::int64_t from = 1) {
        return front.ask("peek-message",
                         Value::map({{"from-sequence-number", from}, {"message-count", std::int32_t{10}}, {"session-id", std::move(session)}}));
    };
    CHECK(front.bodies(peek({})) == std::vector<std::string>{"1", "2", "3"});
    CHECK(front.bodies(peek("a")) == std::vector<std::string>{"1", "3"});
    CHECK(peek("a", 4).status == 204);
    front.hold("b");
    const auto of_link =
        front.ask("peek-message", Value::map({{"from-sequence-number", std::int64_t{1}}, {"message-count", std::int32_t{10}}}), "holder");
    CHECK(front.bodies(of_link) == std::vector<std::string>{"2"});
}

TEST_CASE("Management: messages are scheduled and cancelled by their numbers") {
    Managed front;
    Message later = message("a", "later");
    later.scheduled_enqueue_time = front.loop.wall_now() + seconds{60};
    const Value one = Value::map({{"message", amqp::Binary{amqp::encode_message(later, front.reading())}}});
    const auto scheduled = front.ask("schedule-message", Value::map({{"messages", Value::list({one, one})}}));
    CHECK(scheduled.status == 200);
    const Value* numbers = scheduled.body.find("sequence-numbers");
    REQUIRE(numbers != nullptr);
    REQUIRE(numbers->as<amqp::Array>() != nullptr);
    CHECK(numbers->as<amqp::Array>()->element == 0x81);
    CHECK(front.counts("orders").scheduled == 2);
    CHECK(front.ask("cancel-scheduled-message", Value::map({{"sequence-numbers", *numbers}})).status == 200);
    CHECK(front.counts("orders").scheduled == 0);
    CHECK(front.ask("cancel-scheduled-message", Value::map({{"sequence-numbers", *numbers}})).status == 404);
}

TEST_CASE("Management: deferred messages are received by number, with their token inside and beside, and settled here") {
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
    const auto received =
        front.ask("receive-by-sequence-number",
                  Value::map({{"sequence-numbers", longs({1, 2})}, {"receiver-settle-mode", std::uint32_t{1}}, {"session-id", "a"}}));
    CHECK(received.status == 200);
    CHECK(front.bodies(received) == std::vector<std::string>{"1", "2"});
    std::vector<Value> tokens;
    const auto& items = *received.body.find("messages")->items();
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Value* token = items[i].find("lock-token");
        REQUIRE(token != nullptr);
        const auto inside = amqp::decode_delivery(front.messages(received)[i], front.reading()).value();
        REQUIRE(inside.lock_token);
        CHECK(*token == Value{*inside.lock_token});
        CHECK(inside.locked_until == amqp::Timestamp::of(front.loop.wall_now() + seconds{30}).time());
        tokens.push_back(*token);
    }
    const auto dispose = [&](const char* status, Value token) {
        return front.ask(
            "update-disposition",
            Value::map(
                {{"lock-tokens", uuids({std::move(token)})}, {"disposition-status", status}, {"deadletter-reason", "why"}, {"session-id", "a"}}));
    };
    CHECK(dispose("completed", tokens[0]).status == 200);
    CHECK(dispose("suspended", tokens[1]).status == 200);
    CHECK(front.counts("orders").deferred == 0);
    CHECK(front.counts("orders/$DeadLetterQueue").active == 1);
    const auto again = dispose("completed", tokens[0]);
    CHECK(again.status == 410);
    CHECK(again.condition == "com.microsoft:message-lock-lost");
    CHECK(front.ask("receive-by-sequence-number", Value::map({{"sequence-numbers", longs({1})}, {"session-id", "a"}})).status == 404);
}

TEST_CASE("Management: without a session in hand its deferred messages are not received") {
    Managed front;
    CHECK(front.ask("receive-by-sequence-number", Value::map({{"sequence-numbers", longs({1})}, {"session-id", "a"}})).status == 410);
}

TEST_CASE("Management: lock tokens nobody gave out, and arrays of nulls, are lost locks") {
    Managed front;
    for (const Value& tokens : {uuids({core::Uuid{}}), Value{amqp::Array{.element = 0x40, .items = {Value{}}}}, uuids({core::Uuid::make()})}) {
        const auto reply = front.ask("update-disposition", Value::map({{"lock-tokens", tokens}, {"disposition-status", "completed"}}));
        CHECK(reply.status == 410);
    }
    CHECK(front.ask("update-disposition", Value::map({{"lock-tokens", uuids({})}, {"disposition-status", "eaten"}})).status == 400);
}

TEST_CASE("Management: a message's own lock is renewed by its token, which its delivery tag says in another byte order") {
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
    CHECK(expirations->items()->at(0) == Value{amqp::Timestamp::of(front.loop.wall_now() + seconds{30})});
    front.pass(seconds{20});
    link.deliveries.at(0).update({.kind = amqp::OutcomeKind::accepted});
    front.run();
    CHECK(link.outcomes.at(0).kind == amqp::OutcomeKind::accepted);
    CHECK(front.ask("renew-lock", Value::map({{"lock-tokens", uuids({token})}})).status == 410);
}

TEST_CASE("Management: sessions are listed page by page, the empty id among them") {
    Managed front;
    const auto list = [&](std::int32_t skip, std::int32_t top) {
        return front.ask("get-message-sessions", Value::map({{"last-updated-time", amqp::Timestamp{253402300799999}}, {"skip", skip}, {"top", top}}));
    };
    CHECK(list(0, 10).status == 204);
    front.put("orders", {message("a", "1"), message("", "2"), message("c", "3")});
    const auto first = list(0, 2);
    CHECK(first.status == 200);
    REQUIRE(first.body.find("sessions-ids") != nullptr);
    CHECK(*first.body.find("sessions-ids")->items() == std::vector<Value>{"a", ""});
    CHECK(*list(2, 2).body.find("sessions-ids")->items() == std::vector<Value>{"c"});
    CHECK(list(3, 2).status == 204);
    const auto since = front.ask("get-message-sessions", Value::map({{"last-updated-time", amqp::Timestamp{1}}, {"skip", 0}, {"top", 10}}));
    CHECK(since.status == 501); // not all of them, as if it had not been asked
}

TEST_CASE("Management: an answer finds its way by address, by link name, or to the newest reader of the session") {
    Managed front;
    LinkLog& named = front.receive("by-name", "orders/$management");
    named.receiver->add_credit(10);
    LinkLog& addressed = front.receive("third", amqp::Attach{.source = {.address = "orders/$management"}, .target = {.address = "by-address"}});
    addressed.receiver->add_credit(10);
    const auto ask = [&](const Value& reply_to) {
        front.requests->sender->send("1", Front::request("id", reply_to, Value::map({{"operation", "x"}}), amqp::Map{}), true);
        front.run();
    };
    ask("by-address");
    CHECK(addressed.messages.size() == 1);
    ask("by-name");
    CHECK(named.messages.size() == 1);
    ask({});
    CHECK(addressed.messages.size() == 2);
}

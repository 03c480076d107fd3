// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"
#include "core/trace_context.hpp"

using namespace sessionq;
using namespace sessionq::test;
using namespace std::chrono_literals;

PORT_CASE("delivery: a session's messages arrive in order, and no others") {
    PortCase t{port};
    t.send("a", {"1", "2"});
    t.send("b", {"x"});
    t.send("a", {"3"});
    const auto link = t.hold("a");
    t.receive(*link, 3);
    CHECK(link->text() == "1 2 3");
    CHECK(link->got[0]->message.sequence_number() < link->got[1]->message.sequence_number());
    CHECK(link->got[1]->message.sequence_number() < link->got[2]->message.sequence_number());
    CHECK(link->got[0]->message.session_id() == "a");
    CHECK(link->got[0]->message.delivery_count() == 0);
    CHECK_FALSE(link->got[0]->settled_by_sender);
    CHECK(link->got[0]->bytes > 0);
}

PORT_CASE("delivery: a message arrives as it was sent") {
    PortCase t{port};
    Message sent{.body = std::string{"\0\xff body", 7},
                 .session_id = "a",
                 .message_id = "id-1",
                 .subject = "subject",
                 .correlation_id = "correlation",
                 .reply_to = "reply",
                 .reply_to_session_id = "reply-session",
                 .to = "to",
                 .content_type = "text/plain",
                 .properties = {{"bool", true},
                                {"int", std::int64_t{-5}},
                                {"text", std::string{"t"}},
                                {"double", 0.5}}};
    t.send({sent});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    const Message& got = link->got[0]->message.content();
    CHECK(got.body == sent.body);
    CHECK(got.message_id == "id-1");
    CHECK(got.subject == "subject");
    CHECK(got.correlation_id == "correlation");
    CHECK(got.reply_to == "reply");
    CHECK(got.reply_to_session_id == "reply-session");
    CHECK(got.to == "to");
    CHECK(got.content_type == "text/plain");
    Properties properties = got.properties;
    properties.erase(
        "JMSXGroupFirstForConsumer"); // Artemis adds it to the first message of a group, if so
                                      // configured
    CHECK(properties == sent.properties);
}

PORT_CASE("delivery: values and sequences arrive as they were sent") {
    PortCase t{port};
    std::vector<Message> sent;
    for (const AmqpValue& value :
         {AmqpValue{"text"}, AmqpValue{std::vector<std::byte>{std::byte{0}, std::byte{255}}},
          AmqpValue{}, AmqpValue{true}, AmqpValue{-5}, AmqpValue{0.5},
          AmqpValue{AmqpList{"a", 1, AmqpList{true}}},
          AmqpValue{AmqpMap{{"customer", "ada"}, {"lines", 5}}}}) {
        sent.push_back(Message::of_value(value).in_session("a"));
    }
    sent.push_back(Message::of_sequence({"a", 1, AmqpMap{{"k", true}}}).in_session("a"));
    t.send(sent);
    const auto link = t.hold("a");
    t.receive(*link, static_cast<std::uint32_t>(sent.size()));
    for (std::size_t i = 0; i + 1 < sent.size(); ++i) {
        CAPTURE(*sent[i].value);
        const ReceivedMessage& got = link->got[i]->message;
        REQUIRE(got.body_kind() == BodyKind::value);
        CHECK(got.value() == *sent[i].value);
        CHECK(got.copy().value == sent[i].value);
    }
    const ReceivedMessage& last = link->got.back()->message;
    REQUIRE(last.body_kind() == BodyKind::sequence);
    CHECK(last.sequence() == *sent.back().sequence);
}

PORT_CASE("R22: delivery: a message has what was left of its deadline, less the time it waited") {
    PortCase t{port};
    const auto now = [&t] { return t.endpoint->loop().now(); };
    const Deadline deadline = Deadline::after(10min, now());
    Message due = Message::of("due").in_session("a");
    due.deadline = deadline;
    t.send({due});
    t.send("a", {"at leisure"});
    const auto link = t.hold("a");
    const TimePoint held = now();
    t.receive(*link, 2);
    const Deadline got = link->got[0]->message.deadline();
    // A broker that does not tell its time may count the wait as shorter, and none as longer.
    CHECK(got.time() >= deadline.time());
    CHECK(got.time() <= deadline.time() + (now() - held) + 1min);
    CHECK(link->got[1]->message.deadline().is_never());
}

PORT_CASE("delivery: a message has the trace context that it was sent with") {
    PortCase t{port};
    const TraceContext trace{.traceparent =
                                 "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                             .tracestate = "a=1,b=2"};
    Message traced = Message::of("traced").in_session("a");
    core::add_trace(trace, traced.properties);
    t.send({traced});
    t.send("a", {"plain"});
    const auto link = t.hold("a");
    t.receive(*link, 2);
    CHECK(link->got[0]->message.trace() == trace);
    CHECK_FALSE(link->got[1]->message.trace().has_value());
}

PORT_CASE("credit: each delivery uses one credit, and none arrives without") {
    PortCase t{port};
    t.send("a", {"1", "2", "3", "4"});
    const auto link = t.hold("a");
    t.fixture.quiet();
    CHECK(link->got.empty());
    link->credit(1);
    link->credit(1);
    CHECK(t.fixture.eventually([&] { return link->got.size() == 2; }));
    t.fixture.quiet();
    CHECK(link->text() == "1 2");
    t.receive(*link, 2);
    CHECK(link->text() == "1 2 3 4");
}

PORT_CASE("credit: unused credit serves later messages") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto link = t.hold("a");
    link->credit(3);
    t.fixture.quiet();
    t.send("a", {"1"});
    CHECK(t.fixture.eventually([&] { return link->got.size() == 1; }));
    t.send("a", {"2", "3", "4"});
    CHECK(t.fixture.eventually([&] { return link->got.size() == 3; }));
    t.fixture.quiet();
    CHECK(link->text() == "1 2 3");
}

PORT_CASE("credit: many messages arrive in order with any amount of credit") {
    PortCase t{port};
    constexpr int count = 2000;
    std::vector<Message> messages;
    for (int i = 0; i < count; ++i) {
        messages.push_back(Message::of(std::to_string(i)).in_session("a"));
    }
    t.send(std::move(messages));
    const auto link = t.hold("a");
    t.receive(*link, count);
    for (int i = 0; i < count; ++i) {
        REQUIRE(link->got[static_cast<std::size_t>(i)]->message.text() == std::to_string(i));
    }
}

PORT_CASE("drain: takes back the credit of an empty session") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto link = t.hold("a");
    link->credit(5);
    t.drain(*link);
    CHECK(link->drained == 1);
    t.send("a", {"1"});
    t.fixture.quiet();
    CHECK(link->got.empty());
    t.receive(*link, 1);
}

PORT_CASE("drain: is answered even without credit") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto link = t.hold("a");
    t.drain(*link);
    CHECK(link->drained == 1);
}

PORT_CASE("drain: available messages arrive before the answer (R3)") {
    PortCase t{port};
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    link->credit(5);
    link->drain();
    CHECK(t.fixture.eventually([&] { return link->drained == 1; }));
    CHECK(link->text() == "1 2");
    t.fixture.quiet();
    CHECK(link->drained == 1);
}

PORT_CASE("drain: a message that crosses with it is not lost (R3)") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto other = t.fixture.make_endpoint();
    const auto link = t.hold("a");
    link->credit(1);
    t.fixture.quiet();
    link->drain();
    std::vector<Message> one;
    one.push_back(Message::of("1").in_session("a"));
    const auto sent = t.begin<std::vector<std::int64_t>>([&](auto handler) {
        other->send({t.target(), std::move(one)}, std::move(handler));
    });
    CHECK(t.fixture.eventually([&] { return sent.is_there() && link->drained == 1; }));
    t.fixture.quiet();
    if (link->got.empty()) { // the answer came first, so the message is still in the queue
        t.receive(*link, 1);
    }
    CHECK(link->text() == "1");
}

PORT_CASE("drain: with more messages than credit it ends when the credit is used") {
    PortCase t{port};
    t.send("a", {"1", "2", "3"});
    const auto link = t.hold("a");
    link->credit(2);
    t.drain(*link);
    t.fixture.quiet();
    CHECK(link->text() == "1 2");
    CHECK(link->drained == 1);
}

PORT_CASE("receive and delete: needs no settlement, and no message returns") {
    PortCase t{port};
    NEEDS(t, receive_and_delete);
    t.send("a", {"1", "2", "3"});
    const auto link = t.link_of(t.finish<ports::SessionLinkPtr>([&](auto handler) {
        t.endpoint->accept({.entity = t.entity,
                            .session_id = t.wanted("a"),
                            .mode = ports::ReceiveMode::receive_and_delete,
                            .wait = 5s},
                           std::move(handler));
    }));
    t.receive(*link, 2);
    CHECK(link->got[0]->settled_by_sender);
    t.close(*link);
    const auto next = t.hold("a");
    t.receive(*next, 1);
    next->credit(4);
    t.fixture.quiet();
    CHECK(next->text() == "3");
}

PORT_CASE("R4: first credit: what goes out with an accept brings messages and the drain's answer") {
    PortCase t{port};
    t.send("a", {"1", "2"});
    const auto link = t.link_of(t.finish<ports::SessionLinkPtr>([&](auto handler) {
        t.endpoint->accept({.entity = t.entity,
                            .session_id = t.wanted("a"),
                            .wait = 5s,
                            .first = {.count = 5, .drain = true}},
                           std::move(handler));
    }));
    if (link->given.count == 0) { // the port cannot: the link begins without
        CHECK_FALSE(link->given.drain);
        t.fixture.quiet();
        CHECK(link->got.empty());
        CHECK(link->drained == 0);
        return;
    }
    CHECK(link->given.count == 5);
    CHECK(link->given.drain);
    CHECK(t.fixture.eventually([&] { return link->drained == 1; }));
    CHECK(link->text() == "1 2");
    t.send("a", {"3"});
    t.fixture.quiet();
    CHECK(link->text() == "1 2"); // the rest of the credit was given back
    t.receive(*link, 1);
    CHECK(link->text() == "1 2 3");
}

PORT_CASE("R4: first credit: it waits with an accept for the session that becomes ready") {
    PortCase t{port};
    NEEDS(t, accept_next);
    const auto accept = t.begin<ports::SessionLinkPtr>([&](auto handler) {
        t.endpoint->accept({.entity = t.entity, .wait = 30s, .first = {.count = 5, .drain = true}},
                           std::move(handler));
    });
    t.fixture.quiet();
    CHECK_FALSE(accept.is_there());
    t.send("a", {"1", "2"});
    CHECK(t.fixture.eventually([&] { return accept.is_there(); }));
    const auto link = t.link_of(accept);
    if (link->given.count != 0) {
        CHECK(t.fixture.eventually([&] { return link->drained == 1; }));
        CHECK(link->text() == "1 2"); // not drained before the session was there
    }
}

PORT_CASE("R19: first credit: messages of a session that comes too late are there for the next") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto accept = t.begin<ports::SessionLinkPtr>([&](auto handler) {
        t.last_accept = t.endpoint->accept({.entity = t.entity,
                                            .session_id = "a",
                                            .wait = 5s,
                                            .first = {.count = 5, .drain = false}},
                                           std::move(handler));
    });
    t.send("a", {"1"});
    t.endpoint->give_up(t.last_accept);
    CHECK(t.fixture.eventually([&] { return accept.is_there(); }));
    if (!accept.failure()) { // it crossed
        t.link_of(accept)->destroy();
    }
    const auto next = t.hold("a");
    t.receive(*next, 1);
    CHECK(next->text() == "1");
    CHECK(next->got[0]->message.delivery_count() == 0);
}

PORT_CASE("delivery: many large messages come as fast as they are asked for, on one connection") {
    PortCase t{port};
    const std::size_t count = 16;
    for (std::size_t sent = 0; sent < count; ++sent) {
        t.send("a", {std::string(1'000'000, 'x')});
    }
    const auto link = t.hold("a");
    t.receive(*link, count);
    CHECK(link->text().size() == count * 1'000'001 - 1);
}

PORT_CASE("delivery: a locked message names its lock, also a deferred one") {
    PortCase t{port};
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    t.receive(*link, 2);
    const auto& first = link->got[0]->message.lock_token();
    CHECK(first.has_value() == t.has(ports::Capability::lock_tokens));
    const bool is_of_topic = t.target() != t.entity; // it has a number there
    CHECK((link->got[0]->message.enqueued_sequence_number() != 0) == is_of_topic);
    NEEDS(t, lock_tokens);
    CHECK(first->to_string().size() == 36);
    CHECK(first != link->got[1]->message.lock_token());
    CHECK(t.peek(t.entity).at(0).lock_token() == std::nullopt);
    const std::int64_t number = link->got[0]->message.sequence_number();
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::defer));
    auto asked = t.finish<std::vector<ports::DeliveryPtr>>(
        [&](auto handler) { link->link().receive_deferred({number}, {}, std::move(handler)); });
    REQUIRE(asked.result().ok());
    const auto& again = asked.result().value()[0]->message.lock_token();
    REQUIRE(again);
    CHECK(again != first);
}

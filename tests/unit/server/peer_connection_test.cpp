// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/lock_token.hpp"
#include "front.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::OutcomeKind;
using amqp::Value;
using std::chrono::seconds;

namespace {

Message message(const char* session, const char* body) {
    return Message::of(body).in_session(session);
}

std::string body_of(const std::string& encoded, const amqp::ClockReading& at) {
    return std::string{amqp::decode_delivery(encoded, at).value().content->body()};
}

std::string granted_session(const LinkLog& link) {
    const auto filter = amqp::decode(link.remote.source.filter);
    const Value* id = filter ? filter->find("com.microsoft:session-filter") : nullptr;
    return id != nullptr ? std::string{id->text().value_or("?")} : "none";
}

} // namespace

TEST_CASE("PeerConnection: the answer to an accept has the session id, the lock expiry and the "
          "peer's terms") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "one")});
    LinkLog& link = front.receive("r", Front::by_session("amqps://host/orders", {}));
    CHECK(link.opened);
    CHECK(granted_session(link) == "a");
    const amqp::Attach& answer = link.remote;
    CHECK(answer.source.address == "amqps://host/orders");
    CHECK(answer.receiver_mode == amqp::ReceiverSettleMode::second);
    CHECK(answer.max_message_size == 0); // it would bind the broker
    const auto properties = amqp::decode(answer.properties);
    REQUIRE(properties);
    const Value* until = properties->find("com.microsoft:locked-until-utc");
    REQUIRE(until != nullptr);
    REQUIRE(until->as<std::int64_t>() != nullptr);
    CHECK(amqp::time_of(*until->as<std::int64_t>()) ==
          std::chrono::time_point_cast<WallTime::duration>(front.loop.wall_now() + seconds{30}));
}

TEST_CASE("PeerConnection: delivers in order and never beyond the credit") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "1"), message("a", "2"), message("a", "3")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    CHECK(link.messages.empty());
    link.receiver->add_credit(2);
    front.run();
    REQUIRE(link.messages.size() == 2);
    CHECK(body_of(link.messages[0], front.reading()) == "1");
    CHECK(body_of(link.messages[1], front.reading()) == "2");
    CHECK(link.tags[0].size() == 16);
    link.receiver->add_credit(5);
    front.run();
    CHECK(link.messages.size() == 3);
    front.put("orders", {message("a", "4")});
    CHECK(link.messages.size() == 4);
}

namespace {

/// Of a consumer that is not told.
struct Quiet : broker::ConsumerTarget {
    void on_accepted(broker::ConsumerPtr) noexcept override {}
    void on_refused(Failure) noexcept override {}
    void notify_work() noexcept override {}
    void on_lost(Failure) noexcept override {}
};

} // namespace

TEST_CASE("PeerConnection: a link that found the session's window full goes on when it opens") {
    Front front{{.buffered_bytes = 100'000}};
    front.enter();
    const std::string body(40'000, 'x'); // a frame
    front.put("orders", {message("a", "1"), message("b", "1")});
    LinkLog& first = front.receive("first", Front::by_session("orders", "a"));
    LinkLog& second = front.receive("second", Front::by_session("orders", "b"));
    first.receiver->add_credit(10);
    second.receiver->add_credit(10);
    front.run();
    front.flow(4); // two have come
    front.put("orders", std::vector<Message>(5, message("a", body.c_str())));
    front.put("orders", std::vector<Message>(5, message("b", body.c_str())));
    CHECK(first.messages.size() < 6); // what it has fills the window
    CHECK(second.messages.size() == 1);
    front.flow(1000);
    CHECK(first.messages.size() == 6);
    CHECK(second.messages.size() == 6); // and no time has passed
}

TEST_CASE("PeerConnection: what a session's window has no room for stays in the queue") {
    Front front;
    front.enter();
    LinkLog& link = front.receive("r", "plain");
    link.receiver->add_credit(50);
    front.run();
    front.flow(3);
    front.put("plain", std::vector<Message>(10, message("a", "x")));
    CHECK(link.messages.size() == 3);
    const broker::QueuePtr queue = front.broker.find("plain").value();
    const auto others = queue->open(broker::ReceiveMode::receive_and_delete, 0,
                                    std::make_shared<Quiet>(), front.now());
    std::vector<broker::Delivered> taken;
    REQUIRE(queue->pull(*others.value(), 4, taken, front.now()));
    CHECK(taken.size() == 4);
    front.flow(1000);
    CHECK(link.messages.size() == 6);
    CHECK(front.counts("plain").active == 6);
    queue->close(*others.value(), front.now());
}

TEST_CASE("PeerConnection: a full window keeps back messages, not the answers to drains") {
    Front front;
    front.enter();
    front.make_queue("empty", {});
    LinkLog& busy = front.receive("busy", "plain");
    busy.receiver->add_credit(50);
    LinkLog& idle = front.receive("idle", "empty");
    idle.receiver->add_credit(5);
    front.run();
    front.flow(2);
    front.put("plain", std::vector<Message>(5, message("a", "x")));
    CHECK(busy.messages.size() == 2);
    CHECK(idle.receiver->credit() == 5);
    front.drain(1, 5, 2);
    CHECK(idle.receiver->credit() == 0); // given back
    CHECK(busy.messages.size() == 2);
}

TEST_CASE("PeerConnection: a drain is not answered while messages wait for the stream") {
    Front front;
    front.enter();
    LinkLog& link = front.receive("r", "plain");
    front.put("plain", std::vector<Message>(300, message("a", std::string(20'000, 'x').c_str())));
    front.stream->clog();
    link.receiver->add_credit(1000);
    front.run();
    CHECK(link.messages.size() < 300);
    CHECK(link.receiver->drain());
    front.run();
    CHECK(link.drained == 0);
    front.stream->unclog();
    front.run();
    CHECK(link.messages.size() == 300);
    CHECK(link.drained == 1);
}

TEST_CASE("PeerConnection: a window that opens serves each link, whatever the others may get") {
    Front front;
    front.enter();
    front.make_queue("other", {});
    LinkLog& first = front.receive("first", "plain");
    first.receiver->add_credit(50);
    LinkLog& second = front.receive("second", "other");
    second.receiver->add_credit(50);
    front.run();
    front.flow(2);
    front.put("plain", std::vector<Message>(5, message("a", "x")));
    front.put("other", std::vector<Message>(5, message("a", "x")));
    CHECK(first.messages.size() + second.messages.size() == 2);
    front.flow(1000, 0); // the first link's credit is taken back
    CHECK(second.messages.size() == 5);
}

TEST_CASE("PeerConnection: a peer that hangs up while messages wait for room gives them back") {
    Front front{{.buffered_bytes = 100'000}};
    front.enter();
    const std::string body(40'000, 'x');
    front.put("orders", {message("a", "first")});
    front.receive("r", Front::by_session("orders", "a")).receiver->add_credit(50);
    front.run();
    front.flow(3);
    front.put("orders", std::vector<Message>(49, message("a", body.c_str())));
    front.stream->hang_up();
    front.run();
    CHECK(front.ended == 1);
    CHECK(front.counts("orders").active == 50);
}

TEST_CASE("PeerConnection: a queue ordered by the header's priority delivers the highest first, "
          "and to receivers that wait") {
    Front front;
    front.make_queue("urgent", {.order = MessageOrder::priority});
    front.enter();
    LinkLog& out = front.send("s", "urgent");
    const auto send = [&](const char* body, std::uint8_t priority) {
        const Message message{.body = body, .priority = priority};
        out.sender->send("1", amqp::encode_message(message, front.reading()), true);
        front.run();
    };
    send("low", 1);
    send("usual", 4);
    send("high", 9);
    LinkLog& in = front.receive("r", "urgent");
    in.receiver->add_credit(10);
    front.run();
    send("later", 0);
    REQUIRE(in.messages.size() == 4);
    std::string order;
    for (const auto& each : in.messages) {
        order += body_of(each, front.reading()) + " ";
    }
    CHECK(order == "high usual low later ");
}

TEST_CASE("PeerConnection: an outcome is carried out and answered with the same kind") {
    Front front;
    front.enter();
    front.put("orders",
              {message("a", "1"), message("a", "2"), message("a", "3"), message("a", "4")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    link.receiver->add_credit(4);
    front.run();
    REQUIRE(link.deliveries.size() == 4);
    const amqp::Outcome said[] = {
        {.kind = OutcomeKind::accepted},
        {.kind = OutcomeKind::modified, .undeliverable_here = true},
        {.kind = OutcomeKind::rejected, .error = {.name = "com.microsoft:dead-letter"}},
        {.kind = OutcomeKind::released}};
    for (std::size_t i = 0; i < 4; ++i) {
        link.deliveries[i].update(said[i]);
        front.run();
        REQUIRE(link.outcomes.size() == i + 1);
        CHECK(link.outcomes[i].kind == said[i].kind);
        CHECK(link.outcomes[i].error.name.empty());
        CHECK(link.settled[i]);
    }
    CHECK(front.counts("orders").active == 1);
    CHECK(front.counts("orders").deferred == 1);
    CHECK(front.counts("orders/$DeadLetterQueue").active == 1);
}

TEST_CASE("PeerConnection: a drain sends what is available and leaves no credit") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "1")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    link.receiver->add_credit(10);
    CHECK(link.receiver->drain());
    front.run();
    CHECK(link.messages.size() == 1);
    CHECK(link.drained == 1);
    CHECK(link.receiver->credit() == 0);
    front.put("orders", {message("a", "2")});
    CHECK(link.messages.size() == 1);
}

TEST_CASE("PeerConnection: an accept waits for the client's timeout and is then refused") {
    Front front;
    front.enter();
    LinkLog& link = front.receive("r", Front::by_session("orders", {}, 5000));
    CHECK_FALSE(link.opened);
    front.pass(std::chrono::milliseconds{4900});
    CHECK_FALSE(link.closed);
    front.pass(std::chrono::milliseconds{200});
    CHECK(link.closed);
    CHECK(link.why.name == "com.microsoft:timeout");
    CHECK(link.why.text ==
          "The operation did not complete within the allotted timeout of 00:00:05.");
    CHECK_FALSE(link.remote.source.present);
}

TEST_CASE("PeerConnection: an accept whose client leaves takes no session") {
    Front front;
    front.enter();
    LinkLog& waiting = front.receive("r", Front::by_session("orders", {}));
    CHECK(front.counts("orders").waiting_accepts == 1);
    waiting.receiver->close();
    front.run();
    CHECK(waiting.closed);
    CHECK(waiting.why.empty());
    CHECK(front.counts("orders").waiting_accepts == 0);
    front.put("orders", {message("a", "1")});
    LinkLog& other = front.receive("other", Front::by_session("orders", {}));
    CHECK(granted_session(other) == "a");
}

TEST_CASE("PeerConnection: a session is free at once if the client leaves while it is granted") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "1")});
    for (const amqp::Value& id : {amqp::Value{"a"}, amqp::Value{}}) {
        LinkLog& left = front.ask("left", Front::by_session("orders", id));
        left.receiver->close();
        LinkLog& next = front.receive("next", Front::by_session("orders", id));
        CHECK(left.closed);
        CHECK(left.why.empty());
        REQUIRE(next.why.empty());
        CHECK(granted_session(next) == "a");
        front.links.clear();
        front.run();
    }
}

TEST_CASE("PeerConnection: a session is free at once if the client's leave crosses its grant") {
    Front front;
    front.enter();
    LinkLog& left = front.receive("left", Front::by_session("orders", {}));
    left.receiver->close();
    LinkLog& next = front.ask("next", Front::by_session("orders", "a"));
    front.say();
    front.put("orders", {message("a", "1")}); // granted before the server reads
    CHECK(left.closed);
    CHECK(granted_session(left) == "none");
    CHECK(granted_session(next) == "a");
}

TEST_CASE("PeerConnection: a waiting accept whose link is stolen is refused") {
    Front front;
    front.enter();
    LinkLog& waiting = front.receive("same", Front::by_session("orders", {}));
    auto other_session = front.client.begin_session();
    front.run();
    std::swap(front.session, other_session);
    LinkLog& second = front.receive("same", Front::by_session("orders", "b"));
    CHECK(waiting.closed);
    CHECK(waiting.why.name == "amqp:link:stolen");
    CHECK(granted_session(second) == "b");
    front.links.clear();
    other_session.reset();
}

TEST_CASE("PeerConnection: a locked session is refused to others until its holder leaves; no "
          "delivery is counted") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "1")});
    LinkLog& first = front.receive("first", Front::by_session("orders", "a"));
    first.receiver->add_credit(1);
    front.run();
    LinkLog& second = front.receive("second", Front::by_session("orders", "a"));
    CHECK(second.closed);
    CHECK(second.why.name == "com.microsoft:session-cannot-be-locked");
    front.links.front()->receiver.reset();
    front.run();
    LinkLog& third = front.receive("third", Front::by_session("orders", "a"));
    third.receiver->add_credit(1);
    front.run();
    REQUIRE(third.messages.size() == 1);
    CHECK(amqp::decode_delivery(third.messages[0], front.reading()).value().facts.delivery_count ==
          0);
}

TEST_CASE(
    "PeerConnection: a message tells of a holder whose connection broke, not of one that left") {
    struct Target final : Quiet {
        void on_accepted(broker::ConsumerPtr granted) noexcept override { consumer = granted; }
        broker::ConsumerPtr consumer{};
    };
    for (const bool breaks : {true, false}) {
        CAPTURE(breaks);
        Front front;
        front.enter();
        front.put("orders", {message("a", "1")});
        LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
        link.receiver->add_credit(1);
        front.run();
        REQUIRE(link.messages.size() == 1);
        if (breaks) {
            front.stream->hang_up();
        } else {
            front.client.close();
        }
        front.run();
        CHECK(front.ended == 1);
        const auto queue = front.broker.find("orders").value();
        const auto target = std::make_shared<Target>();
        static_cast<void>(
            queue->accept({.session_id = "a", .until = front.now().now}, target, front.now()));
        REQUIRE(target->consumer);
        std::vector<broker::Delivered> got;
        queue->pull(*target->consumer, 1, got, front.now());
        REQUIRE(got.size() == 1);
        CHECK(got[0].holder_lost == breaks);
        queue->close(*target->consumer, front.now());
    }
}

TEST_CASE("PeerConnection: an expired lock ends the link with session-lock-lost") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "1")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    link.receiver->add_credit(1);
    front.pass(seconds{31});
    CHECK(link.closed);
    CHECK(link.why.name == "com.microsoft:session-lock-lost");
    CHECK(front.counts("orders").active == 1);
}

TEST_CASE("PeerConnection: settling after a message lock expired fails, and the link stays") {
    Front front;
    front.enter();
    front.put("plain", {{.body = "1"}});
    LinkLog& link = front.receive("r", "plain");
    link.receiver->add_credit(1);
    front.pass(seconds{31});
    REQUIRE(link.deliveries.size() == 1);
    link.deliveries[0].update({.kind = OutcomeKind::accepted});
    front.run();
    REQUIRE(link.outcomes.size() == 1);
    CHECK(link.outcomes[0].kind == OutcomeKind::rejected);
    CHECK(link.outcomes[0].error.name == "com.microsoft:message-lock-lost");
    CHECK_FALSE(link.closed);
}

TEST_CASE("PeerConnection: a refusal is an attach without termini, then a detach with the reason") {
    Front front;
    front.enter();
    const auto refusal = [&](LinkLog& link) {
        CHECK(link.closed);
        CHECK_FALSE((link.receiver ? link.remote.source.present : link.remote.target.present));
        return link.why.name;
    };
    CHECK(refusal(front.receive("1", Front::by_session("plain", {}))) == "amqp:not-allowed");
    CHECK(refusal(front.receive("2", "orders")) == "amqp:not-allowed");
    CHECK(refusal(front.receive("3", Front::by_session("nosuch", {}))) == "amqp:not-found");
    CHECK(refusal(front.send("4", "nosuch")) == "amqp:not-found");
    CHECK(refusal(front.send("5", "nosuch/$management")) == "amqp:not-found");
}

TEST_CASE("PeerConnection: a refused accept is detached in a write of its own") {
    Front front;
    front.enter();
    LinkLog& holder = front.receive("holder", Front::by_session("orders", "a"));
    CHECK(granted_session(holder) == "a");
    const int before = front.stream->writes;
    LinkLog& other = front.receive("other", Front::by_session("orders", "a"));
    CHECK(front.stream->writes - before == 2);
    CHECK(other.closed);
    CHECK_FALSE(other.remote.source.present);
    CHECK(other.why.name == "com.microsoft:session-cannot-be-locked");
}

TEST_CASE("PeerConnection: a peer that leaves while its accept is being refused is only answered") {
    Front front;
    front.enter();
    LinkLog& holder = front.receive("holder", Front::by_session("orders", "a"));
    auto& log = *front.links.emplace_back(std::make_unique<LinkLog>());
    log.receiver = front.session->make_receiver("r");
    log.receiver->set_listener(&log);
    log.receiver->open(Front::by_session("orders", "a"));
    log.receiver->close();
    front.run();
    CHECK(log.closed);
    holder.receiver->close();
    front.run();
    CHECK(granted_session(front.receive("r", Front::by_session("orders", "a"))) == "a");
}

TEST_CASE("PeerConnection: accepts single sends and batches, and rejects with a reason") {
    Front front;
    front.enter();
    LinkLog& link = front.send("s", "orders");
    CHECK(link.sender->credit() > 0);
    const auto encoded = [&](const Message& one) {
        return amqp::encode_message(one, front.reading());
    };
    const auto send = [&](const std::string& bytes, std::uint32_t format = 0) {
        link.sender->send("1", bytes, false, format);
        front.run();
    };
    send(encoded(message("a", "1")));
    send(amqp::make_batch({encoded(message("a", "2")), encoded(message("b", "3"))}),
         amqp::batch_format);
    send(encoded({.body = "no session"}));
    send("nonsense");
    link.sender->send("5", encoded(message("a", "settled")), true);
    front.run();
    REQUIRE(link.outcomes.size() == 4);
    CHECK(link.outcomes[0].kind == OutcomeKind::accepted);
    CHECK(link.outcomes[1].kind == OutcomeKind::accepted);
    CHECK(link.outcomes[2].kind == OutcomeKind::rejected);
    CHECK(link.outcomes[2].error.name == "amqp:not-allowed");
    CHECK(link.outcomes[3].error.name == "amqp:decode-error");
    CHECK(front.counts("orders").active == 4);
}

TEST_CASE("PeerConnection: an entity's sub-queue of failed transfers is there, and empty") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "one")});
    LinkLog& link = front.receive("r", "orders/$transfer/$deadletterqueue");
    CHECK(link.opened);
    link.receiver->add_credit(1);
    front.run();
    CHECK(link.messages.empty());
    CHECK(link.why.name.empty());
    CHECK(front.receive("x", "nothing/$Transfer/$DeadLetterQueue").why.name == "amqp:not-found");
    // It has no sessions, also that of an entity that has some.
    LinkLog& by_session =
        front.receive("s", Front::by_session("orders/$Transfer/$DeadLetterQueue", {}));
    CHECK(by_session.why.name == "amqp:not-allowed");
}

TEST_CASE("PeerConnection: a message above the receiver's limit ends its link and counts") {
    Front front;
    front.enter();
    front.make_queue("small", {.requires_session = true, .max_delivery_count = 2});
    front.put("small", {message("a", std::string(1500, 'x').c_str()), message("a", "fits")});
    amqp::Attach attach = Front::by_session("small", "a");
    attach.max_message_size = 1000;
    for (const char* name : {"one", "two"}) {
        LinkLog& link = front.receive(name, attach);
        link.receiver->add_credit(5);
        front.run();
        CHECK(link.messages.empty());
        CHECK(link.why.name == "amqp:link:message-size-exceeded");
        CHECK(link.why.text.find("takes at most 1000") != std::string::npos);
    }
    CHECK(front.counts("small/$DeadLetterQueue").active == 1);
    LinkLog& third = front.receive("three", attach);
    third.receiver->add_credit(5);
    front.run();
    REQUIRE(third.messages.size() == 1);
    CHECK(body_of(third.messages[0], front.reading()) == "fits");
}

TEST_CASE("PeerConnection: a batch has a limit of its own, which the link tells") {
    Front front;
    front.enter();
    constexpr std::size_t mega = std::size_t{1} << 20U;
    front.make_queue("large", {.max_message_bytes = 2 * mega});
    LinkLog& link = front.send("s", "large");
    CHECK(link.remote.max_message_size == 2 * mega);
    const auto properties = amqp::decode(link.remote.properties);
    REQUIRE(properties);
    const Value* const told = properties->find("com.microsoft:max-message-batch-size");
    REQUIRE(told != nullptr);
    CHECK(*told == Value{std::int64_t{mega}}); // .NET's client reads a long
    const auto encoded = [](std::size_t body) {
        return amqp::encode_message({.body = std::string(body, 'x'), .message_id = "m"}, {});
    };
    link.sender->send("1", encoded(mega), false);
    link.sender->send("2", amqp::make_batch({encoded(mega / 2), encoded(mega / 2)}), false,
                      amqp::batch_format);
    link.sender->send("3", amqp::make_batch({encoded(mega / 3), encoded(mega / 3)}), false,
                      amqp::batch_format);
    front.run();
    REQUIRE(link.outcomes.size() == 3);
    CHECK(link.outcomes[0].kind == OutcomeKind::accepted);
    CHECK(link.outcomes[1].error.name == "amqp:link:message-size-exceeded");
    CHECK(link.outcomes[2].kind == OutcomeKind::accepted);
}

TEST_CASE("PeerConnection: messages are refused as Azure Service Bus refuses them") {
    Front front;
    front.enter();
    LinkLog& link = front.send("s", "orders");
    const auto refusal = [&](const Message& message) {
        link.sender->send("1", amqp::encode_message(message, front.reading()), false);
        front.run();
        return link.outcomes.back().error.name;
    };
    Message binary = message("a", "1");
    binary.properties = {{"p", std::vector<std::byte>(3)}};
    CHECK(refusal(binary) == "amqp:link:message-size-exceeded");
    Message large = message("a", "1");
    large.properties = {{"p", std::string(33'000, 'x')}};
    CHECK(refusal(large) == "amqp:internal-error");
    large.properties = {{"p", std::string(30'000, 'x')},
                        {"q", std::string(30'000, 'x')},
                        {"r", std::string(9'000, 'x')}};
    CHECK(refusal(large) == "amqp:link:message-size-exceeded");
    Message elsewhere = message("a", "1");
    elsewhere.partition_key = "b";
    CHECK(refusal(elsewhere) == "amqp:not-allowed");
    CHECK(front.counts("orders").active == 0);
}

TEST_CASE("PeerConnection: offers JMS clients delayed delivery, and delays") {
    Front front;
    front.enter();
    const auto offered = amqp::decode(front.seen.peer->offered_capabilities);
    REQUIRE(offered.value().items() != nullptr);
    CHECK(offered->items()->at(0) == Value::symbol("DELAYED_DELIVERY"));
    LinkLog& link = front.send("s", "plain");
    const std::int64_t due =
        amqp::Timestamp::of(front.loop.wall_now() + std::chrono::seconds{10}).milliseconds;
    std::string delayed;
    amqp::Encoder encoder{delayed};
    encoder.write_descriptor(amqp::section::message_annotations);
    encoder.write(Value::map({{Value::symbol("x-opt-delivery-time"), due}}));
    link.sender->send("1", delayed + amqp::encode_message({.body = "late"}, front.reading()),
                      false);
    front.run();
    CHECK(front.counts("plain").active == 0);
    CHECK(front.counts("plain").scheduled == 1);
    front.pass(std::chrono::seconds{10});
    CHECK(front.counts("plain").active == 1);
}

TEST_CASE("PeerConnection: a message without an id gets one, the rest stays byte for byte") {
    Front front;
    front.enter();
    std::string encoded;
    amqp::Encoder encoder{encoded};
    encoder.write_descriptor(amqp::section::message_annotations);
    encoder.write(Value::map({{Value::symbol("x-stranger"), std::uint8_t{7}}}));
    encoder.write_descriptor(amqp::section::application_properties);
    encoder.write(
        Value::map({{"wide", amqp::Decimal{.code = 0x84, .bytes = std::string(8, '\1')}}}));
    encoder.write_descriptor(amqp::section::value);
    encoder.write(Value::list({1, "two"}));
    LinkLog& out = front.send("s", "plain");
    out.sender->send("1", encoded, false);
    LinkLog& in = front.receive("r", "plain");
    in.receiver->add_credit(1);
    front.run();
    REQUIRE(in.messages.size() == 1);
    const auto sent = amqp::MessageSections::find(encoded);
    const auto got = amqp::MessageSections::find(in.messages[0]);
    REQUIRE(got);
    CHECK(got->body == sent->body);
    CHECK(got->application_properties == sent->application_properties);
    CHECK_FALSE(got->header.empty());
    CHECK(amqp::decode(amqp::find_entry(got->message_annotations, "x-stranger")) ==
          Value{std::uint8_t{7}});
    CHECK(amqp::MessageProperties::read(got->properties)
              ->id(amqp::MessageProperties::message_id)
              .size() == 32);
}

TEST_CASE("PeerConnection: receive-and-delete delivers settled") {
    Front front;
    front.enter();
    front.put("plain", {{.body = "1"}});
    LinkLog& link =
        front.receive("r", amqp::Attach{.source = {.address = "plain"},
                                        .sender_mode = amqp::SenderSettleMode::settled});
    link.receiver->add_credit(1);
    front.run();
    CHECK(link.messages.size() == 1);
    CHECK(link.deliveries.empty());
    CHECK(front.counts("plain").active == 0);
}

TEST_CASE("PeerConnection: a lost connection releases its sessions uncounted and ends its waits") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "1")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    link.receiver->add_credit(1);
    front.receive("w", Front::by_session("orders", {}));
    front.stream->hang_up();
    front.run();
    CHECK(front.ended == 1);
    CHECK(front.counts("orders").waiting_accepts == 0);
    CHECK(front.counts("orders").active == 1);
    CHECK(front.broker.find("orders")
              .value()
              ->peek(1, 1, std::nullopt, front.now())
              .at(0)
              .delivery_count() == 0);
}

TEST_CASE("PeerConnection: a client that disappeared is closed after the idle time") {
    Front front{{.idle_time = seconds{60}}};
    front.enter();
    const auto stay_quiet = [&](Duration length) {
        front.loop.advance(length);
        front.loop.run_until_idle();
    };
    stay_quiet(seconds{50});
    front.client.heartbeat();
    front.run();
    stay_quiet(seconds{50});
    CHECK(front.ended == 0);
    stay_quiet(seconds{12});
    stay_quiet(seconds{6}); // it had time to answer
    CHECK(front.ended == 1);
}

TEST_CASE("PeerConnection: a link of the same name replaces the older one") {
    Front front;
    front.enter();
    LinkLog& first = front.receive("same", Front::by_session("orders", "a"));
    auto second_session = front.client.begin_session();
    front.run();
    std::swap(front.session, second_session);
    LinkLog& second = front.receive("same", Front::by_session("orders", "b"));
    CHECK(first.why.name == "amqp:link:stolen");
    CHECK(granted_session(second) == "b");
    front.links.clear();
    second_session.reset();
}

TEST_CASE(
    "PeerConnection: nothing can be used without a claim, and the connection is closed in time") {
    Front front{{}, amqp::SaslCredentials::Mechanism::anonymous};
    front.enter();
    CHECK(front.receive("r", Front::by_session("orders", {})).why.name ==
          "amqp:unauthorized-access");
    CHECK(front.send("s", "orders").why.name == "amqp:unauthorized-access");
    CHECK(front.send("m", "orders/$management").why.name == "amqp:unauthorized-access");
    front.pass(seconds{19});
    CHECK(front.seen.closed == 0);
    front.pass(seconds{2});
    CHECK(front.seen.closed == 1);
    CHECK(front.seen.why.name == "amqp:unauthorized-access");
}

TEST_CASE(
    "PeerConnection: a claim grants rights until it expires; then the links that need it end") {
    Front front{{}, amqp::SaslCredentials::Mechanism::anonymous};
    front.context.access.verifier = [](std::string_view token, std::string_view, WallTime now) {
        return token == "good" ? std::optional{now + seconds{60}} : std::nullopt;
    };
    front.enter();
    LinkLog& answers = front.receive("answers", "$cbs");
    answers.receiver->add_credit(10);
    LinkLog& requests = front.send("requests", "$cbs");
    const auto put = [&](const char* token, const Value& id) {
        requests.sender->send("1",
                              Front::request(id, "answers",
                                             Value::map({{"operation", "put-token"},
                                                         {"name", "sb://host/orders"},
                                                         {"type", "jwt"}}),
                                             token),
                              true);
        front.pass(seconds{1}); // a wrong token is answered after a pause
        return Front::read_reply(answers.messages.back());
    };
    const core::Uuid id{};
    CHECK(put("bad", id).status == 401);
    const auto granted = put("good", id);
    CHECK(granted.status == 202);
    CHECK(granted.correlation == Value{id});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    CHECK(link.opened);
    CHECK_FALSE(link.closed);
    CHECK(front.send("s", "plain").why.name == "amqp:unauthorized-access");
    front.pass(seconds{20});
    CHECK_FALSE(link.closed);
    CHECK(front.broker.find("orders").value()->counts(front.now()).sessions == 1);
    front.pass(seconds{9});
    CHECK(put("good", std::uint64_t{7}).correlation == Value{std::uint64_t{7}});
    CHECK(front.seen.closed == 0);
}

TEST_CASE(
    "PeerConnection: while quiescing it sends no messages, and is quiet once all are settled") {
    Front front;
    front.enter();
    front.put("orders", {message("a", "1"), message("a", "2")});
    LinkLog& link = front.receive("r", Front::by_session("orders", "a"));
    link.receiver->add_credit(1);
    front.run();
    CHECK_FALSE(front.connection->is_quiet());
    front.connection->quiesce();
    link.receiver->add_credit(1);
    front.run();
    CHECK(link.messages.size() == 1);
    link.deliveries.at(0).update({.kind = OutcomeKind::accepted});
    front.run();
    CHECK(front.connection->is_quiet());
}

TEST_CASE("PeerConnection: a large batch is decoded in turns, and what follows it waits") {
    Front front{{.decoded_at_once = 2}};
    front.enter();
    LinkLog& sender = front.send("sender", "plain");
    std::vector<std::string> messages;
    for (int i = 0; i < 5; ++i) {
        messages.push_back(amqp::encode_message({.body = "batch", .message_id = "m"}, {}));
    }
    const std::string single = amqp::encode_message({.body = "single"}, {});
    const auto send = [&](const std::string& tag, const std::string& bytes, bool is_batch,
                          bool settled = false) {
        sender.sender->send(tag, bytes, settled, is_batch ? amqp::batch_format : 0);
    };
    SUBCASE("the order is kept") {
        send("1", amqp::make_batch(messages), true);
        send("2", single, false);
        front.run();
        CHECK(front.counts("plain").active == 6);
        LinkLog& receiver = front.receive("receiver", "plain");
        receiver.receiver->add_credit(10);
        front.run();
        REQUIRE(receiver.messages.size() == 6);
        CHECK(receiver.messages[5].find("single") != std::string::npos);
    }
    SUBCASE("a message that is none refuses all") {
        messages[3] = "x";
        send("1", amqp::make_batch(messages), true);
        send("2", single, false);
        front.run();
        CHECK(front.counts("plain").active == 1);
        CHECK(sender.outcomes.at(0).kind == amqp::OutcomeKind::rejected);
    }
    SUBCASE("the link goes right behind it: what was sent counts") {
        send("1", amqp::make_batch(messages), true, true);
        sender.sender->close();
        front.run();
        CHECK(front.counts("plain").active == 5);
    }
    SUBCASE("the connection is lost meanwhile: nothing is left") {
        send("1", amqp::make_batch(messages), true);
        std::string bytes;
        front.client.take(bytes);
        front.stream->feed(bytes);
        front.stream->hang_up();
        front.connection->abort({.name = "amqp:connection:forced"});
        front.run();
        CHECK(front.ended == 1);
        CHECK(front.context.memory.all() == 0);
    }
    SUBCASE("a small one is decoded at once") {
        messages.resize(2);
        send("1", amqp::make_batch(messages), true);
        front.run();
        CHECK(front.counts("plain").active == 2);
    }
}

TEST_CASE("PeerConnection: a client that settles nothing gets no more, until it settles") {
    Front front{{.memory = {.connection = 100 << 10U}}}; // 100 messages
    front.enter();
    front.put("plain", std::vector<Message>(150, Message{.body = "b"}));
    LinkLog& log = front.receive("receiver", "plain");
    log.receiver->add_credit(200);
    front.run();
    CHECK(log.deliveries.size() >= 100);
    const std::size_t first = log.deliveries.size();
    CHECK(first < 150);
    CHECK(front.seen.closed == 0);
    SUBCASE("more come for those that are settled") {
        for (int i = 0; i < 70; ++i) {
            log.deliveries[static_cast<std::size_t>(i)].settle(
                {.kind = amqp::OutcomeKind::accepted});
        }
        front.run();
        CHECK(log.deliveries.size() == 150);
    }
    SUBCASE("a drain is answered, so that a client that waits for it settles") {
        CHECK(log.receiver->drain());
        front.run();
        CHECK(log.drained == 1);
        CHECK(log.deliveries.size() == first);
    }
    SUBCASE("a link that has none of them gets one at a time") {
        front.put("orders", std::vector<Message>(3, Message::of("b").in_session("a")));
        LinkLog& other = front.receive("other", Front::by_session("orders", "a"));
        other.receiver->add_credit(3);
        front.run();
        CHECK(other.deliveries.size() == 1);
        for (std::size_t i = 0; i < 2; ++i) {
            other.deliveries[i].settle({.kind = amqp::OutcomeKind::accepted});
            front.run();
            CHECK(other.deliveries.size() == i + 2);
        }
        CHECK(log.deliveries.size() == first);
    }
    SUBCASE("where a link with none of them is drained, one comes before the answer") {
        front.put("orders", std::vector<Message>(3, Message::of("b").in_session("a")));
        LinkLog& other = front.receive("other", Front::by_session("orders", "a"));
        other.receiver->add_credit(3);
        CHECK(other.receiver->drain());
        front.run();
        CHECK(other.deliveries.size() == 1);
        CHECK(other.drained == 1);
    }
    SUBCASE("a link that goes takes its messages from the count") {
        log.receiver->close();
        front.run();
        front.put("plain", std::vector<Message>(50, Message{.body = "b"})); // those stay locked
        LinkLog& next = front.receive("next", "plain");
        next.receiver->add_credit(50);
        front.run();
        CHECK(next.deliveries.size() == 50);
    }
}

TEST_CASE("PeerConnection: a transaction coordinator is attached, and each transaction rejected") {
    Front front;
    front.enter();
    auto& log = *front.links.emplace_back(std::make_unique<LinkLog>());
    log.sender = front.session->make_sender("controller");
    log.sender->set_listener(&log);
    log.sender->open({.target = {.coordinator = true}});
    front.run();
    REQUIRE(log.opened);
    CHECK(log.remote.target.coordinator);
    const std::string declare = amqp::encode(Value::described(
        amqp::section::value, Value::described(std::uint64_t{0x31}, amqp::List{})));
    for (int i = 0; i < 25; ++i) {
        log.sender->send(std::to_string(i), declare, false);
        front.run();
    }
    REQUIRE(log.outcomes.size() == 25);
    CHECK(log.outcomes.back().kind == OutcomeKind::rejected);
    CHECK(log.outcomes.back().error.name == "amqp:not-implemented");
    CHECK_FALSE(log.closed);
}

// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

constexpr EntitySpec plain{.requires_session = false};

std::vector<Message> texts(std::initializer_list<std::string_view> bodies) {
    std::vector<Message> messages;
    for (const std::string_view body : bodies) {
        messages.push_back({.body = std::string{body}});
    }
    return messages;
}

} // namespace

PORT_CASE("entity link: receives messages without a session, and completes them") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    t.send(texts({"1", "2"}));
    auto link = t.hold_all(t.entity);
    CHECK(link->link().session_id().empty());
    CHECK_FALSE(link->link().initial_lock().length);
    t.receive(*link, 2);
    CHECK(link->text() == "1 2");
    CHECK_FALSE(link->got[0]->message.content().session_id);
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::complete));
    t.close(*link);
    link = t.hold_all(t.entity);
    t.receive(*link, 1);
    CHECK(link->text() == "2");
}

PORT_CASE("entity link: an entity of the wrong kind fails early and says what to use") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    NEEDS(t, refuse_sessionless);
    const std::string with_sessions = t.fixture.create_entity({});
    const auto opened = t.open(with_sessions);
    REQUIRE(opened.failure() == Errc::session_required);
    auto answer = opened;
    CHECK(answer.result().failure().detail ==
          "'" + with_sessions + "' requires sessions; use a SessionReceiver");
    auto accepted = t.accept(std::nullopt);
    REQUIRE(accepted.failure() == Errc::session_required);
    CHECK(accepted.result().failure().detail ==
          "'" + t.entity + "' has no sessions; use a Receiver");
}

PORT_CASE("entity link: an unknown entity fails") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    NEEDS(t, refuse_sessionless); // other brokers create it
    CHECK(t.open("nothing").failure() == Errc::entity_not_found);
}

PORT_CASE("entity link: several share the messages") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    const auto one = t.hold_all(t.entity);
    const auto other = t.hold_all(t.entity);
    one->credit(2);
    other->credit(2);
    t.fixture.quiet();
    t.send(texts({"1", "2", "3", "4"}));
    CHECK(t.fixture.eventually([&] { return one->got.size() + other->got.size() == 4; }));
    CHECK(one->got.size() == 2);
    CHECK(other->got.size() == 2);
}

PORT_CASE("entity link: an abandoned message returns counted, a released one uncounted") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    t.send(texts({"1"}));
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 1);
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::release));
    t.receive(*link, 1);
    CHECK(link->got[1]->message.delivery_count() == 0);
    CHECK_FALSE(t.settle(*link, *link->got[1], Outcome::abandon));
    t.receive(*link, 1);
    CHECK(link->text() == "1 1 1");
    CHECK(link->got[2]->message.delivery_count() == 1);
}

PORT_CASE("entity link: close returns unsettled messages at once, uncounted") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    t.send(texts({"1", "2", "3"}));
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 3);
    link->settle(*link->got[1], Outcome::complete);
    t.close(*link);
    CHECK(link->settled.size() == 1); // a broker may end the link before its answer
    const auto next = t.hold_all(t.entity);
    t.receive(*next, 2);
    CHECK(next->text() == "1 3");
    CHECK(next->got[0]->message.delivery_count() == 0);
    next->credit(1);
    t.fixture.quiet();
    CHECK(next->got.size() == 2);
}

PORT_CASE("entity link: so does destroying it") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    t.send(texts({"1", "2"}));
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 2);
    link->destroy();
    const auto next = t.hold_all(t.entity);
    t.receive(*next, 2);
    CHECK(next->text() == "1 2");
    CHECK(next->got[0]->message.delivery_count() == 0);
}

PORT_CASE("entity link: a drain shows that there are no more") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    t.send(texts({"1"}));
    const auto link = t.hold_all(t.entity);
    link->credit(5);
    t.drain(*link);
    CHECK(link->text() == "1");
    t.send(texts({"2"}));
    t.fixture.quiet();
    CHECK(link->text() == "1");
}

PORT_CASE("entity link: receive and delete needs no settlement") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    NEEDS(t, receive_and_delete);
    t.send(texts({"1"}));
    const auto link = t.hold_all(t.entity, ports::ReceiveMode::receive_and_delete);
    t.receive(*link, 1);
    CHECK(link->got[0]->settled_by_sender);
    CHECK_FALSE(link->got[0]->lock);
    t.close(*link);
    const auto next = t.hold_all(t.entity);
    next->credit(1);
    t.fixture.quiet();
    CHECK(next->got.empty());
}

PORT_CASE("entity link: dead letters of an entity with sessions are received and completed") {
    PortCase t{port};
    NEEDS(t, plain_entities);
    NEEDS(t, dead_letter_sub_queue);
    t.send("a", {"1", "2"});
    const auto session = t.hold("a");
    t.receive(*session, 2);
    for (const auto& each : session->got) {
        CHECK_FALSE(t.settle(*session, *each,
                             {.outcome = Outcome::dead_letter, .dead_letter = {.reason = "why"}}));
    }
    const auto link = t.hold_all(t.fixture.dead_letters_of(t.entity));
    t.receive(*link, 2);
    CHECK(link->text() == "1 2");
    CHECK(link->got[0]->message.content().session_id == "a");
    REQUIRE(link->got[0]->message.facts().dead_letter);
    CHECK(link->got[0]->message.facts().dead_letter->reason == "why");
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::complete));
    CHECK_FALSE(t.settle(*link, *link->got[1], Outcome::abandon));
    CHECK(t.peek(t.fixture.dead_letters_of(t.entity)).size() == 1);
}

PORT_CASE("entity link: a deferred message is received by its number, locked on its own") {
    PortCase t{port, plain};
    NEEDS(t, plain_entities);
    NEEDS(t, defer);
    t.send(texts({"1", "2"}));
    const auto link = t.hold_all(t.entity);
    t.receive(*link, 1);
    const std::int64_t number = link->got[0]->message.sequence_number();
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::defer));
    t.receive(*link, 1);
    CHECK(link->text() == "1 2");
    using Deliveries = std::vector<ports::DeliveryPtr>;
    auto received = t.finish<Deliveries>(
        [&](auto handler) { link->link().receive_deferred({number}, {}, std::move(handler)); });
    REQUIRE_FALSE(received.failure());
    const Deliveries deferred = std::move(received.result()).value();
    REQUIRE(deferred.size() == 1);
    CHECK(deferred.front()->message.text() == "1");
    CHECK(deferred.front()->lock.has_value() == t.has(ports::Capability::message_lock_renewal));
    CHECK_FALSE(t.settle(*link, *deferred.front(), Outcome::complete));
    const auto again = t.finish<Deliveries>(
        [&](auto handler) { link->link().receive_deferred({number}, {}, std::move(handler)); });
    CHECK(again.failure() == Errc::message_not_found);
}

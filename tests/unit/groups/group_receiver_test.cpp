// SPDX-License-Identifier: MIT
#include "unit/groups/support/groups_world.hpp"

using namespace sessionq;
using namespace sessionq::test::groups_world;

TEST_CASE("group receiver: a link whose groups were idle for a second is given up, and attached "
          "again for an accept that waits") {
    World world;
    world.accept();
    test::RecordingLink& session = world.handle("a", "1", false);
    world.accept();
    world.leave(session);
    CHECK(world.broker.attached == 1);
    world.loop.advance(1s);
    CHECK(world.until([&] { return world.broker.attached == 2; }));
    CHECK(world.broker.detached == 1);
    CHECK(world.handle("b", "2", false).text() == "2");
}

TEST_CASE("group receiver: an idle link is kept if the queue marks the first message of a group, "
          "because its return could rebalance all groups") {
    World world;
    world.accept();
    for (int i = 0; i < 5; ++i) { // what the client said before has come when it has answered
        test::RecordingLink& session = world.handle("a", std::to_string(i), i == 0);
        world.accept();
        world.leave(session);
        world.loop.advance(3s);
    }
    CHECK(world.broker.accepted == 5);
    CHECK(world.broker.attached == 1);
    CHECK(world.broker.detached == 0);
}

TEST_CASE("group receiver: an unused link is given up, whatever the queue marks") {
    World world;
    world.accept();
    world.leave(world.handle("a", "1", true));
    CHECK(world.until([&] { return world.broker.detached == 1; }));
    CHECK(world.broker.accepted == 1);
}

TEST_CASE("group receiver: a session is lost when its group is dealt anew while no message is in "
          "hand, and the message opens the next session") {
    World world;
    world.accept();
    test::RecordingLink& first = world.handle("a", "1", true);
    world.accept();
    CHECK(world.handle("a", "2", true).text() == "2");
    CHECK(first.lost == Errc::lock_lost);
    CHECK(first.text() == "1");
}

TEST_CASE("group receiver: R6: an abandoned message is answered once it is back at the broker, and "
          "comes again before those behind it") {
    World world;
    world.broker.give("a", "1", false);
    world.broker.give("a", "2", false);
    world.accept();
    test::RecordingLink& session = world.session_with(2);
    session.settle(*session.got[1], ports::Outcome::release);
    session.settle(*session.got[0], ports::Outcome::abandon);
    REQUIRE(world.until([&] { return session.got.size() == 4; }));
    CHECK(session.text() == "1 2 1 2");
    CHECK(session.settled.size() == 2);
    CHECK_FALSE(session.settled[0].failed_with);
    CHECK_FALSE(session.settled[1].failed_with);
    CHECK(world.broker.failed == 1);
    for (const std::size_t i : {2U, 3U}) {
        session.settle(*session.got[i], ports::Outcome::complete);
    }
    REQUIRE(world.until([&] { return world.broker.accepted == 2; }));
    world.leave(session);
}

TEST_CASE("group receiver: an accept ends without a session after its wait, at once if it does not "
          "wait, and with a timeout at its deadline") {
    World world;
    world.accept({.entity = "queue"});
    REQUIRE(world.until([&] { return world.refused.size() == 1; }));
    CHECK(world.refused.back() == Errc::no_session_available);
    world.accept({.entity = "queue", .wait = 2s});
    world.accept(
        {.entity = "queue", .wait = 24h, .deadline = Deadline::after(1s, world.loop.now())});
    REQUIRE(world.until([&] { return world.broker.attached == 2; }));
    world.loop.advance(1s);
    REQUIRE(world.until([&] { return world.refused.size() == 2; }));
    CHECK(world.refused.back() == Errc::timeout);
    world.loop.advance(1s);
    REQUIRE(world.until([&] { return world.refused.size() == 3; }));
    CHECK(world.refused.back() == Errc::no_session_available);
    CHECK(world.until([&] { return world.broker.detached == 2; })); // nobody needs the link
    world.accept({.entity = "queue", .deadline = Deadline::after(0s, world.loop.now())});
    REQUIRE(world.until([&] { return world.refused.size() == 4; }));
    CHECK(world.refused.back() == Errc::timeout);
}

TEST_CASE(
    "group receiver: R19: an accept that is given up is cancelled, and the link goes; the next "
    "accept gets what came meanwhile") {
    World world;
    const ports::RequestId id = world.accept();
    REQUIRE(world.until([&] { return world.broker.attached == 1; }));
    world.endpoint->give_up(id);
    REQUIRE(world.until([&] { return world.refused.size() == 1; }));
    CHECK(world.refused.back() == Errc::cancelled);
    REQUIRE(world.until([&] { return world.broker.detached == 1; }));
    world.broker.give("a", "1", false);
    world.accept();
    CHECK(world.session_with(1).text() == "1");
}

TEST_CASE("group receiver: a session by name: credit is the session's own, and one client holds it "
          "once") {
    World world;
    const ports::AcceptRequest named{.entity = "queue", .session_id = "a", .wait = 24h};
    world.accept(named); // the dialect is learned from the broker
    REQUIRE(world.until([&] { return world.sessions.size() + world.refused.size() == 1; }));
    if (!world.refused.empty()) {
        CHECK(world.refused.back() == Errc::not_supported); // until the broker is known
        world.refused.clear();
        world.accept({.entity = "queue"});
        REQUIRE(world.until([&] { return world.refused.size() == 1; }));
        world.refused.clear();
        world.accept(named);
        REQUIRE(world.until([&] { return world.sessions.size() == 1; }));
    }
    for (int i = 0; i < 12; ++i) {
        world.broker.give("a", std::to_string(i), false);
    }
    test::RecordingLink& session = world.session_with(10); // its credit
    world.accept(named);
    REQUIRE(world.until([&] { return world.refused.size() == 1; }));
    CHECK(world.refused.back() == Errc::session_locked_elsewhere);
    session.credit(10);
    REQUIRE(world.until([&] { return session.got.size() == 12; }));
    session.drain();
    REQUIRE(world.until([&] { return session.drained == 1; }));
    for (const auto& each : session.got) {
        session.settle(*each, ports::Outcome::complete);
    }
    REQUIRE(world.until([&] { return world.broker.accepted == 12; }));
    world.leave(session);
    world.accept(named);
    REQUIRE(world.until([&] { return world.sessions.size() == 2; }));
}

TEST_CASE("group receiver: where the broker answers outcomes, a close waits for the answers") {
    World world{"Apache Qpid Broker-J"};
    world.broker.answers = false;
    world.broker.give("a", "1", false);
    world.accept();
    test::RecordingLink& session = world.session_with(1);
    session.settle(*session.got.front(), ports::Outcome::complete);
    REQUIRE(world.until([&] { return world.broker.accepted == 1; }));
    session.close();
    world.loop.run_until_idle();
    CHECK(session.settled.empty());
    CHECK_FALSE(session.closed);
    world.broker.cut();
    REQUIRE(world.until([&] { return session.closed; }));
    REQUIRE(session.settled.size() == 1);
    CHECK(session.settled.front().failed_with == Errc::connection_lost);
}

TEST_CASE(
    "group receiver: where the broker answers outcomes, they are answered in order, and a loss "
    "answers the rest before it") {
    World world{"Apache Qpid Broker-J"};
    for (int i = 0; i < 3; ++i) {
        world.broker.give("a", std::to_string(i), false);
    }
    world.accept();
    test::RecordingLink& session = world.session_with(3);
    session.settle(*session.got[0], ports::Outcome::complete);
    REQUIRE(world.until([&] { return session.settled.size() == 1; }));
    CHECK_FALSE(session.settled.front().failed_with);
    world.broker.answers = false;
    session.settle(*session.got[2], ports::Outcome::complete);
    session.settle(*session.got[1], ports::Outcome::abandon);
    REQUIRE(world.until([&] { return world.broker.accepted == 2; }));
    world.broker.cut();
    REQUIRE(world.until([&] { return session.lost.has_value(); }));
    REQUIRE(session.settled.size() == 3);
    for (const auto& each : session.settled) {
        if (each.delivery == session.got[2].get()) {
            CHECK(each.failed_with == Errc::connection_lost);
        }
    }
}

TEST_CASE(
    "group receiver: messages that the broker removes as it delivers them need no settlement") {
    World world;
    world.broker.give("a", "1", false);
    world.accept({.entity = "queue", .mode = ports::ReceiveMode::receive_and_delete, .wait = 24h});
    test::RecordingLink& session = world.session_with(1);
    CHECK(session.got.front()->settled_by_sender);
    REQUIRE(world.until([&] { return world.broker.accepted == 1; }));
    world.leave(session);
}

TEST_CASE("group receiver: R15: the endpoint's end cancels accepts that wait, also those that its "
          "answers ask for; sessions may outlive it") {
    World world;
    world.accept();
    test::RecordingLink& session = world.handle("a", "1", false);
    world.accept();
    world.accept({.entity = "other", .wait = 24h});
    REQUIRE(world.until([&] { return world.broker.attached == 2; }));
    groups::Endpoint& ending = *world.endpoint;
    bool again = true;
    world.on_refused = [&] {
        if (std::exchange(again, false)) {
            ending.accept({.entity = "queue", .wait = 24h}, [&](const auto& answer) {
                world.refused.push_back(answer.failure().code);
            });
        }
    };
    world.endpoint.reset();
    world.loop.run_until_idle();
    CHECK(world.refused == std::vector<Errc>(3, Errc::cancelled));
    session.close();
    world.loop.run_until_idle();
    CHECK(session.closed);
}

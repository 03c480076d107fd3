// SPDX-License-Identifier: MIT
#include "unit/groups/support/groups_world.hpp"

using namespace sessionq;
using namespace sessionq::test::groups_world;

namespace {

struct EntityWorld : World {
    using World::World;

    /// A link to the queue with credit for ten messages.
    test::RecordingLink& open(ports::ReceiveMode mode = ports::ReceiveMode::peek_lock) {
        const std::size_t before = sessions.size();
        accept({.entity = "queue", .scope = ports::Scope::entity, .mode = mode});
        REQUIRE(until([&] { return sessions.size() > before; }));
        return *sessions.back();
    }
    /// The same, with messages of several groups, and one without a group.
    test::RecordingLink& open_with(std::size_t messages) {
        for (std::size_t i = 0; i < messages; ++i) {
            broker.give(i == 0 ? "" : "g" + std::to_string(i), std::to_string(i), false);
        }
        test::RecordingLink& link = open();
        REQUIRE(until([&] { return link.got.size() == messages; }));
        return link;
    }
};

} // namespace

TEST_CASE("entity link: brings the messages of all groups, with numbers of its own") {
    EntityWorld world;
    test::RecordingLink& link = world.open_with(3);
    CHECK(link.link().session_id().empty());
    CHECK_FALSE(link.link().initial_lock().length);
    CHECK(link.link().message_locks() == nullptr);
    CHECK(link.link().share() != nullptr);
    CHECK(link.text() == "0 1 2");
    CHECK(link.got[1]->message.content().session_id == "g1");
    CHECK(link.got[2]->message.sequence_number() == 3);
    for (const auto& each : link.got) {
        link.settle(*each, ports::Outcome::complete);
    }
    REQUIRE(world.until([&] { return world.broker.accepted == 3 && link.settled.size() == 3; }));
    world.leave(link);
    CHECK(world.broker.detached == 1);
}

TEST_CASE("entity link: what goes back goes back at once, counted or not") {
    EntityWorld world;
    test::RecordingLink& link = world.open_with(2);
    link.settle(*link.got[1], ports::Outcome::release);
    REQUIRE(world.until([&] { return link.got.size() == 3; }));
    CHECK(world.broker.failed == 0);
    link.settle(*link.got[0], ports::Outcome::abandon);
    REQUIRE(world.until([&] { return link.got.size() == 4; }));
    CHECK(world.broker.failed == 1);
    CHECK(link.text() == "0 1 1 0");
    link.settle(*link.got[2], ports::Outcome::defer);
    REQUIRE(world.until([&] { return link.settled.size() == 3; }));
    CHECK(link.settled.back().failed_with == Errc::not_supported);
}

TEST_CASE(
    "entity link: a close drains before it detaches, and unsettled messages go back uncounted") {
    EntityWorld world;
    test::RecordingLink& link = world.open_with(3);
    link.settle(*link.got[0], ports::Outcome::complete);
    world.broker.answers_drains = false;
    link.close();
    REQUIRE(world.until([&] { return world.broker.accepted == 1; }));
    world.broker.give("late", "3", false); // on its way when the link is closed
    REQUIRE(world.until([&] { return world.broker.released == 1; }));
    CHECK(world.broker.detached == 0);
    world.broker.answers_drains = true;
    world.loop.advance(300ms); // the drain is repeated
    REQUIRE(world.until([&] { return link.closed; }));
    CHECK(world.broker.released >= 3);
    CHECK(world.broker.failed == 0);
    CHECK(world.broker.detached == 1);
    CHECK(link.got.size() == 3);
}

TEST_CASE("entity link: a broker that answers no drain loses the link, also one that is closed") {
    EntityWorld world;
    world.broker.answers_drains = false;
    test::RecordingLink& drained = world.open();
    drained.drain();
    test::RecordingLink& closed = world.open();
    closed.close();
    for (int i = 0; i < 40 && !(drained.lost && closed.closed); ++i) {
        world.loop.advance(300ms);
        static_cast<void>(world.until([] { return true; }));
    }
    CHECK(drained.lost == Errc::connection_lost);
    CHECK(closed.closed);
}

TEST_CASE("entity link: what a repeated drain brings beyond the credit goes back uncounted") {
    EntityWorld world;
    test::RecordingLink& link = world.open(); // with credit for ten
    world.broker.answers_drains = false;
    link.drain();
    world.loop.run_until_idle();
    world.loop.advance(300ms); // the drain is repeated, with one more
    for (int i = 0; i < 11; ++i) {
        world.broker.give("", std::to_string(i), false);
    }
    REQUIRE(world.until([&] { return link.got.size() == 10 && world.broker.released != 0; }));
    REQUIRE(world.until([&] { return link.drained == 1; }));
    CHECK(link.got.size() == 10);
    CHECK(world.broker.failed == 0);
}

TEST_CASE("entity link: where the broker answers outcomes, a close waits for the answers") {
    EntityWorld world{"Apache Qpid Broker-J"};
    test::RecordingLink& link = world.open_with(2);
    link.settle(*link.got[0], ports::Outcome::complete);
    REQUIRE(world.until([&] { return link.settled.size() == 1; }));
    link.settle(*link.got[1], ports::Outcome::dead_letter);
    REQUIRE(world.until([&] { return link.settled.size() == 2; }));
    CHECK(link.settled.back().failed_with == Errc::not_supported);
    world.broker.answers = false;
    link.settle(*link.got[1], ports::Outcome::complete);
    REQUIRE(world.until([&] { return world.broker.accepted == 2; }));
    link.close();
    world.loop.run_until_idle();
    CHECK_FALSE(link.closed);
    world.broker.cut();
    REQUIRE(world.until([&] { return link.closed; }));
    REQUIRE(link.settled.size() == 3);
    CHECK(link.settled.back().failed_with == Errc::connection_lost);
}

TEST_CASE("entity link: a lost link says so, and what it had comes again marked as redelivered") {
    EntityWorld world;
    test::RecordingLink& link = world.open_with(1);
    world.broker.cut();
    REQUIRE(world.until([&] { return link.lost.has_value(); }));
    CHECK(link.lost == Errc::connection_lost);
    link.settle(*link.got[0], ports::Outcome::complete);
    REQUIRE(world.until([&] { return link.settled.size() == 1; }));
    CHECK(link.settled.front().failed_with == Errc::lock_lost);
    world.broker.give("", "0", false);
    world.broker.give("", "another", false);
    world.loop.advance(1min); // the pause before the next connection
    test::RecordingLink& next = world.open();
    REQUIRE(world.until([&] { return next.got.size() == 2; }));
    CHECK(next.got[0]->message.facts().redelivered);
    CHECK(next.got[0]->message.delivery_count() == 1);
    CHECK_FALSE(next.got[1]->message.facts().redelivered);
}

TEST_CASE("entity link: messages that are removed as they come need no settlement") {
    EntityWorld world;
    world.broker.give("", "1", false);
    test::RecordingLink& link = world.open(ports::ReceiveMode::receive_and_delete);
    REQUIRE(world.until([&] { return link.got.size() == 1 && world.broker.accepted == 1; }));
    CHECK(link.got.front()->settled_by_sender);
    world.leave(link);
}

TEST_CASE("entity link: an accept ends at its deadline or when it is given up, and its link goes") {
    EntityWorld world;
    world.broker.opens_links = false;
    const auto asked = [&](Deadline deadline) {
        return world.accept(
            {.entity = "queue", .scope = ports::Scope::entity, .deadline = deadline});
    };
    asked(Deadline::after(1s, world.loop.now()));
    const ports::RequestId id = asked({});
    REQUIRE(world.until([&] { return world.broker.attached == 2; }));
    world.loop.advance(1s);
    REQUIRE(world.until([&] { return world.refused.size() == 1; }));
    CHECK(world.refused.back() == Errc::timeout);
    world.endpoint->give_up(id);
    REQUIRE(world.until([&] { return world.refused.size() == 2; }));
    CHECK(world.refused.back() == Errc::cancelled);
}

TEST_CASE("entity link: may outlive its endpoint, which tells it nothing") {
    EntityWorld world;
    test::RecordingLink& link = world.open_with(1);
    test::RecordingLink& other = world.open();
    world.endpoint.reset();
    world.loop.run_until_idle();
    CHECK_FALSE(link.lost);
    link.settle(*link.got[0], ports::Outcome::complete);
    world.loop.run_until_idle();
    REQUIRE(link.settled.size() == 1);
    CHECK(link.settled.front().failed_with == Errc::lock_lost);
    link.close();
    world.loop.run_until_idle();
    CHECK(link.closed);
    other.destroy();
}

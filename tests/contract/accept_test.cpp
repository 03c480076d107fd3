// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

struct TwoEntities : PortCase {
    using PortCase::PortCase;
    const std::vector<std::string> both{entity, fixture.create_entity({})};
};

} // namespace

PORT_CASE("accept: a named session is accepted even without messages") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto link = t.hold("a");
    CHECK(link->link().session_id() == "a");
}

PORT_CASE("accept: the empty session id is a valid id") {
    PortCase t{port};
    NEEDS(t, accept_named);
    t.send("", {"1"});
    const auto link = t.hold("");
    t.receive(*link, 1);
    CHECK(link->got[0]->message.content().session_id == "");
}

PORT_CASE("accept: a locked session is refused on every endpoint until it is closed") {
    PortCase t{port};
    NEEDS(t, accept_named);
    NEEDS(t, refuse_held);
    const auto other = t.fixture.make_endpoint();
    const auto link = t.hold("a");
    CHECK(t.accept("a").failure() == Errc::session_locked_elsewhere);
    const auto elsewhere = t.begin_accept("a", {}, other.get());
    CHECK(t.fixture.eventually([&] { return elsewhere.is_there(); }));
    CHECK(elsewhere.failure() == Errc::session_locked_elsewhere);
    t.close(*link);
    CHECK_FALSE(t.accept("a").failure());
}

PORT_CASE("accept: R29: ids that differ in case only are one session, unless the broker keeps them "
          "apart") {
    PortCase t{port};
    NEEDS(t, accept_named);
    t.send("Order-A", {"1"});
    t.send("order-a", {"2"});
    if (!t.has(ports::Capability::session_ids_without_case)) {
        const auto link = t.hold("order-a");
        t.receive(*link, 1);
        CHECK(link->text() == "2");
        const auto other = t.hold("Order-A");
        t.receive(*other, 1);
        CHECK(other->text() == "1");
        return;
    }
    const auto link = t.hold("ORDER-A");
    CHECK(link->link().session_id() == "ORDER-A");
    CHECK(t.accept("order-A").failure() == Errc::session_locked_elsewhere);
    t.receive(*link, 2);
    CHECK(link->text() == "1 2");
    CHECK(link->got[0]->message.session_id() == "Order-A");
    CHECK(link->got[1]->message.session_id() == "order-a");
    const auto state = [&](auto call) {
        return t.finish<std::optional<std::string>>(call).result().value();
    };
    CHECK_FALSE(t.finish<core::Done>([&](auto handler) {
                     link->link().set_state("half way", {}, std::move(handler));
                 }).failure());
    CHECK(state([&](auto handler) { link->link().get_state({}, std::move(handler)); }) ==
          "half way");
    CHECK_FALSE(t.finish<ports::LockGrant>([&](auto handler) {
                     link->link().renew_lock({}, std::move(handler));
                 }).failure());
    t.close(*link);
    const auto again = t.hold(std::nullopt);
    CHECK(again->link().session_id() == "Order-A"); // as it was named first
    CHECK(state([&](auto handler) { again->link().get_state({}, std::move(handler)); }) ==
          "half way");
}

PORT_CASE("accept: accept_next takes the session that has been ready longest") {
    PortCase t{port};
    NEEDS(t, accept_next);
    t.send("b", {"1"});
    t.send("a", {"2"});
    t.send("b", {"3"});
    const auto first = t.hold(std::nullopt);
    CHECK(first->link().session_id() == "b");
    const auto second = t.hold(std::nullopt);
    CHECK(second->link().session_id() == "a");
    CHECK(t.accept(std::nullopt).failure() == Errc::no_session_available);
}

PORT_CASE("accept: sessions that failed and were given back come after those that have waited") {
    PortCase t{port};
    NEEDS(t, accept_next);
    NEEDS(t, session_state); // the local broker's; other brokers have an order of their own
    std::vector<std::unique_ptr<RecordingLink>> failing;
    for (const std::string_view session : {"f1", "f2"}) {
        t.send(session, {"poison"});
        failing.push_back(t.hold(std::nullopt));
    }
    for (const std::string_view session : {"w1", "w2", "w3"}) {
        t.send(session, {"1"});
    }
    for (const auto& link : failing) {
        t.receive(*link, 1);
        t.settle(*link, *link->got[0], Outcome::abandon);
        t.close(*link);
    }
    std::vector<std::unique_ptr<RecordingLink>> links;
    std::string order;
    for (int i = 0; i < 5; ++i) {
        links.push_back(t.hold(std::nullopt));
        order += links.back()->link().session_id() + " ";
    }
    CHECK(order == "w1 w2 w3 f1 f2 ");
}

PORT_CASE("accept: accept_next without a wait reports that there is no session") {
    PortCase t{port};
    NEEDS(t, accept_next);
    CHECK(t.accept(std::nullopt).failure() == Errc::no_session_available);
}

PORT_CASE("accept: accept_next waits for a message") {
    PortCase t{port};
    NEEDS(t, accept_next);
    auto waiting = t.begin_accept(std::nullopt, 10s);
    t.fixture.quiet();
    CHECK_FALSE(waiting.is_there());
    t.send("a", {"1"});
    CHECK(t.fixture.eventually([&] { return waiting.is_there(); }));
    CHECK(t.link_of(waiting)->link().session_id() == "a");
}

PORT_CASE("accept: accept_next waits for a session to be released") {
    PortCase t{port};
    NEEDS(t, accept_next);
    t.send("a", {"1"});
    const auto holder = t.hold(std::nullopt);
    auto waiting = t.begin_accept(std::nullopt, 10s);
    t.fixture.quiet();
    CHECK_FALSE(waiting.is_there());
    t.close(*holder);
    CHECK(t.fixture.eventually([&] { return waiting.is_there(); }));
    CHECK(t.link_of(waiting)->link().session_id() == "a");
}

PORT_CASE("accept: a wait that times out reports no session and takes none later") {
    PortCase t{port};
    NEEDS(t, accept_next);
    const auto waiting = t.begin_accept(std::nullopt, 2s);
    t.fixture.pass(1s);
    CHECK_FALSE(waiting.is_there());
    t.fixture.pass(1100ms);
    CHECK(t.fixture.eventually([&] { return waiting.is_there(); }));
    CHECK(waiting.failure() == Errc::no_session_available);
    t.send("a", {"1"});
    CHECK_FALSE(t.accept(std::nullopt).failure());
}

PORT_CASE("accept: waiting accepts are served in order, one session each (DG5)") {
    PortCase t{port};
    NEEDS(t, accept_next);
    auto first = t.begin_accept(std::nullopt, 10s);
    auto second = t.begin_accept(std::nullopt, 10s);
    t.fixture.quiet();
    t.send("a", {"1"});
    CHECK(t.fixture.eventually([&] { return first.is_there(); }));
    t.fixture.quiet();
    CHECK_FALSE(second.is_there());
    t.send("b", {"2"});
    CHECK(t.fixture.eventually([&] { return second.is_there(); }));
    CHECK(t.link_of(second)->link().session_id() == "b");
}

PORT_CASE(
    "accept: a waiting accept with a higher priority is served first, on any endpoint (DG6)") {
    PortCase t{port};
    NEEDS(t, accept_next);
    NEEDS(t, session_state); // the local broker's; message groups have their own cases
    const auto other = t.fixture.make_endpoint();
    auto first = t.begin_accept(std::nullopt, 30s);
    t.fixture.quiet();
    auto preferred = t.begin_accept(std::nullopt, 30s, other.get(), 5);
    // An answer on the same connection shows that the broker has read it.
    auto named = t.begin_accept("z", 30s, other.get());
    CHECK(t.fixture.eventually([&] { return named.is_there(); }));
    t.send("a", {"1"});
    CHECK(t.fixture.eventually([&] { return preferred.is_there(); }));
    t.fixture.quiet();
    CHECK_FALSE(first.is_there());
    t.send("b", {"2"});
    CHECK(t.fixture.eventually([&] { return first.is_there(); }));
}

PORT_CASE("accept: only one of several endpoints gets the session") {
    PortCase t{port};
    NEEDS(t, accept_next);
    const auto other = t.fixture.make_endpoint();
    auto here = t.begin_accept(std::nullopt, 1s);
    auto there = t.begin_accept(std::nullopt, 1s, other.get());
    t.fixture.quiet();
    t.send("a", {"1"});
    t.fixture.pass(1100ms);
    CHECK(t.fixture.eventually([&] { return here.is_there() && there.is_there(); }));
    CHECK(here.failure().has_value() != there.failure().has_value());
}

PORT_CASE("accept: a cancelled accept fails with cancelled and takes no session later") {
    PortCase t{port};
    NEEDS(t, accept_next);
    auto waiting = t.begin_accept(std::nullopt, 10s);
    t.fixture.quiet();
    t.endpoint->give_up(t.last_accept);
    CHECK_FALSE(waiting.is_there());
    CHECK(t.fixture.eventually([&] { return waiting.is_there(); }));
    CHECK(waiting.failure() == Errc::cancelled);
    t.send("a", {"1"});
    CHECK_FALSE(t.accept(std::nullopt).failure());
}

PORT_CASE(
    "accept: a session that arrives with the cancellation can be closed and is free again (R19)") {
    PortCase t{port};
    NEEDS(t, accept_next);
    t.send("a", {"1"});
    auto crossing = t.begin_accept(std::nullopt);
    t.endpoint->give_up(t.last_accept);
    CHECK(t.fixture.eventually([&] { return crossing.is_there(); }));
    if (!crossing.failure()) {
        const auto late = t.link_of(crossing);
        t.close(*late);
    } else {
        CHECK(crossing.failure() == Errc::cancelled);
    }
    t.fixture.quiet();
    CHECK_FALSE(t.accept(std::nullopt).failure());
}

PORT_CASE("accept: an ask for several entities is answered by the first that has a session (DG9)") {
    PortCase t{port};
    NEEDS(t, accept_any_entity);
    const std::string a = t.entity;
    const std::string b = t.fixture.create_entity({});
    auto first = t.begin_accept_any({a, b}, 10s);
    auto second = t.begin_accept_any({a, b}, 10s);
    t.fixture.quiet();
    CHECK_FALSE(first.is_there());
    t.entity = b;
    t.send("of b", {"1"});
    CHECK(t.fixture.eventually([&] { return first.is_there(); }));
    t.fixture.quiet();
    CHECK_FALSE(second.is_there());
    const auto of_b = t.link_of(first);
    CHECK(of_b->link().session_id() == "of b");
    CHECK(of_b->link().entity_index() == 1);
    t.receive(*of_b, 1);
    t.entity = a;
    t.send("of a", {"1"});
    CHECK(t.fixture.eventually([&] { return second.is_there(); }));
    const auto of_a = t.link_of(second);
    CHECK(of_a->link().session_id() == "of a");
    CHECK(of_a->link().entity_index() == 0);
    t.receive(*of_a, 1);
}

PORT_CASE("accept: a cancelled ask for several entities leaves the sessions of all available") {
    TwoEntities t{port};
    NEEDS(t, accept_any_entity);
    auto waiting = t.begin_accept_any(t.both, 10s);
    t.fixture.quiet();
    t.endpoint->give_up(t.last_accept);
    CHECK(t.fixture.eventually([&] { return waiting.is_there(); }));
    CHECK(waiting.failure() == Errc::cancelled);
    for (const std::string& entity : t.both) {
        t.entity = entity;
        t.send("s", {"1"});
        CHECK_FALSE(t.accept(std::nullopt).failure());
    }
}

PORT_CASE("accept: an ask for several entities waits once, and fails if none has a session") {
    TwoEntities t{port};
    NEEDS(t, accept_any_entity);
    auto at_once = t.begin_accept_any(t.both);
    CHECK(t.fixture.eventually([&] { return at_once.is_there(); }));
    CHECK(at_once.failure() == Errc::no_session_available);
    auto waiting = t.begin_accept_any(t.both, 2s);
    t.fixture.pass(1900ms);
    CHECK_FALSE(waiting.is_there());
    t.fixture.pass(200ms);
    CHECK(waiting.failure() == Errc::no_session_available);
    t.send("a", {"1"});
    CHECK_FALSE(t.accept(std::nullopt).failure());
}

PORT_CASE("accept: entities that have sessions take turns to serve asks for several") {
    TwoEntities t{port};
    NEEDS(t, accept_any_entity);
    for (const std::string& entity : t.both) {
        t.entity = entity;
        for (const std::string_view session : {"1", "2", "3"}) {
            t.send(session, {"x"});
        }
    }
    std::vector<std::unique_ptr<RecordingLink>> links;
    std::string order;
    for (int i = 0; i < 6; ++i) {
        auto answer = t.begin_accept_any(t.both);
        CHECK(t.fixture.eventually([&] { return answer.is_there(); }));
        links.push_back(t.link_of(answer));
        order += std::to_string(links.back()->link().entity_index());
    }
    CHECK(order == "010101");
}

PORT_CASE("accept: an ask for several entities fails if one of them does not exist") {
    PortCase t{port};
    NEEDS(t, accept_any_entity);
    auto answer = t.begin_accept_any({t.entity, "no-such-entity"}, 10s);
    CHECK(t.fixture.eventually([&] { return answer.is_there(); }));
    CHECK(answer.failure() == Errc::entity_not_found);
    CHECK(answer.result().failure().detail.find("no-such-entity") != std::string::npos);
}

PORT_CASE("accept: a broker that cannot wait for several entities refuses to") {
    PortCase t{port};
    if (t.has(ports::Capability::accept_any_entity)) {
        return;
    }
    auto answer = t.begin_accept_any({t.entity, "another"}, 10s);
    CHECK(t.fixture.eventually([&] { return answer.is_there(); }));
    CHECK(answer.failure() == Errc::not_supported);
}

PORT_CASE("accept: cancelling an unknown or finished accept has no effect") {
    PortCase t{port};
    NEEDS(t, accept_named);
    const auto link = t.hold("a");
    t.endpoint->give_up(t.last_accept);
    t.endpoint->give_up(t.last_accept + 1000);
    t.send("a", {"1"});
    t.receive(*link, 1);
}

PORT_CASE("accept: the error for an unknown entity names it") {
    PortCase t{port};
    t.entity = "no-such-entity";
    const auto answer = t.accept(t.wanted("a"));
    CHECK(answer.failure() == Errc::entity_not_found);
}

PORT_CASE("accept: destroying the endpoint cancels accepts, and later sessions go to others") {
    PortCase t{port};
    NEEDS(t, accept_next);
    auto other = t.fixture.make_endpoint();
    const auto waiting = t.begin_accept(std::nullopt, 10s, other.get());
    t.fixture.quiet();
    other.reset();
    CHECK(waiting.failure() == Errc::cancelled);
    t.fixture.quiet(); // until the broker knows
    t.send("a", {"1"});
    CHECK_FALSE(t.accept(std::nullopt).failure());
}

PORT_CASE("accept: destroying the endpoint releases a session that was granted but not reported") {
    PortCase t{port};
    NEEDS(t, accept_named);
    auto other = t.fixture.make_endpoint();
    const auto untold = t.begin_accept("a", {}, other.get());
    other.reset();
    CHECK(untold.failure() == Errc::cancelled);
    t.fixture.quiet();
    CHECK_FALSE(t.accept("a").failure());
}

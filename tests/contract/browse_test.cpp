// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

using Messages = std::vector<ReceivedMessage>;

Answer<Messages> wait_for(PortCase& t, ports::PeekRequest request) {
    request.entity = t.entity;
    return t.begin<Messages>([&](auto handler) {
        t.last_accept = t.endpoint->peek(std::move(request), std::move(handler));
    });
}

} // namespace

PORT_CASE("DG8: peek: one that waits is answered with each message that comes, in order, and the "
          "consumer gets it as before") {
    PortCase t{port};
    NEEDS(t, peek);
    CHECK(t.peek(t.entity).empty()); // connected
    const auto link = t.hold("a");
    link->credit(10);
    std::int64_t from = 0;
    for (const char* text : {"1", "2"}) {
        const auto other = wait_for(t, {.session_id = "b", .wait = 10s});
        auto waiting = wait_for(t, {.from_sequence_number = from, .wait = 10s});
        t.fixture.quiet();
        CHECK_FALSE(waiting.is_there());
        t.send("a", {text});
        REQUIRE(t.fixture.eventually([&] { return waiting.is_there(); }));
        const Messages seen = waiting.result().value();
        CHECK(t.text_of(seen) == text);
        from = seen.front().sequence_number() + 1;
        t.fixture.quiet();
        CHECK_FALSE(other.is_there()); // of another session
    }
    REQUIRE(t.fixture.eventually([&] { return link->got.size() == 2; }));
    CHECK(link->text() == "1 2");
    for (const auto& delivery : link->got) {
        CHECK(delivery->message.delivery_count() == 0);
        CHECK_FALSE(delivery->message.facts().redelivered);
        CHECK_FALSE(t.settle(*link, *delivery, Outcome::complete));
    }
    CHECK(t.peek(t.entity).empty());
}

PORT_CASE(
    "DG8: peek: several that wait are all answered with one message, and an accept that waits "
    "gets its session") {
    PortCase t{port};
    NEEDS(t, peek);
    CHECK(t.peek(t.entity).empty());
    auto first = wait_for(t, {.wait = 10s});
    auto second = wait_for(t, {.session_id = "a", .wait = 10s});
    const auto accept = t.begin_accept(std::nullopt, 10s);
    t.fixture.quiet();
    t.send("a", {"1"});
    REQUIRE(t.fixture.eventually(
        [&] { return first.is_there() && second.is_there() && accept.is_there(); }));
    CHECK(t.text_of(first.result().value()) == "1");
    CHECK(t.text_of(second.result().value()) == "1");
    CHECK_FALSE(accept.failure());
}

PORT_CASE("peek: a wait ends with nothing when it is over, with timeout at the deadline, and with "
          "cancelled when it is given up") {
    PortCase t{port};
    NEEDS(t, peek);
    CHECK(t.peek(t.entity).empty());
    const auto in = [&](Duration length) {
        return Deadline::after(length, t.endpoint->loop().now());
    };
    auto over = wait_for(t, {.wait = 20ms});
    auto late = wait_for(t, {.wait = 10s, .deadline = in(20ms)});
    const auto given_up = wait_for(t, {.wait = 10s});
    t.fixture.quiet();
    t.endpoint->give_up(t.last_accept);
    t.fixture.pass(20ms + t.fixture.lag() / 100);
    REQUIRE(t.fixture.eventually(
        [&] { return over.is_there() && late.is_there() && given_up.is_there(); }));
    CHECK(over.result().value().empty());
    CHECK(late.failure() == Errc::timeout);
    CHECK(given_up.failure() == Errc::cancelled);
}

PORT_CASE("peek: a wait at an entity that is not there fails") {
    PortCase t{port};
    NEEDS(t, peek);
    t.entity = "no-such-entity";
    const auto waiting = wait_for(t, {.wait = 10s});
    REQUIRE(t.fixture.eventually([&] { return waiting.is_there(); }));
    CHECK(waiting.failure() == Errc::entity_not_found);
}

PORT_CASE("peek: one large message after another is shown on one connection") {
    PortCase t{port};
    NEEDS(t, peek);
    const std::size_t count = 8;
    for (std::size_t sent = 0; sent < count; ++sent) {
        t.send("a", {std::string(1'048'000, 'x')});
    }
    std::size_t seen = 0;
    std::int64_t from = 0;
    for (Messages page = t.peek(t.entity); !page.empty();
         page = t.peek(t.entity, std::nullopt, from)) {
        seen += page.size();
        from = page.back().sequence_number() + 1;
    }
    CHECK(seen == count);
}

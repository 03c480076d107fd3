// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

namespace {

using ports::DeletedMessages;

/// Deletes messages and checks the instant that the answer tells.
core::Result<DeletedMessages> remove(PortCase& t, ports::DeleteMessagesRequest request) {
    const auto before = request.enqueued_before;
    auto result = t.finish<DeletedMessages>([&](auto handler) {
                       t.endpoint->delete_messages(std::move(request), std::move(handler));
                   }).result();
    CHECK((!result || !before || result.value().enqueued_before == *before));
    return result;
}

std::uint32_t remove(PortCase& t, std::uint32_t max,
                     std::optional<std::string> session = std::nullopt) {
    return remove(t, {.entity = t.entity, .max_messages = max, .session_id = std::move(session)})
        .value()
        .count;
}

} // namespace

PORT_CASE("delete: the oldest messages go, also those that were just sent, and the count is told") {
    PortCase t{port};
    NEEDS(t, batch_delete);
    CHECK(remove(t, 10) == 0);
    t.send("a", {"1"});
    t.send("b", {"2"});
    t.send("a", {"3"});
    CHECK(remove(t, 2) == 2);
    CHECK(t.text_of(t.peek(t.entity)) == "3");
    CHECK(remove(t, 10) == 1);
    CHECK(remove(t, 10) == 0);
}

PORT_CASE("delete: of one session, or before an instant") {
    PortCase t{port};
    NEEDS(t, batch_delete);
    t.send("a", {"1"});
    t.send("b", {"2"});
    CHECK(remove(t, 10, "b") == 1);
    CHECK(remove(t, 10, "b") == 0);
    const WallTime sent = t.peek(t.entity).at(0).enqueued_time();
    const auto before = [&](WallTime instant) {
        return remove(t, {.entity = t.entity, .max_messages = 10, .enqueued_before = instant})
            .value()
            .count;
    };
    const WallTime millisecond = std::chrono::floor<std::chrono::milliseconds>(sent);
    CHECK(before(millisecond) == 0);
    CHECK(before(millisecond + 1ms) == 1);
}

PORT_CASE("delete: messages that a holder has received stay, also deferred ones") {
    PortCase t{port};
    NEEDS(t, batch_delete);
    t.send("a", {"1", "2", "3"});
    const auto link = t.hold("a");
    t.receive(*link, 2);
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::defer));
    CHECK(remove(t, 10) == 1);
    CHECK_FALSE(t.settle(*link, *link->got[1], Outcome::complete));
    CHECK(t.text_of(t.peek(t.entity)) == "1");
    t.send("a", {"4"}); // its holder goes on
    t.receive(*link, 1);
    CHECK(link->text() == "1 2 4");
}

PORT_CASE("delete: dead letters") {
    PortCase t{port};
    NEEDS(t, batch_delete);
    NEEDS(t, dead_letter_sub_queue);
    t.send("a", {"1"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::dead_letter));
    const std::string dead = t.fixture.dead_letters_of(t.entity);
    CHECK(remove(t, {.entity = dead, .max_messages = 10}).value().count == 1);
    CHECK(t.peek(dead).empty());
}

PORT_CASE("R20: delete: a request keeps its deadline and can be given up") {
    PortCase t{port};
    t.send("a", {"1"});
    const auto late = t.finish<DeletedMessages>([&](auto handler) {
        t.endpoint->delete_messages({.entity = t.entity,
                                     .max_messages = 10,
                                     .deadline = Deadline::at(t.endpoint->loop().now())},
                                    std::move(handler));
    });
    const bool can = t.has(ports::Capability::batch_delete);
    CHECK(late.failure() == (can ? Errc::timeout : Errc::not_supported));
    CHECK_FALSE(late.unknown());
    NEEDS(t, batch_delete);
    CHECK(t.peek(t.entity).size() == 1);
    const auto given_up = t.finish<DeletedMessages>([&](auto handler) {
        t.endpoint->give_up(t.endpoint->delete_messages({.entity = t.entity, .max_messages = 10},
                                                        std::move(handler)));
    });
    t.fixture.quiet();
    CHECK((!given_up.failure() || given_up.unknown() || t.peek(t.entity).size() == 1));
    CHECK(remove(t, {.entity = "nowhere", .max_messages = 1}).failure().code ==
          Errc::entity_not_found);
}

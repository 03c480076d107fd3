// SPDX-License-Identifier: MIT
#include "contract/port_case.hpp"

using namespace sessionq;
using namespace sessionq::test;

PORT_CASE("settle: complete removes the message") {
    PortCase t{port};
    t.send("a", {"1", "2"});
    auto link = t.hold("a");
    t.receive(*link, 2);
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::complete));
    t.close(*link);
    link = t.hold("a");
    t.receive(*link, 1);
    CHECK(link->text() == "2");
}

PORT_CASE("settle: an abandoned message returns before later ones, counted") {
    PortCase t{port};
    t.send("a", {"1", "2", "3"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::abandon));
    t.receive(*link, 2);
    CHECK(link->text() == "1 1 2");
    CHECK(link->got[1]->message.delivery_count() == 1);
    CHECK(link->got[1]->message.facts().redelivered);
    NEEDS(t, sequence_numbers);
    CHECK(link->got[1]->message.sequence_number() == link->got[0]->message.sequence_number());
}

PORT_CASE("settle: a released message returns to its position, uncounted") {
    PortCase t{port};
    t.send("a", {"1", "2", "3"});
    const auto link = t.hold("a");
    t.receive(*link, 2);
    CHECK_FALSE(t.settle(*link, *link->got[1], Outcome::release));
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::release));
    t.receive(*link, 3);
    CHECK(link->text() == "1 2 1 2 3");
    CHECK(link->got[2]->message.delivery_count() == 0);
}

PORT_CASE("settle: remaining credit serves an abandoned message") {
    PortCase t{port};
    t.send("a", {"1"});
    const auto link = t.hold("a");
    link->credit(2);
    CHECK(t.fixture.eventually([&] { return link->got.size() == 1; }));
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::abandon));
    CHECK(t.fixture.eventually([&] { return link->got.size() == 2; }));
    CHECK(link->text() == "1 1");
}

PORT_CASE("settle: each of many settlements is answered once") {
    PortCase t{port};
    std::vector<Message> messages(500, Message::of("x").in_session("a"));
    t.send(std::move(messages));
    const auto link = t.hold("a");
    t.receive(*link, 500);
    for (const auto& delivery : link->got) {
        link->settle(*delivery, Outcome::complete);
    }
    CHECK(link->settled.empty());
    CHECK(t.fixture.eventually([&] { return link->settled.size() == 500; }));
    t.fixture.quiet();
    CHECK(link->settled.size() == 500);
    CHECK(std::ranges::none_of(link->settled,
                               [](const auto& one) { return one.failed_with.has_value(); }));
    t.close(*link);
    CHECK(t.accept(std::nullopt).failure() == Errc::no_session_available);
}

PORT_CASE("settle: settlements take effect in the order of the calls") {
    PortCase t{port};
    t.send("a", {"1", "2", "3"});
    const auto link = t.hold("a");
    t.receive(*link, 3);
    link->settle(*link->got[2], Outcome::release);
    link->settle(*link->got[1], Outcome::complete);
    link->settle(*link->got[0], Outcome::release);
    CHECK(t.fixture.eventually([&] { return link->settled.size() == 3; }));
    t.receive(*link, 2);
    CHECK(link->text() == "1 2 3 1 3");
}

PORT_CASE("settle: a message is dead-lettered after its last delivery") {
    PortCase t{port, {.max_delivery_count = 2}};
    NEEDS(t, dead_letter);
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    for (std::size_t i = 0; i < 2; ++i) {
        t.receive(*link, 1);
        CHECK(link->got[i]->message.delivery_count() == i);
        CHECK_FALSE(t.settle(*link, *link->got[i], Outcome::abandon));
    }
    t.receive(*link, 1);
    CHECK(link->text() == "1 1 2");
    NEEDS(t, peek);
    const auto dead = t.peek(t.fixture.dead_letters_of(t.entity));
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].text() == "1");
    REQUIRE(dead[0].facts().dead_letter);
    CHECK(dead[0].facts().dead_letter->reason == "MaxDeliveryCountExceeded");
}

PORT_CASE("settle: dead-letter moves the message with reason and changed properties") {
    PortCase t{port};
    NEEDS(t, dead_letter);
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK_FALSE(t.settle(
        *link, *link->got[0],
        ports::Settlement{.outcome = Outcome::dead_letter,
                          .dead_letter = {.reason = "broken", .description = "no such order"},
                          .properties_to_modify = {{"seen", true}}}));
    t.receive(*link, 1);
    CHECK(link->text() == "1 2");
    NEEDS(t, dead_letter_reason);
    const auto dead = t.peek(t.fixture.dead_letters_of(t.entity));
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].facts().dead_letter->reason == "broken");
    CHECK(dead[0].facts().dead_letter->description == "no such order");
    CHECK(dead[0].properties().at("seen") == PropertyValue{true});
}

PORT_CASE("settle: abandon merges changed properties into the message's own") {
    PortCase t{port};
    NEEDS(t, modify_properties);
    Message sent = Message::of("1").in_session("a");
    sent.properties = {{"kept", true}, {"changed", false}};
    t.send({sent});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    CHECK_FALSE(t.settle(
        *link, *link->got[0],
        ports::Settlement{.outcome = Outcome::abandon,
                          .properties_to_modify = {{"changed", true}, {"new", std::string{"n"}}}}));
    t.receive(*link, 1);
    CHECK(link->got[1]->message.properties() ==
          Properties{{"changed", true}, {"kept", true}, {"new", std::string{"n"}}});
    CHECK(link->got[0]->message.properties() == sent.properties);
}

PORT_CASE("defer: a deferred message is received by number, and settled like others") {
    PortCase t{port};
    NEEDS(t, defer);
    t.send("a", {"1", "2"});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    const std::int64_t sequence = link->got[0]->message.sequence_number();
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::defer));
    t.receive(*link, 1);
    CHECK(link->text() == "1 2");
    using Deliveries = std::vector<ports::DeliveryPtr>;
    auto asked = t.finish<Deliveries>(
        [&](auto handler) { link->link().receive_deferred({sequence}, {}, std::move(handler)); });
    REQUIRE_FALSE(asked.failure());
    REQUIRE(asked.result().value().size() == 1);
    ports::Delivery& deferred = *asked.result().value()[0];
    CHECK(deferred.message.text() == "1");
    CHECK(deferred.message.sequence_number() == sequence);
    CHECK_FALSE(t.settle(*link, deferred, Outcome::complete));
    const auto again = t.finish<Deliveries>(
        [&](auto handler) { link->link().receive_deferred({sequence}, {}, std::move(handler)); });
    CHECK(again.failure() == Errc::message_not_found);
}

PORT_CASE("defer: a deferred message may be settled through another delivery; unsettled it stays") {
    PortCase t{port};
    NEEDS(t, defer);
    t.send("a", {"1", "2", "3"});
    auto link = t.hold("a");
    t.receive(*link, 2);
    const std::int64_t first = link->got[0]->message.sequence_number();
    const std::int64_t second = link->got[1]->message.sequence_number();
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::defer));
    CHECK_FALSE(t.settle(*link, *link->got[1], Outcome::defer));
    const auto ask = [&](std::vector<std::int64_t> numbers) {
        return t.finish<std::vector<ports::DeliveryPtr>>(
            [&](auto handler) { link->link().receive_deferred(numbers, {}, std::move(handler)); });
    };
    {
        ports::Delivery moved;
        {
            auto asked = ask({first, second});
            REQUIRE_FALSE(asked.failure());
            moved.port_tag = asked.result().value()[0]->port_tag;
        }
        CHECK_FALSE(t.settle(*link, moved, Outcome::complete));
    }
    t.close(*link);
    link = t.hold("a");
    CHECK(ask({first}).failure() == Errc::message_not_found);
    auto again = ask({second});
    REQUIRE_FALSE(again.failure());
    CHECK(again.result().value()[0]->message.text() == "2");
    CHECK(again.result().value()[0]->message.delivery_count() == 0);
}

PORT_CASE("defer: one missing number fails the whole call; a session with deferred messages only "
          "is not accepted") {
    PortCase t{port};
    NEEDS(t, defer);
    t.send("a", {"1", "2"});
    auto link = t.hold("a");
    t.receive(*link, 1);
    const std::int64_t first = link->got[0]->message.sequence_number();
    CHECK_FALSE(t.settle(*link, *link->got[0], Outcome::defer));
    using Deliveries = std::vector<ports::DeliveryPtr>;
    const auto missing = t.finish<Deliveries>([&](auto handler) {
        link->link().receive_deferred({first, first + 1}, {}, std::move(handler));
    });
    CHECK(missing.failure() == Errc::message_not_found);
    t.receive(*link, 1);
    CHECK_FALSE(t.settle(*link, *link->got[1], Outcome::complete));
    t.close(*link);
    CHECK(t.accept(std::nullopt).failure() == Errc::no_session_available);
    link = t.hold("a");
    auto asked = t.finish<Deliveries>(
        [&](auto handler) { link->link().receive_deferred({first}, {}, std::move(handler)); });
    CHECK_FALSE(asked.failure());
}

PORT_CASE("defer: many large messages in one call come, or are refused; then fewer come") {
    PortCase t{port};
    NEEDS(t, defer);
    const std::size_t count = 12;
    for (std::size_t sent = 0; sent < count; ++sent) {
        t.send("a", {std::string(1'000'000, 'x')});
    }
    const auto link = t.hold("a");
    t.receive(*link, count);
    std::vector<std::int64_t> numbers;
    for (const auto& each : link->got) {
        numbers.push_back(each->message.sequence_number());
        CHECK_FALSE(t.settle(*link, *each, Outcome::defer));
    }
    const auto ask = [&](const std::vector<std::int64_t>& wanted) {
        return t.finish<std::vector<ports::DeliveryPtr>>(
            [&](auto handler) { link->link().receive_deferred(wanted, {}, std::move(handler)); });
    };
    auto all = ask(numbers);
    if (all.failure()) {
        CHECK(all.failure() == Errc::message_too_large);
        CHECK(ask({numbers.front(), numbers.back()}).result().value().size() == 2);
    } else {
        CHECK(all.result().value().size() == count);
    }
    CHECK_FALSE(link->lost);
}

PORT_CASE("settle: changed properties and texts that exceed a frame change the message, and other "
          "sessions stay held") {
    PortCase t{port};
    NEEDS(t, modify_properties);
    t.send("a", {"1"});
    t.send("b", {"2"});
    const auto link = t.hold("a");
    const auto other = t.hold("b");
    t.receive(*link, 1);
    t.receive(*other, 1);
    const std::string large(70'000, 'x');
    CHECK_FALSE(t.settle(*link, *link->got[0],
                         ports::Settlement{.outcome = Outcome::abandon,
                                           .properties_to_modify = {{"large", large}}}));
    t.receive(*link, 1);
    CHECK(link->got[1]->message.delivery_count() == 1);
    CHECK(link->got[1]->message.properties().at("large") == PropertyValue{large});
    NEEDS(t, dead_letter_reason);
    CHECK_FALSE(
        t.settle(*link, *link->got[1],
                 ports::Settlement{.outcome = Outcome::dead_letter,
                                   .dead_letter = {.reason = "Broken", .description = large}}));
    const auto dead = t.peek(t.fixture.dead_letters_of(t.entity));
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].facts().dead_letter->reason == "Broken");
    CHECK(dead[0].facts().dead_letter->description == large);
    CHECK(dead[0].properties().at("large") == PropertyValue{large});
    CHECK_FALSE(t.settle(*other, *other->got[0], Outcome::complete));
}

PORT_CASE("settle: changed properties that make a message too large are refused, and it can be "
          "settled without") {
    PortCase t{port};
    NEEDS(t, modify_properties);
    t.send("a", {std::string((std::size_t{1} << 20U) - 20'000, 'x')});
    const auto link = t.hold("a");
    t.receive(*link, 1);
    const auto failed =
        t.settle(*link, *link->got[0],
                 ports::Settlement{.outcome = Outcome::abandon,
                                   .properties_to_modify = {{"large", std::string(30'000, 'x')}}});
    CHECK(failed == Errc::message_too_large);
    t.close(*link);
    const auto again = t.hold("a");
    t.receive(*again, 1);
    CHECK_FALSE(again->got[0]->message.properties().contains("large"));
    CHECK_FALSE(t.settle(*again, *again->got[0], Outcome::complete));
}

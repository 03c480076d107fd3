// SPDX-License-Identifier: MIT
#include <sessionq/sender.hpp>

#include <doctest/doctest.h>

#include <sessionq/browser.hpp>
#include <sessionq/session_processor.hpp>

#include "support/code_of.hpp"
#include "unit/client/orders_fixture.hpp"

namespace sessionq::inline v1 {

TEST_CASE("sender: a message in braces is one message") {
    test::OrdersFixture f;
    f.sender.send({.body = "placed", .session_id = "ada"});
    CHECK(test::code_of([&] { f.sender.send({}); }) == Errc::session_required);
    const auto sent = Browser{f.client, "orders"}.peek(10);
    REQUIRE(sent.size() == 1);
    CHECK(sent.front().text() == "placed");
}

TEST_CASE("sender: messages that are sent by reference stay as they are, and can be sent again") {
    test::OrdersFixture f;
    const std::vector<Message> messages{Message::of("1").in_session("ada"),
                                        Message::of("2").in_session("ada")};
    f.sender.send_all(messages);
    f.sender.send_all(messages);
    f.sender.send_all({Message::of("3").in_session("ada")});
    CHECK(messages.front().body == "1");
    CHECK(f.broker.counts("orders").active == 5);
}

TEST_CASE("sender: a stop in braces is a stop with the defaults") {
    test::OrdersFixture f;
    SessionProcessor processor{f.client, "orders"};
    CHECK(processor.stop({}).complete);
    CHECK(processor.stop({.timeout = std::chrono::seconds{1}}).complete);
    CHECK(processor.stop(std::chrono::seconds{1}).complete);
}

} // namespace sessionq::inline v1

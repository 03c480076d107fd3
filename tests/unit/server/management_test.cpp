// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "managed.hpp"

using namespace sessionq;
using namespace sessionq::test;
using amqp::Value;

TEST_CASE(
    "Management: an unknown operation and an incomplete body give different errors with a text") {
    Managed front;
    CHECK(front.ask("make-coffee", amqp::Map{}).status == 501);
    const auto lacking = front.ask("peek-message", amqp::Map{});
    CHECK(lacking.status == 400);
    CHECK(lacking.condition == "com.microsoft:argument-error");
}

TEST_CASE(
    "Management: an answer goes by target address, by link name, or to the session's newest link") {
    Managed front;
    LinkLog& named = front.receive("by-name", "orders/$management");
    named.receiver->add_credit(10);
    LinkLog& addressed =
        front.receive("third", amqp::Attach{.source = {.address = "orders/$management"},
                                            .target = {.address = "by-address"}});
    addressed.receiver->add_credit(10);
    const auto ask = [&](const Value& reply_to) {
        front.requests->sender->send(
            "1", Front::request("id", reply_to, Value::map({{"operation", "x"}}), amqp::Map{}),
            true);
        front.run();
    };
    ask("by-address");
    CHECK(addressed.messages.size() == 1);
    ask("by-name");
    CHECK(named.messages.size() == 1);
    ask({});
    CHECK(addressed.messages.size() == 2);
}

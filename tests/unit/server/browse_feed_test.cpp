// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "front.hpp"

using namespace sessionq;
using namespace sessionq::test;
using std::chrono::seconds;

namespace {

amqp::Attach browser(const std::string& address) {
    return {.source = {.address = address, .copies = true}, .target = {.address = "me"}};
}

std::vector<std::string> bodies(Front& front, const LinkLog& link) {
    std::vector<std::string> all;
    for (const std::string& encoded : link.messages) {
        all.emplace_back(amqp::decode_delivery(encoded, front.reading()).value().content->body());
    }
    return all;
}

using Bodies = std::vector<std::string>;

} // namespace

TEST_CASE("BrowseFeed: shows every message in order, consumes none and holds none back") {
    Front front;
    front.enter();
    front.put("plain", {{.body = "1"}, {.body = "2"}, {.body = "3"}});
    LinkLog& link = front.receive("b", browser("plain"));
    CHECK(link.opened);
    CHECK(link.remote.source.copies);
    CHECK(link.remote.sender_mode == amqp::SenderSettleMode::settled);
    link.receiver->add_credit(2);
    front.run();
    CHECK(bodies(front, link) == Bodies{"1", "2"});
    CHECK(link.deliveries.empty()); // settled: no answer of the peer can consume them
    link.receiver->add_credit(10);
    front.run();
    CHECK(bodies(front, link) == Bodies{"1", "2", "3"});
    LinkLog& receiver = front.receive("r", "plain");
    receiver.receiver->add_credit(10);
    front.run();
    CHECK(bodies(front, receiver) == Bodies{"1", "2", "3"});
    const auto seen = amqp::decode_delivery(link.messages[0], front.reading()).value();
    CHECK_FALSE(seen.lock_token);
    CHECK_FALSE(seen.locked_until);
}

TEST_CASE("BrowseFeed: shows what arrives later, and answers a drain at the end") {
    Front front;
    front.enter();
    LinkLog& link = front.receive("b", browser("plain"));
    link.receiver->add_credit(10);
    front.run();
    front.put("plain", {{.body = "1"}});
    front.put("plain", {{.body = "2"}});
    CHECK(bodies(front, link) == Bodies{"1", "2"});
    CHECK(front.counts("plain").waiting_browsers == 1);
    CHECK(link.receiver->drain());
    front.run();
    CHECK(link.drained == 1);
    CHECK(link.receiver->credit() == 0);
    CHECK(front.counts("plain").waiting_browsers == 0);
    front.put("plain", {{.body = "3"}});
    CHECK(link.messages.size() == 2); // no credit
    CHECK(front.counts("plain").active == 3);
}

TEST_CASE("BrowseFeed: leaves out scheduled messages until they are due") {
    Front front;
    front.enter();
    Message later{.body = "later"};
    later.scheduled_enqueue_time = front.loop.wall_now() + seconds{10};
    front.put("plain", {later, {.body = "now"}});
    LinkLog& link = front.receive("b", browser("plain"));
    link.receiver->add_credit(10);
    front.run();
    CHECK(bodies(front, link) == Bodies{"now"});
    front.pass(seconds{11});
    CHECK(bodies(front, link) == Bodies{"now", "later"});
}

TEST_CASE("BrowseFeed: an entity with sessions is browsed whole, or one session of it, locked or "
          "not") {
    Front front;
    front.enter();
    front.put("orders", {Message::of("1").in_session("a"), Message::of("2").in_session("b"),
                         Message::of("3").in_session("a")});
    front.receive("holder", Front::by_session("orders", "a"));
    LinkLog& all = front.receive("all", browser("orders"));
    amqp::Attach of_session = Front::by_session("orders", "a");
    of_session.source.copies = true;
    LinkLog& one = front.receive("one", of_session);
    all.receiver->add_credit(10);
    one.receiver->add_credit(10);
    front.run();
    CHECK(bodies(front, all) == Bodies{"1", "2", "3"});
    CHECK(bodies(front, one) == Bodies{"1", "3"});
    amqp::Attach of_next = Front::by_session("orders", {});
    of_next.source.copies = true;
    CHECK(front.receive("next", of_next).why.name == "amqp:not-implemented");
}

TEST_CASE("BrowseFeed: a long search goes on in turns, whatever the peer says meanwhile") {
    Front front;
    front.enter();
    std::vector<Message> messages(9000, Message{.body = "x"});
    messages.push_back(Message::of("found").in_session("s"));
    front.put("plain", std::move(messages));
    amqp::Attach attach = Front::by_session("plain", "s");
    attach.source.copies = true;
    LinkLog& link = front.receive("b", attach);
    link.receiver->add_credit(1);
    front.run();
    CHECK(bodies(front, link) == Bodies{"found"});
}

TEST_CASE("BrowseFeed: an entity that is deleted ends its browsers by name") {
    Front front;
    front.enter();
    LinkLog& link = front.receive("b", browser("plain"));
    link.receiver->add_credit(1);
    front.run();
    REQUIRE(front.broker.delete_entity("plain", front.now()).ok());
    front.run();
    CHECK(link.closed);
    CHECK(link.why.name == "amqp:not-found");
}

TEST_CASE("BrowseFeed: a browser may leave while it waits") {
    Front front;
    front.enter();
    LinkLog& link = front.receive("b", browser("plain"));
    link.receiver->add_credit(1);
    front.run();
    link.receiver.reset();
    front.run();
    CHECK(front.counts("plain").waiting_browsers == 0);
    front.put("plain", {{.body = "1"}});
    CHECK(front.counts("plain").active == 1);
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "unit/broker/restartable_broker.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::EntityKind;

namespace {

struct KeptTopic : RestartableBroker {
    KeptTopic() { make(); }
    void make() {
        CHECK(broker->create_topic("news", {}, at).ok());
        broker->advance(at); // as its thread may do at any time
        CHECK(broker->create_subscription("news", "all", sessions(), {}, at).ok());
        broker->begin(at);
    }
    std::string in(const std::string& name) { return peek_text(*queue(name)); }
};

} // namespace

TEST_CASE("topic restored: waiting messages and the subscriptions' content return, including "
          "session states") {
    KeptTopic host;
    host.send("news", "a", {"now"});
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = host.at.wall + 10s;
    const auto number = host.send("news", later);
    host.send("news", later);
    const auto holder = host.accept("news/Subscriptions/all", "a");
    CHECK(host.queue("news/Subscriptions/all")->set_state(*holder->consumer, "step", host.at).ok());
    host.restart();
    host.make();
    CHECK(host.in("news/Subscriptions/all") == "now");
    CHECK(host.queue("news")->counts(host.at).scheduled == 2);
    CHECK(host.queue("news")->cancel_scheduled({&number, 1}, host.at).ok());
    const auto next = host.accept("news/Subscriptions/all", "a");
    CHECK(host.queue("news/Subscriptions/all")->get_state(*next->consumer, host.at).value() ==
          "step");
    host.pass(10s);
    host.broker->advance(host.at);
    CHECK(host.in("news/Subscriptions/all") == "now later");
    CHECK(host.queue("news")->counts(host.at).active == 0);
    host.restart();
    host.make();
    CHECK(host.in("news/Subscriptions/all") == "now later");
    CHECK(host.queue("news")->counts(host.at).scheduled == 0);
}

TEST_CASE(
    "topic restored: messages that fell due meanwhile are forwarded once all subscriptions exist") {
    KeptTopic host;
    Message later = Message::of("later").in_session("a");
    later.scheduled_enqueue_time = host.at.wall + 10s;
    host.send("news", later);
    host.restart(60s);
    host.make();
    host.broker->advance(host.at);
    CHECK(host.in("news/Subscriptions/all") == "later");
}

TEST_CASE(
    "topic restored: messages on their way are forwarded, whichever entity is created first") {
    for (const bool source_first : {true, false}) {
        RestartableBroker host;
        host.create("from", {});
        host.create("to", {});
        host.send("from", Message{.body = "1"});
        host.restart();
        host.create(source_first ? "from" : "to", source_first
                                                      ? broker::QueueOptions{.forward_to = "TO"}
                                                      : broker::QueueOptions{});
        host.create(source_first ? "to" : "from", source_first
                                                      ? broker::QueueOptions{}
                                                      : broker::QueueOptions{.forward_to = "TO"});
        CHECK(host.peek_text(*host.queue("from")) == "1");
        host.broker->begin(host.at);
        CHECK(host.peek_text(*host.queue("to")) == "1");
        CHECK(host.peek_text(*host.queue("from")).empty());
        host.restart();
        host.broker->begin(host.at);
        CHECK(host.peek_text(*host.queue("to")) == "1");
        CHECK(host.peek_text(*host.queue("from")).empty());
        host.send("from", Message{.body = "2"}); // not created again: it continues as it was
        CHECK(host.peek_text(*host.queue("to")) == "1 2");
    }
}

TEST_CASE("topic restored: a subscription whose topic was not created again keeps its messages and "
          "cannot be sent to") {
    KeptTopic host;
    host.send("news", "a", {"1"});
    host.restart();
    CHECK(host.broker->names(EntityKind::subscription) ==
          std::vector<std::string>{"news/Subscriptions/all"});
    CHECK(host.in("news/subscriptions/ALL") == "1");
    CHECK(host.queue("news/subscriptions/all")->find_send_fault());
    CHECK(host.queue("news/subscriptions/all")->kind() == EntityKind::subscription);
}

TEST_CASE("topic restored: a deleted topic and its subscriptions stay deleted") {
    KeptTopic host;
    host.send("news", "a", {"1"});
    CHECK(host.broker->delete_entity("news", host.at).ok());
    host.restart();
    CHECK(host.broker->names(EntityKind::subscription).empty());
    CHECK_FALSE(host.broker->find("news").ok());
}

#include <doctest/doctest.h>

#include "unit/broker/kept_broker.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::EntityKind;

namespace {

struct KeptTopic : KeptBroker {
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
    KeptTopic kept;
    kept.send("news", "a", {"now"});
    Message later = Message::text("a", "later");
    later.scheduled_enqueue_time = kept.at.wall + 10s;
    const auto number = kept.send("news", later);
    kept.send("news", later);
    const auto holder = kept.accept("news/Subscriptions/all", "a");
    CHECK(kept.queue("news/Subscriptions/all")->set_state(*holder->consumer, "step", kept.at).ok());
    kept.restart();
    kept.make();
    CHECK(kept.in("news/Subscriptions/all") == "now");
    CHECK(kept.queue("news")->counts(kept.at).scheduled == 2);
    CHECK(kept.queue("news")->cancel_scheduled({&number, 1}, kept.at).ok());
    const auto next = kept.accept("news/Subscriptions/all", "a");
    CHECK(kept.queue("news/Subscriptions/all")->get_state(*next->consumer, kept.at).value() ==
          "step");
    kept.pass(10s);
    kept.broker->advance(kept.at);
    CHECK(kept.in("news/Subscriptions/all") == "now later");
    CHECK(kept.queue("news")->counts(kept.at).active == 0);
    kept.restart();
    kept.make();
    CHECK(kept.in("news/Subscriptions/all") == "now later");
    CHECK(kept.queue("news")->counts(kept.at).scheduled == 0);
}

TEST_CASE(
    "topic restored: messages that fell due meanwhile are forwarded once all subscriptions exist") {
    KeptTopic kept;
    Message later = Message::text("a", "later");
    later.scheduled_enqueue_time = kept.at.wall + 10s;
    kept.send("news", later);
    kept.restart(60s);
    kept.make();
    kept.broker->advance(kept.at);
    CHECK(kept.in("news/Subscriptions/all") == "later");
}

TEST_CASE(
    "topic restored: messages on their way are forwarded, whichever entity is created first") {
    for (const bool source_first : {true, false}) {
        KeptBroker kept;
        kept.create("from", {});
        kept.create("to", {});
        kept.send("from", Message{.body = "1"});
        kept.restart();
        kept.create(source_first ? "from" : "to", source_first
                                                      ? broker::QueueOptions{.forward_to = "TO"}
                                                      : broker::QueueOptions{});
        kept.create(source_first ? "to" : "from", source_first
                                                      ? broker::QueueOptions{}
                                                      : broker::QueueOptions{.forward_to = "TO"});
        CHECK(kept.peek_text(*kept.queue("from")) == "1");
        kept.broker->begin(kept.at);
        CHECK(kept.peek_text(*kept.queue("to")) == "1");
        CHECK(kept.peek_text(*kept.queue("from")).empty());
        kept.restart();
        kept.broker->begin(kept.at);
        CHECK(kept.peek_text(*kept.queue("to")) == "1");
        CHECK(kept.peek_text(*kept.queue("from")).empty());
        kept.send("from", Message{.body = "2"}); // not created again: it continues as it was
        CHECK(kept.peek_text(*kept.queue("to")) == "1 2");
    }
}

TEST_CASE("topic restored: a subscription whose topic was not created again keeps its messages and "
          "cannot be sent to") {
    KeptTopic kept;
    kept.send("news", "a", {"1"});
    kept.restart();
    CHECK(kept.broker->names(EntityKind::subscription) ==
          std::vector<std::string>{"news/Subscriptions/all"});
    CHECK(kept.in("news/subscriptions/ALL") == "1");
    CHECK(kept.queue("news/subscriptions/all")->find_send_fault());
    CHECK(kept.queue("news/subscriptions/all")->kind() == EntityKind::subscription);
}

TEST_CASE("topic restored: a deleted topic and its subscriptions stay deleted") {
    KeptTopic kept;
    kept.send("news", "a", {"1"});
    CHECK(kept.broker->delete_entity("news", kept.at).ok());
    kept.restart();
    CHECK(kept.broker->names(EntityKind::subscription).empty());
    CHECK_FALSE(kept.broker->find("news").ok());
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <thread>

#include "broker/rule_book.hpp"
#include "unit/broker/queue_fixture.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::EntityKind;

namespace {

/// A topic "news" beside the fixture's queue.
struct TopicFixture : QueueFixture {
    TopicFixture() {
        CHECK(broker.create_topic("news", {}, at).ok());
        queue = broker.find("news").value();
    }
    broker::QueuePtr subscribe(const std::string& name, const broker::QueueOptions& options = {},
                               std::vector<Rule> rules = {}) {
        CHECK(broker.create_subscription("news", name, options, std::move(rules), at).ok());
        return broker.find("news/subscriptions/" + name).value();
    }
    broker::QueuePtr make(const std::string& name, const broker::QueueOptions& options = {}) {
        CHECK(broker.create_queue(name, options, at).ok());
        return broker.find(name).value();
    }
    broker::QueuePtr dead_letters_of(const broker::Queue& of) {
        return broker.find(of.name() + "/$deadletterqueue").value();
    }
    std::string reasons_in(broker::Queue& of) {
        std::string all;
        for (const auto& message : of.peek(0, 1000, std::nullopt, at)) {
            all += (all.empty() ? "" : ", ") +
                   (message.dead_letter() ? message.dead_letter()->reason : std::string{});
        }
        return all;
    }
};

Message coloured(const char* body, const char* color) {
    return {.body = body, .properties = {{"color", std::string{color}}}};
}

} // namespace

TEST_CASE("topic: every subscription with a matching rule gets the message") {
    TopicFixture f;
    const auto all = f.subscribe("all");
    const auto red =
        f.subscribe("red", {},
                    {{.name = "red",
                      .filter = CorrelationFilter{.properties = {{"color", std::string{"red"}}}}}});
    const auto none = f.subscribe("none", {}, {{.name = "none", .filter = FalseFilter{}}});
    f.send(coloured("1", "red"));
    f.send(coloured("2", "blue"));
    CHECK(f.peek_text(*all) == "1 2");
    CHECK(f.peek_text(*red) == "1");
    CHECK(f.peek_text(*none).empty());
    CHECK(f.count(*f.queue) == 0);
    CHECK(f.queue->counts(f.at).bytes == 0);
}

TEST_CASE("topic: added and removed rules apply from the next message on") {
    TopicFixture f;
    const auto some = f.subscribe("some");
    f.send(coloured("1", "red"));
    REQUIRE(some->rules() != nullptr);
    CHECK(some->rules()->remove("$default").ok());
    f.send(coloured("2", "red"));
    CHECK(some->rules()
              ->add({.name = "blue",
                     .filter = SqlFilter{"color = 'blue'"},
                     .action = "SET seen = TRUE"})
              .ok());
    f.send(coloured("3", "red"));
    f.send(coloured("4", "blue"));
    CHECK(f.peek_text(*some) == "1 4");
    CHECK(f.dead_letters_of(*some)->rules() == nullptr);
    CHECK(f.queue->rules() == nullptr);
}

TEST_CASE("topic: a subscription is a queue with its own sessions, locks and dead letters") {
    TopicFixture f;
    const auto sessions = f.subscribe(
        "sessions", {.requires_session = true, .lock_duration = 30s, .max_delivery_count = 1});
    f.send("a", {"1", "2"});
    f.send("b", {"3"});
    auto target = std::make_shared<RecordingTarget>();
    sessions->accept({.session_id = "a", .until = f.at.now}, target, f.at);
    REQUIRE(target->consumer);
    std::vector<broker::Delivered> got;
    sessions->pull(*target->consumer, 10, got, f.at);
    CHECK(f.text_of(got) == "1 2");
    broker::SettleOrder orders[] = {{.token = got[0].token},
                                    {.token = got[1].token, .outcome = broker::Outcome::abandon}};
    sessions->settle(*target->consumer, orders, f.at);
    CHECK(f.peek_text(*sessions) == "3");
    CHECK(f.reasons_in(*f.dead_letters_of(*sessions)) == "MaxDeliveryCountExceeded");
    sessions->close(*target->consumer, f.at);
    auto waiting = std::make_shared<RecordingTarget>();
    sessions->accept({.session_id = "c", .until = f.at.now}, waiting, f.at);
    std::vector<broker::Delivered> later;
    sessions->pull(*waiting->consumer, 1, later, f.at);
    const int before = waiting->notified;
    f.send("c", {"4"});
    CHECK(waiting->notified == before + 1);
    sessions->close(*waiting->consumer, f.at);
}

TEST_CASE("topic: a message without a session id is dead-lettered by subscriptions that require "
          "sessions") {
    TopicFixture f;
    const auto sessions = f.subscribe("sessions", {.requires_session = true});
    const auto plain = f.subscribe("plain");
    f.send(coloured("1", "red"));
    CHECK(f.peek_text(*plain) == "1");
    CHECK(f.peek_text(*sessions).empty());
    CHECK(f.reasons_in(*f.dead_letters_of(*sessions)) == "Session ID is null");
}

TEST_CASE("topic: a topic can only be sent to and a subscription only received from, each with its "
          "own sub-queues") {
    TopicFixture f;
    const auto all = f.subscribe("all");
    CHECK(f.accept("a")->refused == Errc::not_supported);
    auto target = std::make_shared<RecordingTarget>();
    CHECK(f.queue->open(broker::ReceiveMode::peek_lock, 0, target, f.at).failure().code ==
          Errc::not_supported);
    CHECK(all->send(std::vector{coloured("1", "red")}, f.at).failure().code == Errc::not_supported);
    CHECK(f.queue->find_receive_fault());
    CHECK_FALSE(f.queue->find_send_fault());
    CHECK(all->find_send_fault());
    CHECK_FALSE(all->find_receive_fault());
    CHECK(f.broker.find("news/$DeadLetterQueue").failure().code == Errc::entity_not_found);
}

TEST_CASE("topic: a message that the topic rejects goes nowhere") {
    TopicFixture f;
    const auto all = f.subscribe("all");
    Message bad = coloured("2", "red");
    bad.time_to_live = 0ms;
    CHECK(f.queue->send(std::vector{coloured("1", "red"), bad}, f.at).failure().code ==
          Errc::invalid_argument);
    CHECK(f.count(*all) == 0);
}

TEST_CASE("topic: a scheduled message waits in the topic, can be cancelled there, and goes to the "
          "subscriptions of its due time") {
    TopicFixture f;
    const auto early = f.subscribe("early");
    Message later = coloured("later", "red");
    later.scheduled_enqueue_time = f.at.wall + 10s;
    f.send(later);
    const auto second = f.send(later);
    CHECK(f.queue->counts(f.at).scheduled == 2);
    CHECK(f.queue->cancel_scheduled({&second, 1}, f.at).ok());
    const auto late = f.subscribe("late");
    f.pass_and_advance(10s);
    CHECK(f.peek_text(*early) == "later");
    CHECK(f.peek_text(*late) == "later");
    CHECK(late->counts(f.at).active == 1);
    CHECK(f.count(*f.queue) == 0);
}

TEST_CASE("topic: the shortest time to live of topic, subscription and message applies") {
    TopicFixture f;
    CHECK(f.broker.create_topic("brief", {.default_time_to_live = 10s}, f.at).ok());
    CHECK(f.broker.create_subscription("brief", "long", {.default_time_to_live = 100s}, {}, f.at)
              .ok());
    CHECK(f.broker
              .create_subscription("brief", "short",
                                   {.default_time_to_live = 5s, .dead_letter_on_expiration = true},
                                   {}, f.at)
              .ok());
    const auto topic = f.broker.find("brief").value();
    Message shorter = coloured("1s", "red");
    shorter.time_to_live = 1s;
    CHECK(topic->send(std::vector{coloured("own", "red"), shorter}, f.at).ok());
    const auto in_long = f.broker.find("brief/Subscriptions/long").value();
    const auto in_short = f.broker.find("brief/Subscriptions/short").value();
    f.pass_and_advance(1s);
    CHECK(f.peek_text(*in_long) == "own");
    f.pass_and_advance(4s);
    CHECK(f.peek_text(*in_short).empty());
    CHECK(f.reasons_in(*f.dead_letters_of(*in_short)) ==
          "TTLExpiredException, TTLExpiredException");
    CHECK(f.peek_text(*in_long) == "own");
    f.pass_and_advance(5s);
    CHECK(f.peek_text(*in_long).empty());
}

TEST_CASE("topic: duplicates are dropped in the topic, for all subscriptions") {
    TopicFixture f;
    CHECK(f.broker.create_topic("once", {.duplicate_detection_window = 60s}, f.at).ok());
    CHECK(f.broker.create_subscription("once", "all", {}, {}, f.at).ok());
    const auto topic = f.broker.find("once").value();
    CHECK(topic
              ->send(std::vector{Message{.body = "1", .message_id = "m"},
                                 Message{.body = "2", .message_id = "m"}},
                     f.at)
              .ok());
    CHECK(f.peek_text(*f.broker.find("once/Subscriptions/all").value()) == "1");
}

TEST_CASE("topic: what its subscriptions hold counts to its size, dead letters too") {
    QueueFixture f;
    CHECK(f.broker.create_topic("small", {.max_size_bytes = 13'000}, f.at).ok());
    for (const char* name : {"one", "two"}) {
        CHECK(
            f.broker.create_subscription("small", name, {.requires_session = true}, {}, f.at).ok());
    }
    const auto topic = f.broker.find("small").value();
    const auto send = [&] {
        return topic->send(std::vector{Message::of(std::string(1000, 'x')).in_session("a")}, f.at);
    };
    int taken = 0;
    while (send().ok()) {
        ++taken;
    }
    CHECK(taken == 5); // two copies of each
    CHECK(send().failure().detail.ends_with(
        "max_size_bytes is 13000, and most of it are messages of its subscriptions"));

    const auto one = f.broker.find("small/Subscriptions/one").value();
    auto target = std::make_shared<RecordingTarget>();
    one->accept({.session_id = "a", .until = f.at.now}, target, f.at);
    std::vector<broker::Delivered> got;
    one->pull(*target->consumer, 4, got, f.at);
    REQUIRE(got.size() == 4);
    const auto settle = [&](std::size_t which, broker::Outcome outcome) {
        broker::SettleOrder order{.token = got[which].token, .outcome = outcome};
        one->settle(*target->consumer, {&order, 1}, f.at);
        CHECK_FALSE(order.failed_with);
    };
    settle(0, broker::Outcome::dead_letter); // changes places only
    CHECK_FALSE(send().ok());
    settle(1, broker::Outcome::complete);
    settle(2, broker::Outcome::complete);
    CHECK(send().ok());
    CHECK_FALSE(send().ok());
    CHECK(f.broker.delete_entity("small/Subscriptions/two", f.at).ok());
    CHECK(send().ok());
}

TEST_CASE("topic: it and its subscriptions are found in any case, and deleting it deletes them") {
    TopicFixture f;
    const auto all = f.subscribe("All");
    CHECK(f.broker.find("NEWS/subscriptions/aLL").value() == all);
    CHECK(all->name() == "news/Subscriptions/All");
    CHECK(f.broker.create_queue("News", {}, f.at).failure().code == Errc::duplicate_entity);
    CHECK(f.broker.create_subscription("NEWS", "ALL", {}, {}, f.at).failure().code ==
          Errc::duplicate_entity);
    CHECK(f.broker.create_subscription("orders", "x", {}, {}, f.at).failure().code ==
          Errc::entity_not_found);
    CHECK(f.broker.create_subscription("nothing", "x", {}, {}, f.at).failure().code ==
          Errc::entity_not_found);
    CHECK(f.broker.create_subscription("news", "a/b", {}, {}, f.at).failure().code ==
          Errc::invalid_argument);
    CHECK(f.broker.create_subscription("news", "x", {.duplicate_detection_window = 5s}, {}, f.at)
              .failure()
              .code == Errc::invalid_option);
    const auto bad_rule = f.broker.create_subscription(
        "news", "x", {}, {{.name = "a"}, {.name = "b", .filter = SqlFilter{"="}}}, f.at);
    CHECK(bad_rule.failure().code == Errc::invalid_option);
    CHECK(bad_rule.failure().detail.find("rules[1]: rule 'b'") == 0);
    CHECK(f.broker.create_queue("a/subscriptions/b", {}, f.at).failure().code ==
          Errc::invalid_argument);
    CHECK(f.broker.names(EntityKind::subscription) ==
          std::vector<std::string>{"news/Subscriptions/All"});
    CHECK(f.broker.delete_entity("NEWS", f.at).ok());
    CHECK(f.broker.find("news/Subscriptions/All").failure().code == Errc::entity_not_found);
    CHECK(f.broker.names(EntityKind::topic).empty());
    auto target = std::make_shared<RecordingTarget>();
    CHECK(all->open(broker::ReceiveMode::peek_lock, 0, target, f.at).failure().code ==
          Errc::entity_not_found);
}

TEST_CASE("topic: a deleted subscription gets nothing more, the others do") {
    TopicFixture f;
    const auto gone = f.subscribe("gone");
    const auto stays = f.subscribe("stays");
    CHECK(f.broker.delete_entity("news/subscriptions/gone", f.at).ok());
    f.send(coloured("1", "red"));
    CHECK(f.count(*gone) == 0);
    CHECK(f.count(*stays) == 1);
}

TEST_CASE("forwarding: a queue forwards messages at once and can no longer be received from") {
    TopicFixture f;
    const auto end = f.make("end", {.requires_session = true});
    const auto start = f.make("start", {.default_time_to_live = 10s, .forward_to = "END"});
    CHECK(
        start
            ->send(std::vector{Message::of("1").in_session("a"), Message::of("2").in_session("b")},
                   f.at)
            .ok());
    CHECK(f.peek_text(*end) == "1 2");
    CHECK(f.count(*start) == 0);
    auto target = std::make_shared<RecordingTarget>();
    CHECK(start->open(broker::ReceiveMode::peek_lock, 0, target, f.at).failure().code ==
          Errc::not_supported);
    f.pass_and_advance(10s);
    CHECK(f.peek_text(*end).empty()); // the time to live is forwarded too
}

TEST_CASE("forwarding: messages go through a queue, a topic and a subscription to a queue, "
          "scheduled ones when due") {
    TopicFixture f;
    const auto end = f.make("end");
    f.subscribe(
        "on", {.forward_to = "end"},
        {{.name = "red", .filter = SqlFilter{"color = 'red'"}, .action = "SET via = 'on'"}});
    const auto start = f.make("start", {.forward_to = "news"});
    Message later = coloured("3", "red");
    later.scheduled_enqueue_time = f.at.wall + 10s;
    CHECK(start->send(std::vector{coloured("1", "red"), coloured("2", "blue"), later}, f.at).ok());
    CHECK(f.peek_text(*end) == "1");
    f.pass_and_advance(10s);
    CHECK(f.peek_text(*end) == "1 3");
    CHECK(end->peek(0, 1, std::nullopt, f.at).front().enqueued_sequence_number() == 1); // in start
    CHECK(end->peek(0, 1, std::nullopt, f.at).front().content().properties.at("via") ==
          PropertyValue{std::string{"on"}});
}

TEST_CASE("forwarding: after four hops a message is dead-lettered where it would have left") {
    TopicFixture f;
    const auto last = f.make("q5");
    for (int i = 4; i >= 0; --i) {
        f.make("q" + std::to_string(i), {.forward_to = "q" + std::to_string(i + 1)});
    }
    CHECK(f.broker.find("q1").value()->send(std::vector{Message{.body = "four"}}, f.at).ok());
    CHECK(f.peek_text(*last) == "four");
    CHECK(f.broker.find("q0").value()->send(std::vector{Message{.body = "five"}}, f.at).ok());
    CHECK(f.peek_text(*last) == "four");
    const auto stranded = f.broker.find("q4/$DeadLetterQueue").value();
    CHECK(f.peek_text(*stranded) == "five");
    CHECK(f.reasons_in(*stranded) == "MaxTransferHopCountExceeded");
}

TEST_CASE("forwarding: if the destination rejects a message or does not exist, the source "
          "dead-letters it") {
    TopicFixture f;
    f.make("sessions", {.requires_session = true});
    const auto source = f.make("source", {.forward_to = "sessions"});
    CHECK(source->send(std::vector{Message{.body = "1"}}, f.at).ok());
    CHECK(f.reasons_in(*f.dead_letters_of(*source)) == "Session ID is null");
    f.make("full", {.max_size_bytes = 1});
    const auto to_full = f.make("to-full", {.forward_to = "full"});
    CHECK(to_full->send(std::vector{Message{.body = "1"}}, f.at).ok());
    CHECK(f.reasons_in(*f.dead_letters_of(*to_full)) == "quota_exceeded");
    CHECK(f.broker.delete_entity("full", f.at).ok());
    CHECK(to_full->send(std::vector{Message{.body = "2"}}, f.at).ok());
    CHECK(f.reasons_in(*f.dead_letters_of(*to_full)) == "quota_exceeded, entity_not_found");
}

TEST_CASE(
    "forwarding: dead letters carry their reason in properties, and those that cannot leave stay") {
    TopicFixture f;
    const auto graves = f.make("graves");
    const auto source = f.make(
        "source",
        {.requires_session = true, .lock_duration = 30s, .forward_dead_letters_to = "graves"});
    CHECK(
        source
            ->send(std::vector{Message::of("1").in_session("a"), Message::of("2").in_session("a")},
                   f.at)
            .ok());
    auto target = std::make_shared<RecordingTarget>();
    source->accept({.session_id = "a", .until = f.at.now}, target, f.at);
    std::vector<broker::Delivered> got;
    source->pull(*target->consumer, 10, got, f.at);
    const broker::Changes why{.dead_letter = std::make_shared<DeadLetterInfo>(
                                  DeadLetterInfo{.reason = "bad", .description = "very"})};
    broker::SettleOrder order{
        .token = got[0].token, .outcome = broker::Outcome::dead_letter, .changes = &why};
    source->settle(*target->consumer, {&order, 1}, f.at);
    CHECK_FALSE(order.failed_with);
    const auto moved = graves->peek(0, 10, std::nullopt, f.at);
    REQUIRE(moved.size() == 1);
    CHECK(moved[0].content().properties ==
          Properties{{"DeadLetterErrorDescription", std::string{"very"}},
                     {"DeadLetterReason", std::string{"bad"}}});
    REQUIRE(moved[0].dead_letter());
    CHECK(moved[0].dead_letter()->reason == "bad");
    CHECK(moved[0].dead_letter()->description == "very");
    CHECK(moved[0].dead_letter()->source == "source");
    CHECK(moved[0].enqueued_sequence_number() == 1); // in the dead-letter queue
    CHECK(f.count(*f.dead_letters_of(*source)) == 0);
    CHECK(f.broker.delete_entity("graves", f.at).ok());
    order.token = got[1].token;
    source->settle(*target->consumer, {&order, 1}, f.at);
    CHECK(f.reasons_in(*f.dead_letters_of(*source)) == "bad");
    auto reader = std::make_shared<RecordingTarget>();
    reader->consumer =
        f.dead_letters_of(*source)->open(broker::ReceiveMode::peek_lock, 0, reader, f.at).value();
    std::vector<broker::Delivered> left;
    f.dead_letters_of(*source)->pull(*reader->consumer, 10, left, f.at);
    CHECK(f.text_of(left) == "2");
    CHECK(left[0].message.dead_letter()->source.empty());
    f.dead_letters_of(*source)->close(*reader->consumer, f.at);
    source->close(*target->consumer, f.at);
}

TEST_CASE("forwarding: cycles are rejected, whichever entity would close them") {
    TopicFixture f;
    const auto code = [](const core::Result<core::Done>& made) {
        return made ? Errc{} : made.failure().code;
    };
    CHECK(code(f.broker.create_queue("self", {.forward_to = "SELF"}, f.at)) ==
          Errc::invalid_option);
    CHECK(code(f.broker.create_queue("self", {.forward_dead_letters_to = "self"}, f.at)) ==
          Errc::invalid_option);
    CHECK(code(f.broker.create_queue("a", {.forward_to = "b"}, f.at)) ==
          Errc{}); // b does not exist yet
    CHECK(code(f.broker.create_queue("c", {.forward_dead_letters_to = "A"}, f.at)) == Errc{});
    CHECK(code(f.broker.create_queue("b", {.forward_to = "c"}, f.at)) == Errc::invalid_option);
    CHECK(code(f.broker.create_queue("b", {.forward_to = "news"}, f.at)) == Errc{});
    CHECK(code(f.broker.create_subscription("news", "s", {.forward_to = "a"}, {}, f.at)) ==
          Errc::invalid_option);
    CHECK(code(f.broker.create_subscription("news", "s", {.forward_to = "news"}, {}, f.at)) ==
          Errc::invalid_option);
    CHECK(code(f.broker.create_queue("z", {.requires_session = true, .forward_to = "a"}, f.at)) ==
          Errc::invalid_option);
}

TEST_CASE("topic: with many sending threads every subscription gets all messages, in order for "
          "each sender") {
    TopicFixture f;
    const auto plain = f.subscribe("plain");
    const auto end = f.make("end", {.requires_session = true});
    f.subscribe("forwarding", {.forward_to = "end"});
    constexpr int each = 300;
    std::vector<std::thread> senders;
    for (int t = 0; t < 4; ++t) {
        senders.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) {
                CHECK(f.queue
                          ->send(
                              std::vector{
                                  Message::of(std::to_string(i)).in_session(std::to_string(t))},
                              f.at)
                          .ok());
            }
        });
    }
    for (auto& sender : senders) {
        sender.join();
    }
    while (f.broker.next_wakeup().value_or(TimePoint::max()) <=
           f.at.now) { // what took longer than a turn
        f.broker.advance(f.at);
    }
    CHECK(f.count(*f.queue) == 0);
    for (const auto& in : {plain, end}) {
        for (int t = 0; t < 4; ++t) {
            const auto seen = in->peek(0, 10000, std::to_string(t), f.at);
            REQUIRE(seen.size() == each);
            for (int i = 0; i < each; ++i) {
                REQUIRE(seen[static_cast<std::size_t>(i)].content().body == std::to_string(i));
            }
        }
    }
}

TEST_CASE(
    "topic: what rule actions make of one message is bounded; the rest is dead-lettered as the "
    "message was") {
    QueueFixture f;
    CHECK(f.broker.create_topic("news", {}, f.at).ok());
    std::vector<Rule> rules;
    for (int i = 0; i < 40; ++i) {
        rules.push_back({.name = std::to_string(i), .action = "SET q = p + p"});
    }
    CHECK(f.broker.create_subscription("news", "all", {}, std::move(rules), f.at).ok());
    Message large = Message::of(std::string(500'000, 'x')).in_session("a");
    large.properties = {{"p", std::string(10'000, 'y')}};
    CHECK(f.broker.find("news").value()->send(std::vector{std::move(large)}, f.at).ok());
    for (int turn = 0; turn < 200; ++turn) {
        f.pass_and_advance(1ms);
    }
    const auto all = f.broker.find("news/subscriptions/all").value();
    const auto dead = f.broker.find("news/subscriptions/all/$DeadLetterQueue").value();
    CHECK(f.count(*all) >= 16);
    CHECK(f.count(*all) + f.count(*dead) == 40);
    const auto rejected = dead->peek(0, 1, std::nullopt, f.at);
    REQUIRE(rejected.size() == 1);
    CHECK(rejected[0].dead_letter()->reason == "message_too_large");
    CHECK_FALSE(rejected[0].properties().contains("q"));
}

TEST_CASE(
    "topic: the result of an action for which there is no room is dead-lettered as the message "
    "was") {
    QueueFixture f;
    CHECK(f.broker.create_topic("small", {.max_size_bytes = 60'000}, f.at).ok());
    std::vector<Rule> rules{{.name = "1", .action = "SET q = p + p"}};
    CHECK(f.broker.create_subscription("small", "one", {}, std::move(rules), f.at).ok());
    Message large = Message::of(std::string(20'000, 'x')).in_session("a");
    large.properties = {{"p", std::string(10'000, 'y')}};
    CHECK(f.broker.find("small").value()->send(std::vector{std::move(large)}, f.at).ok());
    const auto dead = f.broker.find("small/subscriptions/one/$DeadLetterQueue").value();
    const auto rejected = dead->peek(0, 1, std::nullopt, f.at);
    REQUIRE(rejected.size() == 1);
    CHECK(rejected[0].dead_letter()->reason == "quota_exceeded");
    CHECK_FALSE(rejected[0].properties().contains("q"));
}

TEST_CASE("topic: a batch is refused if there is no room for the copies that it may become") {
    QueueFixture f;
    CHECK(f.broker.create_topic("small", {.max_size_bytes = 12'000}, f.at).ok());
    for (const char* name : {"one", "two"}) {
        CHECK(f.broker.create_subscription("small", name, {}, {}, f.at).ok());
    }
    const auto topic = f.broker.find("small").value();
    const auto send = [&](std::size_t count) {
        return topic->send(std::vector<Message>(count, Message::of("x").in_session("a")), f.at);
    };
    const auto refused = send(20);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.failure().code == Errc::quota_exceeded);
    CHECK(refused.failure().detail.ends_with("; copies for its subscriptions count"));
    CHECK(f.broker.delete_entity("small/subscriptions/two", f.at).ok());
    CHECK(f.broker.delete_entity("small/subscriptions/one", f.at).ok());
    CHECK(send(20).ok()); // nobody gets them
}

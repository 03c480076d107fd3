// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/queue_pair.hpp"
#include "broker/rule_book.hpp"
#include "support/held_journal.hpp"
#include "unit/broker/restartable_broker.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace sessionq::test;

namespace {

DeliveryFacts facts_of(const broker::Delivered& delivered) { return delivered.message.facts(); }

} // namespace

TEST_CASE(
    "entity restored: messages return in order with all their facts, and numbering continues") {
    RestartableBroker host;
    host.create("orders");
    Message full = Message::of("one").in_session("ada");
    full.message_id = "first";
    full.subject = "subject";
    full.properties = {{"text", std::string{"value"}}, {"number", std::int64_t{7}}};
    host.send("orders", full);
    host.pass(5s);
    host.send("orders", "ada", {"two", "three"});
    host.send("orders", "ben", {"else"});
    const WallTime enqueued = host.at.wall;
    host.restart();
    auto target = host.accept("orders", "ada");
    const auto got = host.pull("orders", *target);
    CHECK(QueueFixture::text_of(got) == "one two three");
    REQUIRE(got.size() == 3);
    CHECK(got[0].message.content().message_id == "first");
    CHECK(got[0].message.content().subject == "subject");
    CHECK(got[0].message.content().properties == full.properties);
    CHECK(got[0].message.enqueued_time() == enqueued - 5s);
    CHECK(got[1].message.enqueued_time() == enqueued);
    CHECK(got[2].message.sequence_number() == 3);
    CHECK(facts_of(got[0]).redelivered); // it may have been delivered
    CHECK(host.send("orders", "ada", {"five"}).front() == 5);
    CHECK(host.queue("orders")->list_sessions(0, 10, host.at) ==
          std::vector<std::string>{"ada", "ben"});
}

TEST_CASE("entity restored: sessions are ready in the order of their oldest messages") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "ada", {"one"});
    host.send("orders", "ben", {"two"});
    const auto ada = host.accept("orders");
    host.queue("orders")->close(*ada->consumer, host.at); // behind ben, until the restart
    host.restart();
    CHECK(host.accept("orders")->consumer->session_id == "ada");
    CHECK(host.accept("orders")->consumer->session_id == "ben");
}

TEST_CASE("entity restored: completed messages and their numbers stay gone, and unsettled ones "
          "return uncounted") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "ada", {"one", "two"});
    auto target = host.accept("orders", "ada");
    const auto got = host.pull("orders", *target);
    CHECK_FALSE(host.settle("orders", *target, got[1], Outcome::complete));
    host.restart();
    CHECK(host.peek_text(*host.queue("orders")) == "one");
    auto again = host.accept("orders", "ada"); // the lock does not survive
    REQUIRE(again->consumer);
    const auto left = host.pull("orders", *again);
    REQUIRE(left.size() == 1);
    CHECK(facts_of(left[0]).delivery_count == 0);
    CHECK(host.send("orders", "ada", {"three"}).front() == 3);
}

TEST_CASE("entity restored: delivery counts survive, and the last delivery dead-letters with its "
          "reason") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "ada", {"bad"});
    for (std::uint32_t count = 0; count < 3; ++count) {
        auto target = host.accept("orders", "ada");
        const auto got = host.pull("orders", *target);
        REQUIRE(got.size() == 1);
        CHECK(facts_of(got[0]).delivery_count == count);
        CHECK_FALSE(host.settle("orders", *target, got[0], Outcome::abandon));
        host.restart();
    }
    CHECK(host.peek_text(*host.queue("orders")).empty());
    const auto dead = host.dead_letters("orders")->peek(0, 10, std::nullopt, host.at);
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].text() == "bad");
    CHECK(dead[0].facts().dead_letter->reason == "MaxDeliveryCountExceeded");
    CHECK(dead[0].delivery_count() == 3);
}

TEST_CASE("entity restored: an expired lock counts a delivery, and the count survives") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "ada", {"slow"});
    auto target = host.accept("orders", "ada");
    host.pull("orders", *target);
    host.pass(31s);
    host.broker->advance(host.at);
    CHECK(target->lost == Errc::lock_lost);
    host.restart();
    CHECK(host.queue("orders")->peek(0, 1, std::nullopt, host.at).front().delivery_count() == 1);
}

TEST_CASE("entity restored: dead letters keep their reason and changed properties, whatever "
          "happens to the queue's messages") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "ada", {"one"});
    auto target = host.accept("orders", "ada");
    const auto got = host.pull("orders", *target);
    const Changes changes{.dead_letter = std::make_shared<DeadLetterInfo>(
                              DeadLetterInfo{.reason = "why", .description = "because"}),
                          .properties = {{"seen", true}}};
    CHECK_FALSE(host.settle("orders", *target, got[0], Outcome::dead_letter, changes));
    host.restart();
    CHECK(host.peek_text(*host.queue("orders")).empty());
    const auto dead = host.dead_letters("orders")->peek(0, 10, std::nullopt, host.at);
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].facts().dead_letter->reason == "why");
    CHECK(dead[0].facts().dead_letter->description == "because");
    CHECK(dead[0].properties() == Properties{{"seen", true}});
}

TEST_CASE("entity restored: deferred messages stay deferred, with their changed properties") {
    RestartableBroker host;
    host.create("orders");
    const auto sequences = host.send("orders", "ada", {"later", "now"});
    auto target = host.accept("orders", "ada");
    const auto got = host.pull("orders", *target);
    CHECK_FALSE(host.settle("orders", *target, got[0], Outcome::defer,
                            {.properties = {{"step", std::int64_t{2}}}}));
    host.restart();
    auto again = host.accept("orders", "ada");
    CHECK(QueueFixture::text_of(host.pull("orders", *again)) == "now");
    std::vector<Delivered> deferred;
    CHECK(host.queue("orders")
              ->receive_deferred(*again->consumer, std::span{sequences}.first(1), deferred, host.at)
              .ok());
    REQUIRE(deferred.size() == 1);
    CHECK(deferred[0].message.text() == "later");
    CHECK(deferred[0].message.properties() == Properties{{"step", std::int64_t{2}}});
    CHECK_FALSE(host.settle("orders", *again, deferred[0], Outcome::complete));
    host.restart();
    CHECK(host.peek_text(*host.queue("orders")) == "now");
}

TEST_CASE("entity restored: scheduled messages keep waiting, overdue ones arrive in order, and "
          "cancelled ones stay cancelled") {
    RestartableBroker host;
    host.create("orders");
    const auto schedule = [&](std::string_view body, Duration in) {
        Message message = Message::of(body).in_session("ada");
        message.scheduled_enqueue_time =
            host.at.wall + std::chrono::duration_cast<WallTime::duration>(in);
        return host.send("orders", message);
    };
    schedule("third", 1h);
    schedule("second", 20s);
    schedule("first", 10s);
    const auto cancelled = schedule("never", 15s);
    CHECK(host.queue("orders")->cancel_scheduled({&cancelled, 1}, host.at).ok());
    host.restart(60s);
    auto target = host.accept("orders", "ada");
    const auto got = host.pull("orders", *target);
    CHECK(QueueFixture::text_of(got) == "first second");
    CHECK(got[0].message.sequence_number() > 4);
    CHECK(got[0].message.sequence_number() < got[1].message.sequence_number());
    CHECK(host.queue("orders")->counts(host.at).scheduled == 1);
    host.restart();
    CHECK(host.queue("orders")->counts(host.at).scheduled == 1);
    host.pass(2h);
    auto later = host.accept("orders", "ada");
    CHECK(QueueFixture::text_of(host.pull("orders", *later)) == "first second third");
}

TEST_CASE("entity restored: time to live passes while the broker is down") {
    RestartableBroker host;
    QueueOptions options = RestartableBroker::sessions();
    options.dead_letter_on_expiration = true;
    host.create("orders", options);
    Message brief = Message::of("brief").in_session("ada");
    brief.time_to_live = std::chrono::seconds{10};
    Message longer = Message::of("longer").in_session("ada");
    longer.time_to_live = std::chrono::seconds{100};
    host.send("orders", brief);
    host.send("orders", longer);
    host.restart(50s);
    CHECK(host.peek_text(*host.queue("orders")) == "longer");
    CHECK(host.peek_text(*host.dead_letters("orders")) == "brief");
    host.pass(51s);
    CHECK(host.peek_text(*host.dead_letters("orders")) == "brief longer");
    host.restart();
    CHECK(host.peek_text(*host.dead_letters("orders")) == "brief longer");
}

TEST_CASE("entity restored: session state survives without messages until it is cleared") {
    RestartableBroker host;
    host.create("orders");
    auto ada = host.accept("orders", "ada");
    auto ben = host.accept("orders", "ben");
    CHECK(host.queue("orders")->set_state(*ada->consumer, "state of\0ada", host.at).ok());
    CHECK(host.queue("orders")->set_state(*ben->consumer, "state", host.at).ok());
    CHECK(host.queue("orders")->set_state(*ben->consumer, std::nullopt, host.at).ok());
    host.restart();
    CHECK(host.queue("orders")->list_sessions(0, 10, host.at) == std::vector<std::string>{"ada"});
    auto again = host.accept("orders", "ada");
    CHECK(host.queue("orders")->get_state(*again->consumer, host.at).value() == "state of\0ada");
}

TEST_CASE("entity restored: an accepted message id is still a duplicate within the window") {
    RestartableBroker host;
    QueueOptions options = RestartableBroker::sessions();
    options.duplicate_detection_window = 60s;
    host.create("orders", options);
    Message message = Message::of("once").in_session("ada");
    message.message_id = "id";
    const auto sequence = host.send("orders", message);
    auto target = host.accept("orders", "ada");
    CHECK_FALSE(
        host.settle("orders", *target, host.pull("orders", *target).front(), Outcome::complete));
    host.restart(30s);
    CHECK(host.send("orders", message) == sequence);
    CHECK(host.peek_text(*host.queue("orders")).empty());
    host.restart(31s);
    CHECK(host.send("orders", message) != sequence);
    CHECK(host.peek_text(*host.queue("orders")) == "once");
}

TEST_CASE("entity restored: works without sessions, and received-and-deleted messages stay gone") {
    RestartableBroker host;
    host.create("plain", {.lock_duration = 30s});
    Message one;
    one.body = "one";
    Message two;
    two.body = "two";
    host.send("plain", one);
    host.send("plain", two);
    auto target = std::make_shared<RecordingTarget>();
    auto consumer =
        host.queue("plain")->open(ReceiveMode::receive_and_delete, 0, target, host.at).value();
    std::vector<Delivered> got;
    host.queue("plain")->pull(*consumer, 1, got, host.at);
    host.restart();
    CHECK(host.peek_text(*host.queue("plain")) == "two");
}

TEST_CASE("broker restored: a queue returns with its options, takes new ones when created again, "
          "and keeps its kind") {
    RestartableBroker host;
    QueueOptions options = RestartableBroker::sessions();
    options.max_delivery_count = 7;
    host.create("orders", options);
    host.create("other", {.lock_duration = 30s});
    host.send("orders", "ada", {"one"});
    host.restart();
    CHECK(host.broker->names(broker::EntityKind::queue) ==
          std::vector<std::string>{"orders", "other"});
    const auto refused = host.broker->create_queue("other", options, host.at);
    CHECK(refused.failure().code == Errc::invalid_option);
    CHECK(refused.failure().detail.find("'other'") != std::string::npos);
    CHECK(host.broker->create_topic("other", {}, host.at).failure().code == Errc::invalid_option);
    CHECK(host.queue("orders")->options() == options);
    CHECK(host.broker->create_queue("orders", options, host.at).failure().code ==
          Errc::duplicate_entity); // it was used already
    CHECK(host.broker->create_queue("other", {}, host.at).failure().code == Errc::duplicate_entity);
    host.restart();
    options.max_delivery_count = 8;
    host.create("orders", options);
    CHECK(host.queue("orders")->options().max_delivery_count == 8);
    CHECK(host.peek_text(*host.queue("orders")) == "one");
    host.restart();
    CHECK(host.queue("orders")->options().max_delivery_count == 8);
}

TEST_CASE("broker restored: a deleted queue and its messages stay deleted, and a new one of that "
          "name starts empty") {
    RestartableBroker host;
    host.create("orders");
    host.create("gone");
    host.send("orders", "ada", {"one"});
    auto holder = host.accept("orders", "ada");
    host.pull("orders", *holder);
    CHECK(host.broker->delete_entity("orders", host.at).ok());
    CHECK(host.broker->delete_entity("gone", host.at).ok());
    host.create("orders");
    host.send("orders", "ada", {"new"});
    host.restart();
    CHECK(host.broker->names(broker::EntityKind::queue) == std::vector<std::string>{"orders"});
    CHECK(host.peek_text(*host.queue("orders")) == "new");
    CHECK(host.broker->delete_entity("orders", host.at).ok()); // not used before
    host.restart();
    CHECK(host.broker->names(broker::EntityKind::queue).empty());
}

TEST_CASE("broker restored: topics forward to their subscriptions by their rules, even if not "
          "created again") {
    RestartableBroker host;
    REQUIRE(host.broker->create_topic("news", {}, host.at).ok());
    REQUIRE(
        host.broker->create_subscription("news", "all", RestartableBroker::sessions(), {}, host.at)
            .ok());
    REQUIRE(host.broker
                ->create_subscription(
                    "news", "some", RestartableBroker::sessions(),
                    {{.name = "rule", .filter = CorrelationFilter{.subject = "s"}}}, host.at)
                .ok());
    host.send("news", "ada", {"before"});
    Message later = Message::of("later").in_session("ada");
    later.scheduled_enqueue_time = host.at.wall + std::chrono::seconds{10};
    host.send("news", later);
    host.restart(60s); // became due meanwhile
    host.broker->begin(host.at);
    CHECK(host.broker->names(EntityKind::topic) == std::vector<std::string>{"news"});
    CHECK(host.broker->names(EntityKind::subscription) ==
          std::vector<std::string>{"news/Subscriptions/all", "news/Subscriptions/some"});
    CHECK(host.queue("NEWS/subscriptions/ALL")->kind() == EntityKind::subscription);
    Message matching = Message::of("after").in_session("ada");
    matching.subject = "s";
    host.send("news", matching);
    CHECK(host.peek_text(*host.queue("news/Subscriptions/all")) == "before later after");
    CHECK(host.peek_text(*host.queue("news/Subscriptions/some")) == "after");
    CHECK(host.peek_text(*host.queue("news")).empty());
    CHECK(host.broker->delete_entity("news", host.at).ok());
    host.restart();
    CHECK(host.broker->names(EntityKind::subscription).empty());
}

TEST_CASE("broker restored: changed rules survive if the subscription is created as before, and "
          "are replaced otherwise") {
    RestartableBroker host;
    const std::vector<Rule> declared{{.name = "declared", .filter = SqlFilter{"a = 1"}}};
    const auto make = [&](const std::vector<Rule>& rules) {
        REQUIRE(host.broker->create_topic("news", {}, host.at).ok());
        REQUIRE(host.broker->create_subscription("news", "all", {}, rules, host.at).ok());
    };
    const auto rules = [&] { return host.queue("news/Subscriptions/all")->rules()->list(); };
    make(declared);
    REQUIRE(host.queue("news/Subscriptions/all")
                ->rules()
                ->add({.name = "added", .action = "SET b = 2"})
                .ok());
    REQUIRE(host.queue("news/Subscriptions/all")->rules()->remove("declared").ok());
    const std::vector<Rule> changed{{.name = "added", .action = "SET b = 2"}};
    host.restart();
    CHECK(rules() == changed);
    host.restart();
    make(declared);
    CHECK(rules() == changed);
    host.restart();
    const std::vector<Rule> other{{.name = "other", .filter = FalseFilter{}}};
    make(other);
    CHECK(rules() == other);
    host.restart();
    CHECK(rules() == other);
}

TEST_CASE("broker restored: a message on its way to another queue arrives there") {
    RestartableBroker host;
    host.create("target", {});
    host.create("source", {.forward_to = "target"});
    Message later;
    later.body = "later";
    later.scheduled_enqueue_time = host.at.wall + std::chrono::seconds{10};
    host.send("source", later);
    host.restart(60s);
    host.broker->begin(host.at);
    CHECK(host.peek_text(*host.queue("target")) == "later");
    host.restart();
    host.broker->begin(host.at);
    CHECK(host.peek_text(*host.queue("target")) == "later");
    CHECK(host.peek_text(*host.queue("source")).empty());
}

TEST_CASE("entity journal: all changes of an operation are recorded at once, and pulls and locks "
          "record nothing") {
    const auto journal = std::make_shared<HeldJournal>();
    Broker broker{journal, {}, {}};
    const Instant at{TimePoint{1h}, WallTime{1h}};
    REQUIRE(broker.create_queue("orders", {.requires_session = true, .max_delivery_count = 1}, at)
                .ok());
    const auto queue = broker.find("orders").value();
    const auto before = journal->mark;
    std::vector<Message> messages(3, Message::of("x").in_session("ada"));
    REQUIRE(queue->send(std::move(messages), at).ok());
    CHECK(journal->mark == before + 1);
    CHECK(journal->count<MessageAdded>() == 3);
    auto target = std::make_shared<RecordingTarget>();
    queue->accept({.session_id = "ada"}, target, at);
    std::vector<Delivered> got;
    queue->pull(*target->consumer, 3, got, at);
    static_cast<void>(queue->renew(*target->consumer, at));
    CHECK(journal->mark == before + 1);
    SettleOrder order{.token = got[0].token, .outcome = Outcome::abandon};
    queue->settle(*target->consumer, {&order, 1},
                  at); // its last delivery: from one entity to the other
    CHECK(journal->mark == before + 2);
    CHECK(journal->count<MessageAdded>() == 4);
    CHECK(journal->count<MessageRemoved>() == 1);
    queue->close(*target->consumer, at);
    CHECK(journal->mark == before + 2);
}

TEST_CASE("entity journal: while the journal is failing, operations that must be recorded are "
          "rejected without effect") {
    const auto journal = std::make_shared<HeldJournal>();
    Broker broker{journal, {}, {}};
    const Instant at{TimePoint{1h}, WallTime{1h}};
    REQUIRE(broker.create_queue("orders", {.requires_session = true}, at).ok());
    REQUIRE(broker.create_queue("plain", {}, at).ok());
    const auto queue = broker.find("orders").value();
    const auto send = [&](Queue& to) {
        std::vector<Message> messages(1, Message::of("x").in_session("ada"));
        return to.send(std::move(messages), at);
    };
    Message later = Message::of("later").in_session("ada");
    later.scheduled_enqueue_time = at.wall + 1h;
    std::vector<Message> scheduled(1, later);
    const auto sequence = queue->send(std::move(scheduled), at).value().front();
    REQUIRE(send(*queue).ok());
    auto target = std::make_shared<RecordingTarget>();
    queue->accept({.session_id = "ada"}, target, at);
    std::vector<Delivered> got;
    queue->pull(*target->consumer, 3, got, at);
    REQUIRE(got.size() == 1);
    REQUIRE(send(*broker.find("plain").value()).ok());
    REQUIRE(send(*broker.find("plain").value()).ok());
    auto deferrer = std::make_shared<RecordingTarget>();
    const auto locking =
        broker.find("plain").value()->open(ReceiveMode::peek_lock, 0, deferrer, at).value();
    std::vector<Delivered> first;
    broker.find("plain").value()->pull(*locking, 1, first, at);
    REQUIRE(first.size() == 1);
    const std::int64_t deferred = first[0].message.sequence_number();
    SettleOrder defer{.token = first[0].token, .outcome = Outcome::defer};
    broker.find("plain").value()->settle(*locking, {&defer, 1}, at);
    auto taker = std::make_shared<RecordingTarget>();
    const auto deleting =
        broker.find("plain").value()->open(ReceiveMode::receive_and_delete, 0, taker, at).value();

    journal->failing = true;
    const auto mark = journal->mark;
    CHECK(send(*queue).failure().code == Errc::server_busy);
    CHECK(send(*queue).failure().retryable());
    CHECK(queue->cancel_scheduled({&sequence, 1}, at).failure().code == Errc::server_busy);
    CHECK(queue->set_state(*target->consumer, "state", at).failure().code == Errc::server_busy);
    for (const Outcome outcome :
         {Outcome::complete, Outcome::abandon, Outcome::defer, Outcome::dead_letter}) {
        SettleOrder order{.token = got[0].token, .outcome = outcome};
        queue->settle(*target->consumer, {&order, 1}, at);
        CHECK(order.failed_with == Errc::server_busy);
    }
    std::vector<Delivered> nothing;
    const auto plain = broker.find("plain").value();
    CHECK(plain->receive_deferred(*deleting, {&deferred, 1}, nothing, at).failure().code ==
          Errc::server_busy);
    CHECK(plain->receive_deferred(*locking, {&deferred, 1}, nothing, at).ok());
    CHECK(nothing.size() == 1);
    CHECK_FALSE(broker.find("plain").value()->pull(*deleting, 1, nothing, at));
    CHECK(taker->lost == Errc::server_busy);
    CHECK(broker.create_queue("new", {}, at).failure().code == Errc::server_busy);
    CHECK(broker.delete_entity("plain", at).failure().code == Errc::server_busy);
    CHECK(journal->mark == mark);
    CHECK(queue->counts(at).active == 1);

    journal->failing = false; // and continues as if nothing had happened
    CHECK(broker.find("plain").value()->counts(at).active == 1);
    SettleOrder order{.token = got[0].token};
    queue->settle(*target->consumer, {&order, 1}, at);
    CHECK_FALSE(order.failed_with);
    CHECK(send(*queue).ok());
}

TEST_CASE("entity journal: while the disk is full, operations that need room are rejected for that "
          "reason, and others work") {
    const auto journal = std::make_shared<HeldJournal>();
    Broker broker{journal, {}, {}};
    const Instant at{TimePoint{1h}, WallTime{1h}};
    REQUIRE(broker.create_queue("orders", {.requires_session = true}, at).ok());
    const auto queue = broker.find("orders").value();
    const auto send = [&] {
        std::vector<Message> messages(4, Message::of("x").in_session("ada"));
        return queue->send(std::move(messages), at);
    };
    REQUIRE(send().ok());
    auto target = std::make_shared<RecordingTarget>();
    queue->accept({.session_id = "ada"}, target, at);
    std::vector<Delivered> got;
    queue->pull(*target->consumer, 4, got, at);
    REQUIRE(queue->set_state(*target->consumer, "state", at).ok());

    journal->full = true;
    CHECK(send().failure().code == Errc::quota_exceeded);
    CHECK(queue->set_state(*target->consumer, "other", at).failure().code == Errc::quota_exceeded);
    CHECK(queue->set_state(*target->consumer, std::nullopt, at).ok());
    const Changes larger{.properties = {{"seen", true}}};
    for (const Outcome outcome :
         {Outcome::abandon, Outcome::defer, Outcome::dead_letter}) { // and stays unsettled
        SettleOrder order{.token = got[3].token, .outcome = outcome, .changes = &larger};
        queue->settle(*target->consumer, {&order, 1}, at);
        CHECK(order.failed_with == Errc::quota_exceeded);
    }
    for (const auto& [index, outcome] : {std::pair{0, Outcome::complete},
                                         {1, Outcome::abandon},
                                         {2, Outcome::defer},
                                         {3, Outcome::dead_letter}}) {
        SettleOrder order{.token = got[static_cast<std::size_t>(index)].token, .outcome = outcome};
        queue->settle(*target->consumer, {&order, 1}, at);
        CHECK_FALSE(order.failed_with);
    }
    CHECK(queue->counts(at).active == 1);

    journal->full = false;
    CHECK(send().ok());
}

TEST_CASE("entity journal: on a full disk scheduled messages can be cancelled or fall due, and "
          "deferred ones can be received and deleted") {
    const auto journal = std::make_shared<HeldJournal>();
    Broker broker{journal, {}, {}};
    Instant at{TimePoint{1h}, WallTime{1h}};
    REQUIRE(broker.create_queue("orders", {.requires_session = true}, at).ok());
    const auto queue = broker.find("orders").value();
    const auto schedule = [&](Duration delay) {
        std::vector<Message> messages(1, Message::of("x").in_session("ada"));
        messages[0].scheduled_enqueue_time = at.wall + delay;
        return queue->send(std::move(messages), at);
    };
    const auto soon = schedule(1min).value().front();
    const auto late = schedule(1h).value().front();
    std::vector<Message> messages(2, Message::of("x").in_session("ada"));
    const auto deferred = queue->send(std::move(messages), at).value().front();
    auto target = std::make_shared<RecordingTarget>();
    queue->accept({.session_id = "ada", .mode = ReceiveMode::peek_lock}, target, at);
    std::vector<Delivered> got;
    queue->pull(*target->consumer, 1, got, at);
    SettleOrder order{.token = got[0].token, .outcome = Outcome::defer};
    queue->settle(*target->consumer, {&order, 1}, at);

    journal->full = true;
    CHECK(schedule(1min).failure().code == Errc::quota_exceeded);
    CHECK(queue->cancel_scheduled({&late, 1}, at).ok());
    at = {at.now + 2min, at.wall + 2min};
    CHECK(queue->counts(at).scheduled == 0);
    CHECK(queue->cancel_scheduled({&soon, 1}, at).failure().code == Errc::message_not_found);
    auto taker = std::make_shared<RecordingTarget>();
    queue->accept({.session_id = "ada", .mode = ReceiveMode::receive_and_delete}, taker, at);
    REQUIRE(taker->consumer);
    got.clear();
    CHECK(queue->receive_deferred(*taker->consumer, {&deferred, 1}, got, at).ok());
    CHECK(queue->pull(*taker->consumer, 10, got, at));
    CHECK(got.size() == 3);
    CHECK(queue->counts(at).bytes == 0);
}

TEST_CASE("broker on a full disk: nothing new is created, and existing entities forward, are "
          "deleted and can be restored") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "ada", {"one"});
    host.broker.reset();
    auto opened =
        StoreJournal::open(host.directory.path() / "data",
                           std::make_shared<const server::StoredContent>(amqp::ClockReading{}),
                           host.at.wall, core::system_clock())
            .value();
    const auto journal = std::make_shared<HeldJournal>();
    journal->last_id = 2;
    journal->full = true;
    Broker broker{journal, std::move(opened.stored), host.at};
    const auto refused = broker.create_queue("new", {}, host.at);
    CHECK(refused.failure().code == Errc::quota_exceeded);
    CHECK(refused.failure().detail.find("'new'") != std::string::npos);
    CHECK(broker.create_topic("news", {}, host.at).failure().code == Errc::quota_exceeded);
    QueueOptions options = RestartableBroker::sessions();
    options.max_delivery_count = 7;
    CHECK(broker.create_queue("orders", options, host.at).ok());
    CHECK(broker.find("orders").value()->counts(host.at).active == 1);
    CHECK(broker.delete_entity("orders", host.at).ok());
    CHECK(broker.create_queue("orders", options, host.at).failure().code == Errc::quota_exceeded);

    broker.begin(host.at);
    journal->full = false;
    REQUIRE(broker.create_topic("news", {}, host.at).ok());
    REQUIRE(broker.create_queue("to", {}, host.at).ok());
    REQUIRE(broker.create_queue("from", {.forward_to = "to"}, host.at).ok());
    REQUIRE(broker.create_subscription("news", "all", {}, {}, host.at).ok());
    std::vector<Message> later(1, Message::of("x").in_session("ada"));
    later[0].scheduled_enqueue_time = host.at.wall + 1min;
    REQUIRE(broker.find("from").value()->send(later, host.at).ok());
    REQUIRE(broker.find("news").value()->send(later, host.at).ok());
    journal->full = true;
    CHECK(broker.create_subscription("news", "more", {}, {}, host.at).failure().code ==
          Errc::quota_exceeded);
    host.pass(2min);
    broker.advance(host.at);
    CHECK(broker.find("to").value()->counts(host.at).active == 1);
    CHECK(broker.find("news/Subscriptions/all").value()->counts(host.at).active == 1);
    CHECK(broker.find("from").value()->counts(host.at).active == 0);
}

TEST_CASE("entity restored: R29: ids that differ in case only stay one session, with one state") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "Order-A", {"one"});
    host.send("orders", "order-a", {"two"});
    const auto set_state = [&](const std::string& session, std::optional<std::string> state) {
        const auto link = host.accept("orders", session);
        REQUIRE(link->consumer);
        CHECK(host.queue("orders")->set_state(*link->consumer, std::move(state), host.at).ok());
        host.queue("orders")->close(*link->consumer, host.at);
    };
    const auto state_of = [&](const std::string& session) {
        const auto link = host.accept("orders", session);
        REQUIRE(link->consumer);
        auto state = host.queue("orders")->get_state(*link->consumer, host.at).value();
        host.queue("orders")->close(*link->consumer, host.at);
        return state;
    };
    set_state("order-A", "first");
    host.restart();
    CHECK(state_of("ORDER-A") == "first");
    CHECK(host.queue("orders")->list_sessions(0, 10, host.at).size() == 1);
    const auto link = host.accept("orders", "oRDER-a");
    REQUIRE(link->consumer);
    const auto got = host.pull("orders", *link);
    CHECK(QueueFixture::text_of(got) == "one two");
    CHECK(got[0].message.session_id() == "Order-A");
    CHECK(got[1].message.session_id() == "order-a");
    CHECK_FALSE(host.settle("orders", *link, got[0], Outcome::complete)); // "order-a" is left
    host.queue("orders")->close(*link->consumer, host.at);
    host.restart();
    set_state("order-a", "second");
    host.restart();
    CHECK(state_of("Order-A") == "second");
    set_state("ORDER-A", std::nullopt);
    host.restart();
    CHECK(state_of("Order-A") == std::nullopt);
}

TEST_CASE("entity restored: of the states of an older store that are now of one session, one is "
          "kept for good") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "order-a", {"one"});
    host.write_state("orders", "order-a", "small");
    host.write_state("orders", "Order-A", "large");
    host.write_state("orders", "other", "own");
    const auto state_of = [&](const std::string& session) {
        const auto link = host.accept("orders", session);
        REQUIRE(link->consumer);
        auto state = host.queue("orders")->get_state(*link->consumer, host.at).value();
        host.queue("orders")->close(*link->consumer, host.at);
        return state;
    };
    CHECK(host.queue("orders")->list_sessions(0, 10, host.at) ==
          std::vector<std::string>{"Order-A", "other"});
    CHECK(state_of("order-a") == "large");
    CHECK(state_of("other") == "own");
    const auto link = host.accept("orders", "order-a");
    REQUIRE(link->consumer);
    CHECK(host.queue("orders")->set_state(*link->consumer, std::nullopt, host.at).ok());
    CHECK(QueueFixture::text_of(host.pull("orders", *link)) == "one");
    host.queue("orders")->close(*link->consumer, host.at);
    host.restart();
    CHECK(state_of("order-a") == std::nullopt); // the one that was dropped does not come back
}

#include <doctest/doctest.h>

#include "broker/queue_pair.hpp"
#include "broker/rule_book.hpp"
#include "support/held_journal.hpp"
#include "unit/broker/kept_broker.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace sessionq::test;

namespace {

DeliveryFacts facts_of(const broker::Delivered& delivered) { return delivered.message.facts(); }

} // namespace

TEST_CASE(
    "entity restored: messages return in order with all their facts, and numbering continues") {
    KeptBroker kept;
    kept.create("orders");
    Message full = Message::text("ada", "one");
    full.message_id = "first";
    full.subject = "subject";
    full.properties = {{"text", std::string{"value"}}, {"number", std::int64_t{7}}};
    kept.send("orders", full);
    kept.pass(5s);
    kept.send("orders", "ada", {"two", "three"});
    kept.send("orders", "ben", {"else"});
    const WallTime enqueued = kept.at.wall;
    kept.restart();
    auto target = kept.accept("orders", "ada");
    const auto got = kept.pull("orders", *target);
    CHECK(QueueFixture::text_of(got) == "one two three");
    REQUIRE(got.size() == 3);
    CHECK(got[0].message.content().message_id == "first");
    CHECK(got[0].message.content().subject == "subject");
    CHECK(got[0].message.content().properties == full.properties);
    CHECK(got[0].message.enqueued_time() == enqueued - 5s);
    CHECK(got[1].message.enqueued_time() == enqueued);
    CHECK(got[2].message.sequence_number() == 3);
    CHECK(facts_of(got[0]).redelivered); // it may have been delivered
    CHECK(kept.send("orders", "ada", {"five"}).front() == 5);
    CHECK(kept.queue("orders")->list_sessions(0, 10, kept.at) ==
          std::vector<std::string>{"ada", "ben"});
}

TEST_CASE("entity restored: completed messages and their numbers stay gone, and unsettled ones "
          "return uncounted") {
    KeptBroker kept;
    kept.create("orders");
    kept.send("orders", "ada", {"one", "two"});
    auto target = kept.accept("orders", "ada");
    const auto got = kept.pull("orders", *target);
    CHECK_FALSE(kept.settle("orders", *target, got[1], Outcome::complete));
    kept.restart();
    CHECK(kept.peek_text(*kept.queue("orders")) == "one");
    auto again = kept.accept("orders", "ada"); // the lock does not survive
    REQUIRE(again->consumer);
    const auto left = kept.pull("orders", *again);
    REQUIRE(left.size() == 1);
    CHECK(facts_of(left[0]).delivery_count == 0);
    CHECK(kept.send("orders", "ada", {"three"}).front() == 3);
}

TEST_CASE("entity restored: delivery counts survive, and the last delivery dead-letters with its "
          "reason") {
    KeptBroker kept;
    kept.create("orders");
    kept.send("orders", "ada", {"bad"});
    for (std::uint32_t count = 0; count < 3; ++count) {
        auto target = kept.accept("orders", "ada");
        const auto got = kept.pull("orders", *target);
        REQUIRE(got.size() == 1);
        CHECK(facts_of(got[0]).delivery_count == count);
        CHECK_FALSE(kept.settle("orders", *target, got[0], Outcome::abandon));
        kept.restart();
    }
    CHECK(kept.peek_text(*kept.queue("orders")).empty());
    const auto dead = kept.dead_letters("orders")->peek(0, 10, std::nullopt, kept.at);
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].text() == "bad");
    CHECK(dead[0].facts().dead_letter->reason == "MaxDeliveryCountExceeded");
    CHECK(dead[0].delivery_count() == 3);
}

TEST_CASE("entity restored: an expired lock counts a delivery, and the count survives") {
    KeptBroker kept;
    kept.create("orders");
    kept.send("orders", "ada", {"slow"});
    auto target = kept.accept("orders", "ada");
    kept.pull("orders", *target);
    kept.pass(31s);
    kept.broker->advance(kept.at);
    CHECK(target->lost == Errc::lock_lost);
    kept.restart();
    CHECK(kept.queue("orders")->peek(0, 1, std::nullopt, kept.at).front().delivery_count() == 1);
}

TEST_CASE("entity restored: dead letters keep their reason and changed properties, whatever "
          "happens to the queue's messages") {
    KeptBroker kept;
    kept.create("orders");
    kept.send("orders", "ada", {"one"});
    auto target = kept.accept("orders", "ada");
    const auto got = kept.pull("orders", *target);
    const Changes changes{.dead_letter = {.reason = "why", .description = "because"},
                          .properties = {{"seen", true}}};
    CHECK_FALSE(kept.settle("orders", *target, got[0], Outcome::dead_letter, changes));
    kept.restart();
    CHECK(kept.peek_text(*kept.queue("orders")).empty());
    const auto dead = kept.dead_letters("orders")->peek(0, 10, std::nullopt, kept.at);
    REQUIRE(dead.size() == 1);
    CHECK(dead[0].facts().dead_letter->reason == "why");
    CHECK(dead[0].facts().dead_letter->description == "because");
    CHECK(dead[0].properties() == Properties{{"seen", true}});
}

TEST_CASE("entity restored: deferred messages stay deferred, with their changed properties") {
    KeptBroker kept;
    kept.create("orders");
    const auto sequences = kept.send("orders", "ada", {"later", "now"});
    auto target = kept.accept("orders", "ada");
    const auto got = kept.pull("orders", *target);
    CHECK_FALSE(kept.settle("orders", *target, got[0], Outcome::defer,
                            {.properties = {{"step", std::int64_t{2}}}}));
    kept.restart();
    auto again = kept.accept("orders", "ada");
    CHECK(QueueFixture::text_of(kept.pull("orders", *again)) == "now");
    std::vector<Delivered> deferred;
    CHECK(kept.queue("orders")
              ->receive_deferred(*again->consumer, std::span{sequences}.first(1), deferred, kept.at)
              .ok());
    REQUIRE(deferred.size() == 1);
    CHECK(deferred[0].message.text() == "later");
    CHECK(deferred[0].message.properties() == Properties{{"step", std::int64_t{2}}});
    CHECK_FALSE(kept.settle("orders", *again, deferred[0], Outcome::complete));
    kept.restart();
    CHECK(kept.peek_text(*kept.queue("orders")) == "now");
}

TEST_CASE("entity restored: scheduled messages keep waiting, overdue ones arrive in order, and "
          "cancelled ones stay cancelled") {
    KeptBroker kept;
    kept.create("orders");
    const auto schedule = [&](std::string_view body, Duration in) {
        Message message = Message::text("ada", body);
        message.scheduled_enqueue_time =
            kept.at.wall + std::chrono::duration_cast<WallTime::duration>(in);
        return kept.send("orders", message);
    };
    schedule("third", 1h);
    schedule("second", 20s);
    schedule("first", 10s);
    const auto cancelled = schedule("never", 15s);
    CHECK(kept.queue("orders")->cancel_scheduled({&cancelled, 1}, kept.at).ok());
    kept.restart(60s);
    auto target = kept.accept("orders", "ada");
    const auto got = kept.pull("orders", *target);
    CHECK(QueueFixture::text_of(got) == "first second");
    CHECK(got[0].message.sequence_number() > 4);
    CHECK(got[0].message.sequence_number() < got[1].message.sequence_number());
    CHECK(kept.queue("orders")->counts(kept.at).scheduled == 1);
    kept.restart();
    CHECK(kept.queue("orders")->counts(kept.at).scheduled == 1);
    kept.pass(2h);
    auto later = kept.accept("orders", "ada");
    CHECK(QueueFixture::text_of(kept.pull("orders", *later)) == "first second third");
}

TEST_CASE("entity restored: time to live passes while the broker is down") {
    KeptBroker kept;
    QueueOptions options = KeptBroker::sessions();
    options.dead_letter_on_expiration = true;
    kept.create("orders", options);
    Message brief = Message::text("ada", "brief");
    brief.time_to_live = std::chrono::seconds{10};
    Message longer = Message::text("ada", "longer");
    longer.time_to_live = std::chrono::seconds{100};
    kept.send("orders", brief);
    kept.send("orders", longer);
    kept.restart(50s);
    CHECK(kept.peek_text(*kept.queue("orders")) == "longer");
    CHECK(kept.peek_text(*kept.dead_letters("orders")) == "brief");
    kept.pass(51s);
    CHECK(kept.peek_text(*kept.dead_letters("orders")) == "brief longer");
    kept.restart();
    CHECK(kept.peek_text(*kept.dead_letters("orders")) == "brief longer");
}

TEST_CASE("entity restored: session state survives without messages until it is cleared") {
    KeptBroker kept;
    kept.create("orders");
    auto ada = kept.accept("orders", "ada");
    auto ben = kept.accept("orders", "ben");
    CHECK(kept.queue("orders")->set_state(*ada->consumer, "state of\0ada", kept.at).ok());
    CHECK(kept.queue("orders")->set_state(*ben->consumer, "state", kept.at).ok());
    CHECK(kept.queue("orders")->set_state(*ben->consumer, std::nullopt, kept.at).ok());
    kept.restart();
    CHECK(kept.queue("orders")->list_sessions(0, 10, kept.at) == std::vector<std::string>{"ada"});
    auto again = kept.accept("orders", "ada");
    CHECK(kept.queue("orders")->get_state(*again->consumer, kept.at).value() == "state of\0ada");
}

TEST_CASE("entity restored: an accepted message id is still a duplicate within the window") {
    KeptBroker kept;
    QueueOptions options = KeptBroker::sessions();
    options.duplicate_detection_window = 60s;
    kept.create("orders", options);
    Message message = Message::text("ada", "once");
    message.message_id = "id";
    const auto sequence = kept.send("orders", message);
    auto target = kept.accept("orders", "ada");
    CHECK_FALSE(
        kept.settle("orders", *target, kept.pull("orders", *target).front(), Outcome::complete));
    kept.restart(30s);
    CHECK(kept.send("orders", message) == sequence);
    CHECK(kept.peek_text(*kept.queue("orders")).empty());
    kept.restart(31s);
    CHECK(kept.send("orders", message) != sequence);
    CHECK(kept.peek_text(*kept.queue("orders")) == "once");
}

TEST_CASE("entity restored: works without sessions, and received-and-deleted messages stay gone") {
    KeptBroker kept;
    kept.create("plain", {.lock_duration = 30s});
    Message one;
    one.body = "one";
    Message two;
    two.body = "two";
    kept.send("plain", one);
    kept.send("plain", two);
    auto target = std::make_shared<RecordingTarget>();
    auto consumer =
        kept.queue("plain")->open(ReceiveMode::receive_and_delete, 0, target, kept.at).value();
    std::vector<Delivered> got;
    kept.queue("plain")->pull(*consumer, 1, got, kept.at);
    kept.restart();
    CHECK(kept.peek_text(*kept.queue("plain")) == "two");
}

TEST_CASE("broker restored: a queue returns with its options, takes new ones when created again, "
          "and keeps its kind") {
    KeptBroker kept;
    QueueOptions options = KeptBroker::sessions();
    options.max_delivery_count = 7;
    kept.create("orders", options);
    kept.create("other", {.lock_duration = 30s});
    kept.send("orders", "ada", {"one"});
    kept.restart();
    CHECK(kept.broker->names(broker::EntityKind::queue) ==
          std::vector<std::string>{"orders", "other"});
    const auto refused = kept.broker->create_queue("other", options, kept.at);
    CHECK(refused.failure().code == Errc::invalid_option);
    CHECK(refused.failure().detail.find("'other'") != std::string::npos);
    CHECK(kept.broker->create_topic("other", {}, kept.at).failure().code == Errc::invalid_option);
    CHECK(kept.queue("orders")->options() == options);
    CHECK(kept.broker->create_queue("orders", options, kept.at).failure().code ==
          Errc::duplicate_entity); // it was used already
    CHECK(kept.broker->create_queue("other", {}, kept.at).failure().code == Errc::duplicate_entity);
    kept.restart();
    options.max_delivery_count = 8;
    kept.create("orders", options);
    CHECK(kept.queue("orders")->options().max_delivery_count == 8);
    CHECK(kept.peek_text(*kept.queue("orders")) == "one");
    kept.restart();
    CHECK(kept.queue("orders")->options().max_delivery_count == 8);
}

TEST_CASE("broker restored: a deleted queue and its messages stay deleted, and a new one of that "
          "name starts empty") {
    KeptBroker kept;
    kept.create("orders");
    kept.create("gone");
    kept.send("orders", "ada", {"one"});
    auto holder = kept.accept("orders", "ada");
    kept.pull("orders", *holder);
    CHECK(kept.broker->delete_entity("orders", kept.at).ok());
    CHECK(kept.broker->delete_entity("gone", kept.at).ok());
    kept.create("orders");
    kept.send("orders", "ada", {"new"});
    kept.restart();
    CHECK(kept.broker->names(broker::EntityKind::queue) == std::vector<std::string>{"orders"});
    CHECK(kept.peek_text(*kept.queue("orders")) == "new");
    CHECK(kept.broker->delete_entity("orders", kept.at).ok()); // not used before
    kept.restart();
    CHECK(kept.broker->names(broker::EntityKind::queue).empty());
}

TEST_CASE("broker restored: topics forward to their subscriptions by their rules, even if not "
          "created again") {
    KeptBroker kept;
    REQUIRE(kept.broker->create_topic("news", {}, kept.at).ok());
    REQUIRE(
        kept.broker->create_subscription("news", "all", KeptBroker::sessions(), {}, kept.at).ok());
    REQUIRE(kept.broker
                ->create_subscription(
                    "news", "some", KeptBroker::sessions(),
                    {{.name = "rule", .filter = CorrelationFilter{.subject = "s"}}}, kept.at)
                .ok());
    kept.send("news", "ada", {"before"});
    Message later = Message::text("ada", "later");
    later.scheduled_enqueue_time = kept.at.wall + std::chrono::seconds{10};
    kept.send("news", later);
    kept.restart(60s); // became due meanwhile
    kept.broker->begin(kept.at);
    CHECK(kept.broker->names(EntityKind::topic) == std::vector<std::string>{"news"});
    CHECK(kept.broker->names(EntityKind::subscription) ==
          std::vector<std::string>{"news/Subscriptions/all", "news/Subscriptions/some"});
    CHECK(kept.queue("NEWS/subscriptions/ALL")->kind() == EntityKind::subscription);
    Message matching = Message::text("ada", "after");
    matching.subject = "s";
    kept.send("news", matching);
    CHECK(kept.peek_text(*kept.queue("news/Subscriptions/all")) == "before later after");
    CHECK(kept.peek_text(*kept.queue("news/Subscriptions/some")) == "after");
    CHECK(kept.peek_text(*kept.queue("news")).empty());
    CHECK(kept.broker->delete_entity("news", kept.at).ok());
    kept.restart();
    CHECK(kept.broker->names(EntityKind::subscription).empty());
}

TEST_CASE("broker restored: changed rules survive if the subscription is created as before, and "
          "are replaced otherwise") {
    KeptBroker kept;
    const std::vector<Rule> declared{{.name = "declared", .filter = SqlFilter{"a = 1"}}};
    const auto make = [&](const std::vector<Rule>& rules) {
        REQUIRE(kept.broker->create_topic("news", {}, kept.at).ok());
        REQUIRE(kept.broker->create_subscription("news", "all", {}, rules, kept.at).ok());
    };
    const auto rules = [&] { return kept.queue("news/Subscriptions/all")->rules()->list(); };
    make(declared);
    REQUIRE(kept.queue("news/Subscriptions/all")
                ->rules()
                ->add({.name = "added", .action = "SET b = 2"})
                .ok());
    REQUIRE(kept.queue("news/Subscriptions/all")->rules()->remove("declared").ok());
    const std::vector<Rule> changed{{.name = "added", .action = "SET b = 2"}};
    kept.restart();
    CHECK(rules() == changed);
    kept.restart();
    make(declared);
    CHECK(rules() == changed);
    kept.restart();
    const std::vector<Rule> other{{.name = "other", .filter = FalseFilter{}}};
    make(other);
    CHECK(rules() == other);
    kept.restart();
    CHECK(rules() == other);
}

TEST_CASE("broker restored: a message on its way to another queue arrives there") {
    KeptBroker kept;
    kept.create("target", {});
    kept.create("source", {.forward_to = "target"});
    Message later;
    later.body = "later";
    later.scheduled_enqueue_time = kept.at.wall + std::chrono::seconds{10};
    kept.send("source", later);
    kept.restart(60s);
    kept.broker->begin(kept.at);
    CHECK(kept.peek_text(*kept.queue("target")) == "later");
    kept.restart();
    kept.broker->begin(kept.at);
    CHECK(kept.peek_text(*kept.queue("target")) == "later");
    CHECK(kept.peek_text(*kept.queue("source")).empty());
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
    std::vector<Message> messages(3, Message::text("ada", "x"));
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
        std::vector<Message> messages(1, Message::text("ada", "x"));
        return to.send(std::move(messages), at);
    };
    Message later = Message::text("ada", "later");
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
        std::vector<Message> messages(4, Message::text("ada", "x"));
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
        std::vector<Message> messages(1, Message::text("ada", "x"));
        messages[0].scheduled_enqueue_time = at.wall + delay;
        return queue->send(std::move(messages), at);
    };
    const auto soon = schedule(1min).value().front();
    const auto late = schedule(1h).value().front();
    std::vector<Message> messages(2, Message::text("ada", "x"));
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
    KeptBroker kept;
    kept.create("orders");
    kept.send("orders", "ada", {"one"});
    kept.broker.reset();
    auto opened =
        StoreJournal::open(kept.directory.path() / "data",
                           std::make_shared<const server::StoredContent>(amqp::ClockReading{}),
                           kept.at.wall, core::system_clock())
            .value();
    const auto journal = std::make_shared<HeldJournal>();
    journal->last_id = 2;
    journal->full = true;
    Broker broker{journal, std::move(opened.kept), kept.at};
    const auto refused = broker.create_queue("new", {}, kept.at);
    CHECK(refused.failure().code == Errc::quota_exceeded);
    CHECK(refused.failure().detail.find("'new'") != std::string::npos);
    CHECK(broker.create_topic("news", {}, kept.at).failure().code == Errc::quota_exceeded);
    QueueOptions options = KeptBroker::sessions();
    options.max_delivery_count = 7;
    CHECK(broker.create_queue("orders", options, kept.at).ok());
    CHECK(broker.find("orders").value()->counts(kept.at).active == 1);
    CHECK(broker.delete_entity("orders", kept.at).ok());
    CHECK(broker.create_queue("orders", options, kept.at).failure().code == Errc::quota_exceeded);

    broker.begin(kept.at);
    journal->full = false;
    REQUIRE(broker.create_topic("news", {}, kept.at).ok());
    REQUIRE(broker.create_queue("to", {}, kept.at).ok());
    REQUIRE(broker.create_queue("from", {.forward_to = "to"}, kept.at).ok());
    REQUIRE(broker.create_subscription("news", "all", {}, {}, kept.at).ok());
    std::vector<Message> later(1, Message::text("ada", "x"));
    later[0].scheduled_enqueue_time = kept.at.wall + 1min;
    REQUIRE(broker.find("from").value()->send(later, kept.at).ok());
    REQUIRE(broker.find("news").value()->send(later, kept.at).ok());
    journal->full = true;
    CHECK(broker.create_subscription("news", "more", {}, {}, kept.at).failure().code ==
          Errc::quota_exceeded);
    kept.pass(2min);
    broker.advance(kept.at);
    CHECK(broker.find("to").value()->counts(kept.at).active == 1);
    CHECK(broker.find("news/Subscriptions/all").value()->counts(kept.at).active == 1);
    CHECK(broker.find("from").value()->counts(kept.at).active == 0);
}

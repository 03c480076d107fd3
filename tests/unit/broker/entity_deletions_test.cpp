// SPDX-License-Identifier: MIT
#include "broker/entity_deletions.hpp"

#include <doctest/doctest.h>

#include "broker/entity_state.hpp"
#include "support/held_journal.hpp"
#include "unit/broker/queue_fixture.hpp"
#include "unit/broker/restartable_broker.hpp"

using namespace sessionq;
using namespace sessionq::test;
using broker::Outcome;

namespace {

struct DeletionFixture : QueueFixture {
    using QueueFixture::QueueFixture;
    using QueueFixture::send;

    std::uint32_t remove(std::uint32_t max, std::optional<std::string> session = std::nullopt) {
        return remove_from(*queue, max, std::move(session));
    }
    /// Of the messages that are there now.
    std::uint32_t remove_from(broker::Queue& from, std::uint32_t max,
                              std::optional<std::string> session = std::nullopt) {
        return from
            .delete_messages({.max = max,
                              .enqueued_before = at.wall + WallTime::duration{1},
                              .session_id = std::move(session)},
                             at)
            .value();
    }
    std::uint32_t remove_before(WallTime before) {
        return queue->delete_messages({.max = 100, .enqueued_before = before}, at).value();
    }
    std::shared_ptr<RecordingTarget> open(broker::Queue& of) {
        auto target = std::make_shared<RecordingTarget>();
        target->consumer = of.open(broker::ReceiveMode::peek_lock, 0, target, at).value();
        return target;
    }
};

const broker::QueueOptions plain{.lock_duration = QueueFixture::lock_duration};

} // namespace

TEST_CASE("deletion: the oldest messages go first, and their count is told") {
    DeletionFixture f;
    f.send("a", {"1"});
    f.send("b", {"2"});
    f.send("a", {"3", "4"});
    CHECK(f.remove(0) == 0);
    CHECK(f.remove(3) == 3);
    CHECK(f.peek_text(*f.queue) == "4");
    CHECK(f.remove(100) == 1);
    CHECK(f.remove(100) == 0);
    CHECK(f.count(*f.queue) == 0);
    CHECK(f.queue->counts(f.at).bytes == 0);
    CHECK(f.queue->list_sessions(0, 10, f.at).empty());
}

TEST_CASE("deletion: only messages that were enqueued before the instant go") {
    DeletionFixture f;
    f.send("a", {"old"});
    f.pass(1s);
    const WallTime then = f.at.wall;
    f.send("a", {"then"});
    f.pass(1s);
    f.send("a", {"new"});
    CHECK(f.remove_before(then) == 1);
    CHECK(f.peek_text(*f.queue) == "then new");
    CHECK(f.remove_before(f.at.wall) == 1);
    CHECK(f.peek_text(*f.queue) == "new");
}

TEST_CASE("deletion: a session's messages go alone, also dead letters, which keep their session") {
    DeletionFixture f;
    f.send("a", {"1", "2"});
    f.send("b", {"3"});
    f.send("a", {"4"});
    CHECK(f.remove(2, "a") == 2);
    CHECK(f.remove(100, "c") == 0);
    CHECK(f.peek_text(*f.queue) == "3 4");
    const auto a = f.accept("a");
    const auto b = f.accept("b");
    for (const auto& holder : {a, b}) {
        CHECK_FALSE(f.settle(*holder, f.pull(*holder).at(0), Outcome::dead_letter));
    }
    CHECK(f.remove_from(*f.dead_letters, 100, "b") == 1);
    CHECK(f.peek_text(*f.dead_letters) == "4");
}

TEST_CASE("deletion: what the holder of a session has received stays, and the rest goes") {
    DeletionFixture f;
    f.send("a", {"1", "2", "3"});
    const auto a = f.accept("a");
    const auto held = f.pull(*a, 1);
    CHECK(f.remove(100) == 2);
    CHECK(f.peek_text(*f.queue) == "1");
    CHECK_FALSE(f.settle(*a, held.at(0), Outcome::abandon)); // it comes again
    CHECK(f.pull_text(*a) == "1");
    f.close(*a);
    CHECK(f.remove(100) == 1);
    CHECK(f.accept("a")->consumer);
}

TEST_CASE("deletion: a holder of a session that lost its messages is notified of new ones") {
    DeletionFixture f;
    f.send("a", {"1"});
    const auto a = f.accept("a");
    CHECK(f.remove(100) == 1);
    CHECK(f.pull(*a).empty());
    f.send("a", {"2"});
    CHECK(a->notified == 1);
    CHECK(f.pull_text(*a) == "2");
}

TEST_CASE("deletion: deferred and scheduled messages stay") {
    DeletionFixture f;
    f.send("a", {"deferred"});
    const auto a = f.accept("a");
    const auto deferred = f.pull(*a);
    CHECK_FALSE(f.settle(*a, deferred.at(0), Outcome::defer));
    Message later = Message::of("scheduled").in_session("a");
    later.scheduled_enqueue_time = f.at.wall + 1h;
    f.send(std::move(later));
    f.send("a", {"active"});
    CHECK(f.remove(100) == 1);
    CHECK(f.peek_text(*f.queue) == "deferred scheduled");
    f.pass_and_advance(2h);
    CHECK(f.remove(100) == 1); // it was due
    CHECK(f.peek_text(*f.queue) == "deferred");
}

TEST_CASE("deletion: without sessions, messages with a lock stay until it ends") {
    DeletionFixture f{plain};
    f.send("", {"1", "2", "3"});
    const auto consumer = f.open(*f.queue);
    CHECK(f.pull(*consumer, 1).size() == 1);
    CHECK(f.remove(100) == 2);
    f.pass_and_advance(QueueFixture::lock_duration + 1s);
    CHECK(f.remove(100) == 1);
    CHECK(f.pull(*consumer).empty());
    f.send("", {"4"});
    CHECK(f.pull_text(*consumer) == "4");
}

TEST_CASE("deletion: in a queue that orders by priority the oldest messages go first too") {
    DeletionFixture f{{.order = MessageOrder::priority}};
    f.send(Message{.body = "low", .priority = 1});
    f.send(Message{.body = "high", .priority = 9});
    f.send(Message{.body = "middle", .priority = 4});
    CHECK(f.remove(1) == 1);
    const auto consumer = f.open(*f.queue);
    CHECK(f.pull_text(*consumer) == "high middle");
}

TEST_CASE("deletion: a full queue takes messages again") {
    DeletionFixture f{{.requires_session = true, .max_size_bytes = 800}};
    f.send("a", {std::string(200, 'x')});
    std::vector<Message> one(1, Message::of(std::string(200, 'x')).in_session("a"));
    CHECK(f.queue->send(one, f.at).failure().code == Errc::quota_exceeded);
    CHECK(f.remove(100) == 1);
    CHECK(f.queue->send(one, f.at).ok());
}

TEST_CASE("deletion: a call deletes 4,000 messages at most, in turns") {
    DeletionFixture f;
    std::vector<Message> messages(4'600, Message::of("x").in_session("a"));
    CHECK(f.queue->send(std::move(messages), f.at).ok());
    const broker::DeleteSpec all{.max = 5'000, .enqueued_before = f.at.wall + 1h};
    const auto turn = f.queue->delete_some(all, f.at).value();
    CHECK(turn.count == 250);
    CHECK(turn.searched_to == 251);
    CHECK_FALSE(turn.is_complete);
    CHECK(f.queue->delete_messages(all, f.at).value() == broker::most_deleted);
    CHECK(f.count(*f.queue) == 350);
}

TEST_CASE("deletion: a search behind many messages that stay is done in turns") {
    DeletionFixture f;
    const auto count = static_cast<std::uint32_t>(broker::messages_a_search);
    std::vector<Message> held(count, Message::of("x").in_session("a"));
    CHECK(f.queue->send(std::move(held), f.at).ok());
    const auto a = f.accept("a");
    CHECK(f.pull(*a, count).size() == count);
    f.send("b", {"1"});
    const auto turn = f.queue->delete_some({.max = 1, .enqueued_before = f.at.wall + 1h}, f.at);
    CHECK(turn.value().count == 0);
    CHECK_FALSE(turn.value().is_complete);
    CHECK(f.remove(1) == 1);
    CHECK(f.count(*f.queue) == count);
}

TEST_CASE("deletion: what cannot be received from cannot be deleted from") {
    DeletionFixture f;
    CHECK(f.broker.create_topic("news", {}, f.at).ok());
    CHECK(f.broker.create_queue("on", {.forward_to = "orders"}, f.at).ok());
    const broker::DeleteSpec all{.max = 10, .enqueued_before = f.at.wall};
    for (const char* const name : {"news", "on"}) {
        CAPTURE(name);
        const auto queue = f.broker.find(name).value();
        CHECK(queue->delete_messages(all, f.at).failure().code == Errc::not_supported);
    }
    CHECK(f.broker.delete_entity("on", f.at).ok());
    CHECK(f.broker.delete_entity("orders", f.at).ok());
    CHECK(f.queue->delete_messages(all, f.at).failure().code == Errc::entity_not_found);
}

TEST_CASE("deletion: dead letters that could not be forwarded are deleted") {
    DeletionFixture f;
    CHECK(f.broker.create_queue("graves", {}, f.at).ok());
    CHECK(f.broker.create_queue("source", {.forward_dead_letters_to = "graves"}, f.at).ok());
    CHECK(f.broker.delete_entity("graves", f.at).ok());
    const auto source = f.broker.find("source").value();
    CHECK(source->send(std::vector{Message{.body = "1"}}, f.at).ok());
    const auto consumer = f.open(*source);
    std::vector<broker::Delivered> got;
    source->pull(*consumer->consumer, 1, got, f.at);
    broker::SettleOrder order{.token = got.at(0).token, .outcome = Outcome::dead_letter};
    source->settle(*consumer->consumer, {&order, 1}, f.at);
    const auto dead = f.broker.find("source/$DeadLetterQueue").value();
    CHECK(f.count(*dead) == 1);
    CHECK(f.remove_from(*dead, 10) == 1);
    source->close(*consumer->consumer, f.at);
}

TEST_CASE("deletion: it survives a restart") {
    RestartableBroker host;
    host.create("orders");
    host.send("orders", "a", {"1", "2"});
    host.send("orders", "b", {"3"});
    const broker::DeleteSpec two{.max = 2, .enqueued_before = host.at.wall + 1s};
    CHECK(host.queue("orders")->delete_messages(two, host.at).value() == 2);
    host.restart();
    CHECK(host.peek_text(*host.queue("orders")) == "3");
    CHECK(host.send("orders", "a", {"4"}).front() == 4);
    CHECK(host.queue("orders")->list_sessions(0, 10, host.at) ==
          std::vector<std::string>{"b", "a"});
}

TEST_CASE("deletion: while the journal is failing nothing is deleted") {
    auto journal = std::make_shared<HeldJournal>();
    const broker::Instant at{TimePoint{1h}, WallTime{1h}};
    broker::Broker broker{journal, {}, at};
    static_cast<void>(broker.create_queue("orders", {.requires_session = true}, at).value());
    const auto queue = broker.find("orders").value();
    std::vector<Message> two(2, Message::of("x").in_session("a"));
    CHECK(queue->send(std::move(two), at).ok());
    const broker::DeleteSpec one{.max = 1, .enqueued_before = at.wall + 1h};
    journal->failing = true;
    CHECK(queue->delete_messages(one, at).failure().code == Errc::server_busy);
    journal->failing = false;
    CHECK(queue->delete_messages(one, at).value() == 1);
    CHECK(journal->count<broker::MessageRemoved>() == 1);
}

// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "broker/store/change_writer.hpp"
#include "broker/store/schema.hpp"
#include "broker/store/store_reader.hpp"
#include "server/stored_content.hpp"

using namespace sessionq;
using namespace sessionq::broker;

namespace {

const WallTime written_at{std::chrono::hours{24 * 365 * 50}};

/// A store in memory.
struct WrittenStore {
    WrittenStore() { CHECK(damage.empty()); }

    void commit(std::vector<Change> changes) {
        ChangeSet set;
        for (Change& change : changes) {
            set.add(std::move(change));
        }
        writer.commit(set);
    }
    /// What is wrong with it, after each table was compared with the ledger.
    std::string wrong() {
        DamageReport found;
        queues = read_store(database, codec, written_at, found).queues;
        return found.text();
    }
    static DurableMessage message(std::int64_t sequence, const char* body = "body") {
        return {.entity = 1,
                .sequence = sequence,
                .content = std::make_shared<DecodedContent>(Message::of(body).in_session("s")),
                .enqueued_time = written_at};
    }
    Database& prepared() {
        CHECK_FALSE(prepare_store(database, "memory", false, damage));
        return database;
    }

    server::StoredContent codec{amqp::ClockReading{.wall = written_at}};
    DamageReport damage{};
    Database database{":memory:"};
    ChangeWriter writer{prepared(), codec, {}};
    std::vector<DurableQueue> queues{};
};

MessageIdTaken taken(const char* id, std::int64_t sequence, std::chrono::seconds until) {
    return {.entity = 1,
            .message_id = id,
            .sequence = sequence,
            .at = written_at,
            .until = written_at + until};
}

} // namespace

TEST_CASE("ChangeWriter: keeps where a message was forwarded from, through all its changes") {
    WrittenStore store;
    auto message = WrittenStore::message(1);
    message.first_sequence = 77;
    message.dead_letter = std::make_shared<const DeadLetterInfo>(
        DeadLetterInfo{.reason = "bad", .source = "other orders"});
    store.commit({QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"},
                  MessageAdded{message}, MessageForwarded{.entity = 1, .sequence = 1, .to = 8}});
    message.delivery_count = 4;
    store.commit({MessageChanged{message}, MessageForwarded{.entity = 1, .sequence = 1, .to = 9}});
    CHECK(store.wrong() == "");
    const DurableMessage& read = store.queues.at(0).queue.messages.at(0);
    CHECK(read.first_sequence == 77);
    CHECK(read.dead_letter->reason == "bad");
    CHECK(read.dead_letter->source == "other orders");
    CHECK(read.forwarded_to == std::vector<EntityId>{8, 9});
}

TEST_CASE("ChangeWriter: whatever is written, the ledger and the checksums match the rows") {
    WrittenStore store;
    CHECK(store.wrong() == "");
    store.commit({QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"},
                  MessageAdded{WrittenStore::message(1)}, MessageAdded{WrittenStore::message(2)},
                  MessageAdded{WrittenStore::message(3)}});
    CHECK(store.wrong() == "");
    CHECK(store.writer.ledger().of<MessageRow>().rows == 3);
    CHECK(store.writer.ledger().commits == 1);
    store.commit({MessageAdded{WrittenStore::message(2, "again")}, // replaces the row
                  MessageRemoved{.entity = 1, .sequence = 1},
                  MessageRemoved{.entity = 1, .sequence = 99}}); // not there
    CHECK(store.wrong() == "");
    CHECK(store.writer.ledger().of<MessageRow>().rows == 2);
    CHECK(store.queues.at(0).queue.messages.at(0).content->body() == "again");

    auto changed = WrittenStore::message(3);
    changed.content = nullptr;
    changed.delivery_count = 4;
    store.commit({MessageChanged{changed}, MessageForwarded{.entity = 1, .sequence = 3, .to = 8}});
    changed.content = WrittenStore::message(3, "new").content;
    store.commit({MessageChanged{changed}, MessageForwarded{.entity = 1, .sequence = 3, .to = 9}});
    CHECK(store.wrong() == "");
    const DurableMessage& read = store.queues.at(0).queue.messages.at(1);
    CHECK(read.content->body() == "new");
    CHECK(read.delivery_count == 4);
    CHECK(read.forwarded_to == std::vector<EntityId>{8, 9});

    store.commit({SessionStateSet{.entity = 1, .session_id = "s", .state = "1"},
                  SessionStateSet{.entity = 1, .session_id = "t", .state = "1"}});
    store.commit({SessionStateSet{.entity = 1, .session_id = "s", .state = "2"},
                  SessionStateSet{.entity = 1, .session_id = "t"},
                  SessionStateSet{.entity = 1, .session_id = "u"}});
    CHECK(store.wrong() == "");
    CHECK(store.writer.ledger().of<SessionStateRow>().rows == 1);
    CHECK(store.queues.at(0).queue.states.at(0).state == "2");

    store.commit({taken("a", 1, std::chrono::seconds{10})});
    store.commit({taken("a", 2, std::chrono::seconds{20})}); // replaces the row
    CHECK(store.wrong() == "");
    CHECK(store.queues.at(0).queue.taken_ids.at(0).sequence == 2);

    store.commit({QueueOptionsChanged{.queue = 1, .options = {.max_delivery_count = 3}},
                  RulesDeclared{.queue = 1, .rules = {{.name = "all"}}}});
    store.commit({RulesChanged{.queue = 1, .rules = {}}});
    CHECK(store.wrong() == "");
    CHECK(store.queues.at(0).options.max_delivery_count == 3);
    CHECK(store.queues.at(0).declared_rules.size() == 1);
    CHECK(store.queues.at(0).rules.empty());

    store.commit({QueueRemoved{.queue = 1, .dead_letters = 2}});
    CHECK(store.wrong() == "");
    for (const TableSum& sum : store.writer.ledger().sums) {
        CHECK(sum == TableSum{});
    }
}

TEST_CASE("ChangeWriter: forgotten message ids leave the ledger") {
    WrittenStore store;
    store.commit({QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"}});
    for (int i = 0; i < 1000; ++i) {
        store.commit({taken(std::to_string(i).c_str(), i,
                            std::chrono::seconds{i < 400 ? 0 : 60})}); // the last one forgets 400
    }
    CHECK(store.writer.ledger().of<TakenIdRow>().rows == 600);
    CHECK(store.wrong() == "");
}

TEST_CASE("ChangeWriter: what is not committed is not in the ledger") {
    WrittenStore store;
    store.commit({QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"}});
    const Ledger before = store.writer.ledger();
    store.database.run("PRAGMA max_page_count = " +
                       std::to_string(store.database.number("PRAGMA page_count")));
    CHECK_THROWS_AS(
        store.commit({MessageAdded{WrittenStore::message(1)},
                      MessageAdded{WrittenStore::message(2, std::string(100'000, 'x').c_str())}}),
        DatabaseError);
    CHECK(store.writer.ledger().commits == before.commits);
    CHECK(store.writer.ledger().sums == before.sums);
    store.database.run("PRAGMA max_page_count = 1000");
    store.commit({MessageAdded{WrittenStore::message(1)}});
    CHECK(store.wrong() == "");
}

TEST_CASE("ChangeWriter: a change does not make a damaged row look sound") {
    WrittenStore store;
    store.commit({QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"},
                  MessageAdded{WrittenStore::message(1)}});
    store.database.run("UPDATE messages SET content = x'0102'");
    auto changed = WrittenStore::message(1);
    changed.content = nullptr;
    changed.delivery_count = 4;
    store.commit({MessageChanged{changed}});
    CHECK(store.wrong() == "messages: message 1 of 'orders' was altered");
}

TEST_CASE("read_store: lost, doubled, exchanged and restored rows are noticed") {
    WrittenStore store;
    store.commit({QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"},
                  MessageAdded{WrittenStore::message(1)}, MessageAdded{WrittenStore::message(2)},
                  SessionStateSet{.entity = 1, .session_id = "s", .state = "1"}});
    const auto run = [&store](const char* statements) { store.database.run(statements); };
    SUBCASE("lost") {
        run("DELETE FROM messages WHERE sequence = 1");
        CHECK(store.wrong() == "messages: 1 of 2 rows are missing");
    }
    SUBCASE("came back") {
        run("CREATE TABLE former AS SELECT * FROM messages");
        store.commit({MessageRemoved{.entity = 1, .sequence = 1}});
        run("INSERT OR IGNORE INTO messages SELECT * FROM former; DROP TABLE former");
        CHECK(store.wrong() == "messages: 1 rows came back");
    }
    SUBCASE("an older version") {
        run("CREATE TABLE former AS SELECT * FROM session_states");
        store.commit({SessionStateSet{.entity = 1, .session_id = "s", .state = "2"}});
        run("INSERT OR REPLACE INTO session_states SELECT * FROM former; DROP TABLE former");
        CHECK(store.wrong() == "session_states: rows were lost, and others came back or are of an "
                               "older version");
    }
    SUBCASE("exchanged keys") {
        run("UPDATE messages SET sequence = 9 WHERE sequence = 1;"
            "UPDATE messages SET sequence = 1 WHERE sequence = 2;"
            "UPDATE messages SET sequence = 2 WHERE sequence = 9");
        CHECK(store.wrong() == "messages: message 1 of 'orders' was altered; messages: message 2 "
                               "of 'orders' was altered");
        CHECK(store.queues.at(0).queue.messages.empty());
    }
    SUBCASE("an altered row of each table") {
        store.commit({taken("a", 1, std::chrono::seconds{10})});
        run("UPDATE session_states SET state = 'x'; UPDATE taken_ids SET until = until + 1;"
            "UPDATE entities SET last_sequence = 0 WHERE id = 1");
        CHECK(store.wrong() == "entities: the last sequence number of 'orders' was altered; "
                               "session_states: session 's' of 'orders' was altered; "
                               "taken_ids: message id 'a' of 'orders' was altered");
        run("UPDATE queues SET kind = 1");
        CHECK(store.wrong().starts_with("queues: 'orders' with id 1 was altered"));
    }
    SUBCASE("the ledger") {
        run("UPDATE ledger SET commits = commits + 1");
        CHECK(store.wrong() ==
              "ledger: it is missing or was altered; missing rows cannot be noticed");
        run("DELETE FROM ledger");
        CHECK(store.wrong() ==
              "ledger: it is missing or was altered; missing rows cannot be noticed");
    }
}

namespace {

/// A store with a topic, two subscriptions and a queue, and one long content that goes to all.
struct StoreOfTopic : WrittenStore {
    StoreOfTopic() {
        commit({QueueCreated{.queue = 1, .dead_letters = 2, .name = "t", .kind = EntityKind::topic},
                QueueCreated{.queue = 3, .dead_letters = 4, .name = "t/a"},
                QueueCreated{.queue = 5, .dead_letters = 6, .name = "t/b"}});
    }
    [[nodiscard]] MessageAdded added(EntityId entity, std::int64_t sequence) const {
        return {{.entity = entity,
                 .sequence = sequence,
                 .content = content,
                 .enqueued_time = written_at + std::chrono::seconds{entity}}};
    }
    std::int64_t count(const char* what) {
        return database.number(std::string{"SELECT count(*) FROM "} + what);
    }
    /// How many contents of their own the messages have.
    std::int64_t inlined() { return count("messages WHERE typeof(content) = 'blob'"); }
    /// All messages, by queue: content 0 is that of the first message.
    std::vector<MessageContentPtr> read() {
        CHECK(wrong() == "");
        std::vector<MessageContentPtr> contents;
        for (const DurableQueue& queue : queues) {
            for (const DurableEntity* entity : {&queue.queue, &queue.dead_letters}) {
                for (const DurableMessage& message : entity->messages) {
                    contents.push_back(message.content);
                }
            }
        }
        return contents;
    }

    const MessageContentPtr content =
        std::make_shared<DecodedContent>(Message::of(std::string(2000, 'x')).in_session("s"));
};

} // namespace

TEST_CASE("ChangeWriter: a long content that goes to several messages is stored once, and restored "
          "once") {
    StoreOfTopic store;
    SUBCASE("in one commit") { store.commit({store.added(3, 1), store.added(5, 1)}); }
    SUBCASE("after its topic's message") {
        store.commit({store.added(1, 1)});
        store.commit({store.added(3, 1), MessageForwarded{.entity = 1, .sequence = 1, .to = 3}});
        store.commit({store.added(5, 1), MessageRemoved{.entity = 1, .sequence = 1}});
    }
    CHECK(store.count("contents") == 1);
    CHECK(store.inlined() == 0);
    const auto contents = store.read();
    REQUIRE(contents.size() == 2);
    CHECK(contents[0] == contents[1]);
    CHECK(contents[0]->body() == store.content->body());
}

TEST_CASE("ChangeWriter: a shared content stays until no message uses it") {
    StoreOfTopic store;
    store.commit({store.added(3, 1), store.added(5, 1)});
    store.commit({MessageRemoved{.entity = 3, .sequence = 1}});
    CHECK(store.count("contents") == 1);
    CHECK(store.read().size() == 1);
    SUBCASE("until the last message is removed") {
        store.commit({MessageRemoved{.entity = 5, .sequence = 1}});
    }
    SUBCASE("until the last entity is removed") {
        store.commit({QueueRemoved{.queue = 5, .dead_letters = 6}});
    }
    SUBCASE("until the last message has another content") {
        auto changed = store.added(5, 1).message;
        changed.content = WrittenStore::message(1).content;
        store.commit({MessageChanged{changed}});
        CHECK(store.read().at(0)->body() == "body");
    }
    SUBCASE("until the last message is replaced") {
        auto other = store.added(5, 1);
        other.message.content = WrittenStore::message(1).content;
        store.commit({other});
        CHECK(store.read().at(0)->body() == "body");
    }
    CHECK(store.count("contents") == 0);
    CHECK(store.writer.ledger().of<ContentRow>() == TableSum{});
    CHECK(store.wrong() == "");
}

TEST_CASE("ChangeWriter: a content of one message, or a short one, is stored with its message") {
    StoreOfTopic store;
    store.commit({store.added(3, 1)});
    const auto small = WrittenStore::message(1).content;
    for (const EntityId entity : {1U, 5U}) {
        auto added = store.added(entity, 2);
        added.message.content = small;
        store.commit({added});
    }
    CHECK(store.count("contents") == 0);
    CHECK(store.inlined() == 3);
    CHECK(store.read().size() == 3);
}

TEST_CASE("ChangeWriter: a message that moves takes its content along, also in one commit") {
    StoreOfTopic store;
    store.commit({store.added(3, 1), store.added(5, 1)});
    store.commit({MessageRemoved{.entity = 3, .sequence = 1}, store.added(4, 1),
                  MessageRemoved{.entity = 5, .sequence = 1}, store.added(6, 1)});
    CHECK(store.database.number("SELECT max(id) FROM contents") == 1); // the same row
    auto changed = store.added(4, 1).message; // a change that leaves the content
    changed.content = nullptr;
    changed.delivery_count = 3;
    store.commit({MessageChanged{changed}});
    store.commit({MessageChanged{store.added(6, 1).message}}); // the same content
    CHECK(store.count("contents") == 1);
    const auto contents = store.read();
    REQUIRE(contents.size() == 2);
    CHECK(contents[0] == contents[1]);
    store.commit({MessageRemoved{.entity = 4, .sequence = 1}});
    store.commit({MessageRemoved{.entity = 6, .sequence = 1}});
    CHECK(store.count("contents") == 0);
}

TEST_CASE("ChangeWriter: a content that was read is shared further, and its users are known") {
    StoreOfTopic store;
    store.commit({store.added(3, 1), store.added(5, 1)});
    DamageReport found;
    StoreContents read = read_store(store.database, store.codec, written_at, found);
    auto moved = store.added(4, 1);
    moved.message.content = read.queues.at(1).queue.messages.at(0).content;
    ChangeWriter next{store.database, store.codec, std::move(read.shared)};
    const auto commit = [&next](std::vector<Change> changes) {
        ChangeSet set;
        for (Change& change : changes) {
            set.add(std::move(change));
        }
        next.commit(set);
    };
    commit({moved, MessageRemoved{.entity = 3, .sequence = 1}});
    CHECK(store.count("contents") == 1);
    CHECK(store.inlined() == 0);
    commit({MessageRemoved{.entity = 5, .sequence = 1}});
    CHECK(store.count("contents") == 1);
    commit({MessageRemoved{.entity = 4, .sequence = 1}});
    CHECK(store.count("contents") == 0);
    commit({store.added(3, 2), store.added(5, 2)});
    CHECK(store.database.number("SELECT max(id) FROM contents") == 2); // no id is used again
    CHECK(store.wrong() == "");
}

TEST_CASE("ChangeWriter: what is not committed neither shares a content nor gives one up") {
    StoreOfTopic store;
    store.commit({store.added(3, 1), store.added(5, 1)});
    store.database.run("PRAGMA max_page_count = " +
                       std::to_string(store.database.number("PRAGMA page_count")));
    const auto other =
        std::make_shared<DecodedContent>(Message::of(std::string(100'000, 'y')).in_session("s"));
    auto a = store.added(3, 2);
    auto b = store.added(5, 2);
    a.message.content = b.message.content = other;
    const std::vector<Change> changes{MessageRemoved{.entity = 3, .sequence = 1},
                                      MessageRemoved{.entity = 5, .sequence = 1}, a, b};
    CHECK_THROWS_AS(store.commit(changes), DatabaseError);
    CHECK(store.read().size() == 2);
    CHECK(store.count("contents") == 1);
    store.database.run("PRAGMA max_page_count = 1000");
    store.commit(changes);
    CHECK(store.count("contents") == 1);
    CHECK(store.read().at(1)->body() == other->body());
}

TEST_CASE("ChangeWriter: the deadline of a shared content counts from its first message") {
    StoreOfTopic store;
    Message message = Message::of(std::string(2000, 'x')).in_session("s");
    message.deadline = Deadline::after(std::chrono::minutes{5}, TimePoint{});
    const auto limited = std::make_shared<DecodedContent>(std::move(message));
    for (const EntityId entity : {1U, 3U, 5U}) {
        auto added = store.added(entity, 2);
        added.message.content = limited;
        store.commit({added});
    }
    for (const MessageContentPtr& content : store.read()) {
        CHECK(content->deadline() == limited->deadline());
    }
}

TEST_CASE(
    "read_store: a shared content that is lost, altered or back is named, with its messages") {
    StoreOfTopic store;
    store.commit({store.added(3, 1), store.added(5, 7)});
    const auto run = [&store](const char* statements) { store.database.run(statements); };
    SUBCASE("lost") {
        run("DELETE FROM contents");
        CHECK(store.wrong() == "messages: message 1 of 't/a' has lost its content 1; "
                               "messages: message 7 of 't/b' has lost its content 1; "
                               "contents: 1 of 1 rows are missing");
    }
    SUBCASE("altered") {
        run("UPDATE contents SET bytes = x'0102'");
        CHECK(store.wrong() == "contents: content 1 was altered; "
                               "messages: message 1 of 't/a' has lost its content 1; "
                               "messages: message 7 of 't/b' has lost its content 1");
        CHECK(store.queues.at(1).queue.messages.empty());
    }
    SUBCASE("a message with the id of another content") {
        run("UPDATE messages SET content = 2 WHERE entity = 3");
        CHECK(store.wrong() == "messages: message 1 of 't/a' was altered");
    }
    SUBCASE("came back") {
        run("CREATE TABLE former AS SELECT * FROM contents");
        store.commit({MessageRemoved{.entity = 3, .sequence = 1},
                      MessageRemoved{.entity = 5, .sequence = 7}});
        run("INSERT INTO contents SELECT * FROM former; DROP TABLE former");
        CHECK(store.wrong() == "contents: 1 rows came back");
    }
}

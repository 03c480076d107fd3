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
        queues = read_store(database, codec, written_at, found);
        return found.text();
    }
    static DurableMessage message(std::int64_t sequence, const char* body = "body") {
        return {.entity = 1,
                .sequence = sequence,
                .content = std::make_shared<DecodedContent>(Message::text("s", body)),
                .enqueued_time = written_at};
    }
    Database& prepared() {
        CHECK_FALSE(prepare_store(database, "memory", false, damage));
        return database;
    }

    server::StoredContent codec{amqp::ClockReading{.wall = written_at}};
    DamageReport damage{};
    Database database{":memory:"};
    ChangeWriter writer{prepared(), codec};
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

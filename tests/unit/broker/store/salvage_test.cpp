// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>

#include "broker/store/change_writer.hpp"
#include "broker/store/salvage.hpp"
#include "broker/store/schema.hpp"
#include "broker/store/store_reader.hpp"
#include "server/stored_content.hpp"
#include "support/temporary_directory.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace sessionq::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t page_bytes = 4096;
const WallTime salvaged_at{std::chrono::hours{24 * 365 * 50}};

/// A store with 1,000 messages, about three of them on a page.
struct DamagedStore {
    DamagedStore() {
        Database database{file.string()};
        CHECK_FALSE(prepare_store(database, file, false, none));
        ChangeWriter writer{database, codec, {}};
        ChangeSet set;
        set.add(QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"});
        for (std::int64_t i = 1; i <= 1000; ++i) {
            set.add(MessageAdded{
                {.entity = 1,
                 .sequence = i,
                 .content = std::make_shared<DecodedContent>(
                     Message::of(std::to_string(i) + std::string(900, 'x')).in_session("s")),
                 .enqueued_time = salvaged_at}});
        }
        add_shared(set);
        set.add(SessionStateSet{.entity = 1, .session_id = "s", .state = "step"});
        writer.commit(set);
    }

    /// Adds 20 messages to each dead-letter sub-queue that share 20 contents.
    static void add_shared(ChangeSet& set) {
        set.add(QueueCreated{.queue = 3, .dead_letters = 4, .name = "others"});
        for (std::int64_t i = 1; i <= 20; ++i) {
            const auto content = std::make_shared<DecodedContent>(
                Message::of("shared " + std::to_string(i) + std::string(1500, 'y'))
                    .in_session("s"));
            for (const EntityId entity : {2U, 4U}) {
                set.add(MessageAdded{{.entity = entity,
                                      .sequence = i,
                                      .content = content,
                                      .enqueued_time = salvaged_at}});
            }
        }
    }

    /// Overwrites the leaf pages that hold these messages, or the next ones if these are in an
    /// inner page: without it the pages below cannot be found.
    void damage(const std::vector<int>& messages) const {
        std::string bytes(fs::file_size(file), '\0');
        std::fstream stream{file, std::ios::binary | std::ios::in | std::ios::out};
        stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        for (int message : messages) {
            constexpr char leaf = 10;
            std::size_t page = 0;
            do {
                const auto at = bytes.find(std::to_string(message++) + std::string(100, 'x'));
                REQUIRE(at != std::string::npos);
                page = at / page_bytes * page_bytes;
            } while (bytes[page] != leaf);
            stream.seekp(static_cast<std::streamoff>(page));
            stream << std::string(page_bytes, '\x5a');
        }
    }

    /// The salvaged store is in `to` then.
    Salvaged run() {
        CHECK_FALSE(prepare_store(to, "memory", false, none));
        Database from{file.string()};
        Salvaged salvaged = salvage(from, to, codec);
        DamageReport found;
        queues = read_store(to, codec, salvaged_at, found).queues;
        CHECK(found.text() == "");
        return salvaged;
    }

    TemporaryDirectory temporary{};
    fs::path file{temporary.path() / "sessionq.db"};
    server::StoredContent codec{amqp::ClockReading{.wall = salvaged_at}};
    DamageReport none{};
    Database to{":memory:"};
    std::vector<DurableQueue> queues{};
};

} // namespace

TEST_CASE("salvage: a sound store is copied as a whole") {
    DamagedStore store;
    const Salvaged salvaged = store.run();
    CHECK(salvaged.lost.text() == "");
    CHECK(salvaged.rows == 1067); // with two queues, four entities, 60 of add_shared, the state
    REQUIRE(store.queues.size() == 2);
    CHECK(store.to.number("SELECT count(*) FROM contents") == 20);
    CHECK(store.queues[1].dead_letters.messages.at(19).content ==
          store.queues[0].dead_letters.messages.at(19).content);
    CHECK(store.queues[0].queue.messages.size() == 1000);
    CHECK(store.queues[0].queue.last_sequence == 1000);
    CHECK(store.queues[0].queue.states.at(0).state == "step");
}

TEST_CASE("salvage: what is before, between and behind unreadable pages is copied") {
    DamagedStore store;
    store.damage({200, 500, 501, 800});
    const Salvaged salvaged = store.run();
    const auto& messages = store.queues.at(0).queue.messages;
    CHECK(messages.size() >= 980);
    CHECK(messages.size() < 1000);
    CHECK(messages.front().sequence == 1);
    CHECK(messages.back().sequence == 1000);
    CHECK(salvaged.lost.text(10).find("messages: a part of the file with rows of 'orders' cannot "
                                      "be read") != std::string::npos);
    CHECK(salvaged.lost.text(10).find("messages: " + std::to_string(1000 - messages.size()) +
                                      " of 1040 rows are set aside or missing") !=
          std::string::npos);
}

TEST_CASE("salvage: the first and the last page may be unreadable") {
    DamagedStore store;
    store.damage({1, 400, 999});
    static_cast<void>(store.run());
    const auto& messages = store.queues.at(0).queue.messages;
    CHECK(messages.size() >= 985);
    CHECK(messages.front().sequence > 1);
    CHECK(messages.back().sequence < 1000);
    CHECK(store.queues.at(0).queue.last_sequence == 1000); // not given to another message
}

TEST_CASE(
    "salvage: altered rows stay behind, by name; a lost sequence number is the highest seen") {
    DamagedStore store;
    Database{store.file.string()}.run(
        "UPDATE messages SET delivery_count = 9 WHERE entity = 1 AND sequence = 7;"
        "UPDATE entities SET last_sequence = 3 WHERE id = 1");
    const Salvaged salvaged = store.run();
    CHECK(salvaged.lost.text() == "entities: the last sequence number of 'orders' was altered; "
                                  "messages: message 7 of 'orders' was altered; "
                                  "messages: 1 of 1040 rows are set aside or missing");
    CHECK(store.queues.at(0).queue.messages.size() == 999);
    CHECK(store.queues.at(0).queue.last_sequence == 1000);
}

TEST_CASE("salvage: the messages of an altered queue stay behind, and are counted") {
    DamagedStore store;
    Database{store.file.string()}.run("UPDATE queues SET name = 'else' WHERE id = 1");
    const Salvaged salvaged = store.run();
    CHECK(store.queues.size() == 1);
    CHECK(salvaged.lost.text().find("messages: 1020 of 1040 rows are set aside or missing") !=
          std::string::npos);
}

TEST_CASE("salvage: of a file that is no database nothing is copied") {
    DamagedStore store;
    std::ofstream{store.file, std::ios::trunc} << std::string(10'000, 'x');
    const Salvaged salvaged = store.run();
    CHECK(salvaged.rows == 0);
    CHECK(salvaged.lost.count() > 0);
    CHECK(store.queues.empty());
}

TEST_CASE("salvage: messages whose shared content is lost stay behind, and so do contents without "
          "messages") {
    DamagedStore store;
    Database{store.file.string()}.run(
        "UPDATE contents SET bytes = x'01' WHERE id = 7; DELETE FROM contents WHERE id = 8;"
        "DELETE FROM messages WHERE typeof(content) = 'integer' AND sequence = 9");
    const Salvaged salvaged = store.run();
    CHECK(salvaged.lost.text(10) ==
          "contents: content 7 was altered; "
          "messages: message 7 of 'orders/$DeadLetterQueue' has lost its content 7; "
          "messages: message 8 of 'orders/$DeadLetterQueue' has lost its content 8; "
          "messages: message 7 of 'others/$DeadLetterQueue' has lost its content 7; "
          "messages: message 8 of 'others/$DeadLetterQueue' has lost its content 8; "
          "messages: 6 of 1040 rows are set aside or missing; "
          "contents: 3 of 20 rows are set aside or missing");
    CHECK(store.queues.at(0).dead_letters.messages.size() == 17);
    CHECK(store.to.number("SELECT count(*) FROM contents") == 17);
    CHECK(read_ledger(store.to).value().last_content == 20);
}

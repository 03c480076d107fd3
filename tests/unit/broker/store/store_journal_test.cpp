// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <sstream>
#include <sys/resource.h>
#include <thread>
#include <utility>

#include "broker/store/database.hpp"
#include "broker/store/ledger.hpp"
#include "broker/store/open_store.hpp"
#include "broker/store/row_checksum.hpp"
#include "broker/store/store_files.hpp"
#include "broker/store/store_journal.hpp"
#include "server/stored_content.hpp"
#include "support/temporary_directory.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace sessionq::test;
namespace fs = std::filesystem;

namespace {

const WallTime wall{std::chrono::hours{24 * 365 * 50}};

std::shared_ptr<const ContentCodec> codec() {
    return std::make_shared<const server::StoredContent>(amqp::ClockReading{.wall = wall});
}
core::Result<StoreJournal::Opened> open(const fs::path& directory, WallTime at = wall) {
    return StoreJournal::open(directory, codec(), at, core::system_clock());
}
OpenedStore open_empty(const fs::path& directory) {
    return open_store(directory, *codec(), wall, OnDamage::refuse).value();
}

Change created(EntityId queue = 1, const char* name = "orders") {
    return QueueCreated{.queue = queue, .dead_letters = queue + 1, .name = name};
}
Change added(std::int64_t sequence, std::string_view body, EntityId entity = 1) {
    return MessageAdded{
        {.entity = entity,
         .sequence = sequence,
         .content = std::make_shared<DecodedContent>(Message::of(body).in_session("s")),
         .enqueued_time = wall}};
}

/// Whether everything so far is durable, once that is known.
std::optional<Failure> outcome(Journal& journal) {
    std::promise<std::optional<Failure>> said;
    journal.when_durable([&](Journal::Mark, const Failure* why) {
        said.set_value(why != nullptr ? std::optional{*why} : std::nullopt);
    });
    return said.get_future().get();
}

std::string bodies(const DurableEntity& entity) {
    std::string text;
    for (const DurableMessage& message : entity.messages) {
        text += (text.empty() ? "" : " ") + std::to_string(message.sequence) + ":" +
                std::string{message.content->body()};
    }
    return text;
}

/// Turns a store into what version 2 left, without checksums, ledger and counter.
void make_version_2(const fs::path& directory) {
    Database{store_file(directory).string()}.run(R"sql(
        CREATE TABLE m (entity INTEGER NOT NULL, sequence INTEGER NOT NULL,
          place INTEGER NOT NULL, delivery_count INTEGER NOT NULL, enqueued INTEGER NOT NULL,
          time_to_live INTEGER, reason TEXT, description TEXT, content BLOB NOT NULL,
          passed_to TEXT NOT NULL DEFAULT '', PRIMARY KEY (entity, sequence)) WITHOUT ROWID;
        INSERT INTO m SELECT entity, sequence, place, delivery_count, enqueued, time_to_live,
          reason, description, content, passed_to FROM messages;
        DROP TABLE messages;
        ALTER TABLE m RENAME TO messages;
        ALTER TABLE queues DROP COLUMN checksum;
        ALTER TABLE entities DROP COLUMN checksum;
        ALTER TABLE session_states DROP COLUMN checksum;
        ALTER TABLE taken_ids DROP COLUMN checksum;
        DROP TABLE ledger;
        DROP TABLE contents;
        PRAGMA user_version = 2)sql");
    fs::remove(counter_file(directory));
}

/// Turns a store without shared contents into what version 3 left.
void make_version_3(const fs::path& directory) {
    Database database{store_file(directory).string()};
    const Ledger ledger = read_ledger(database).value();
    database.run(R"sql(
        DROP TABLE contents;
        DROP TABLE ledger;
        PRAGMA user_version = 3)sql");
    database.run(R"sql(CREATE TABLE ledger (
  id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  store INTEGER NOT NULL,
  commits INTEGER NOT NULL,
  queues INTEGER NOT NULL,
  queues_sum INTEGER NOT NULL,
  entities INTEGER NOT NULL,
  entities_sum INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  messages_sum INTEGER NOT NULL,
  session_states INTEGER NOT NULL,
  session_states_sum INTEGER NOT NULL,
  taken_ids INTEGER NOT NULL,
  taken_ids_sum INTEGER NOT NULL,
  checksum INTEGER NOT NULL
))sql");
    std::vector<std::int64_t> values{1, 3, ledger.store, ledger.commits};
    for (std::size_t i = 0; i < 5; ++i) {
        values.push_back(ledger.sums[i].rows);
        values.push_back(ledger.sums[i].sum);
    }
    RowHash hash{"ledger"};
    std::string list;
    for (const std::int64_t value : values) {
        hash.add(value);
        list += std::to_string(value) + ", ";
    }
    database.run("INSERT INTO ledger VALUES (" + list +
                 std::to_string(static_cast<std::int64_t>(hash.value())) + ")");
    std::string counter;
    for (int i = 0; i < 2; ++i) {
        RowHash count{"commits"};
        count.add(ledger.store);
        count.add(ledger.commits);
        for (const std::uint64_t number :
             {static_cast<std::uint64_t>(ledger.store), static_cast<std::uint64_t>(ledger.commits),
              count.value()}) {
            for (std::size_t byte = 0; byte < sizeof number; ++byte) {
                counter += static_cast<char>(number >> (8 * byte));
            }
        }
    }
    std::ofstream{counter_file(directory), std::ios::binary} << counter;
}

/// Limits the size of this process's files while it lives.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        was_ = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, was_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    rlimit before_{};
    void (*was_)(int){};
};

/// A disk that gets full: the store has a number of pages, and a few more after the reserve is
/// freed. For the store's thread, except `has_room`.
class LimitedDisk final : public DiskReserve {
public:
    LimitedDisk(Database& database, const std::atomic<bool>& has_room)
        : database_{database}, has_room_{has_room} {
        limit(40);
    }

    bool take() noexcept override { return has_room_ || std::exchange(is_new_, false); }
    void give_up() noexcept override { limit(80); }

private:
    void limit(int pages) { database_.run("PRAGMA max_page_count = " + std::to_string(pages)); }

    Database& database_;
    const std::atomic<bool>& has_room_;
    bool is_new_{true};
};

} // namespace

TEST_CASE(
    "StoreJournal: creates its directory for its owner alone, and restores what it stored there") {
    const TemporaryDirectory temporary;
    const fs::path directory = temporary.path() / "a" / "b";
    {
        auto opened = open(directory).value();
        CHECK(opened.stored.empty());
        CHECK(fs::status(directory).permissions() == fs::perms::owner_all);
        CHECK(opened.journal->make_entity_id() == 1);
        opened.journal->append({created()});
        opened.journal->append({added(1, "one"), added(2, "two")});
        opened.journal->append({MessageRemoved{.entity = 1, .sequence = 1}, added(1, "dead", 2)});
        CHECK(opened.journal->last() == 3);
    }
    auto opened = open(directory).value();
    REQUIRE(opened.stored.size() == 1);
    CHECK(opened.stored[0].name == "orders");
    CHECK(bodies(opened.stored[0].queue) == "2:two");
    CHECK(bodies(opened.stored[0].dead_letters) == "1:dead");
    CHECK(opened.stored[0].queue.last_sequence == 2);
    CHECK(opened.journal->make_entity_id() == 3);
}

TEST_CASE(
    "StoreJournal: confirmed operations are in the files, as a whole, however the process ends") {
    const TemporaryDirectory temporary;
    auto opened = open(temporary.path() / "live").value();
    opened.journal->append({created()});
    for (std::int64_t pair = 0; pair < 20; ++pair) {
        opened.journal->append({added(2 * pair + 1, "a"), added(2 * pair + 2, "b")});
        REQUIRE_FALSE(outcome(*opened.journal));
    }
    fs::copy(temporary.path() / "live", temporary.path() / "copy",
             fs::copy_options::recursive); // the state that a crash leaves
    CHECK(open(temporary.path() / "copy").value().stored[0].queue.messages.size() == 40);

    // A log with a torn end loses only what was not confirmed as written. Without the counter that
    // is all there is to see; with it, what was confirmed is missed.
    const fs::path log = log_of(store_file(temporary.path() / "live"));
    const auto length = fs::file_size(log);
    std::size_t least = 40;
    for (const auto cut : {length - 1, length / 2, length / 3, length / 5}) {
        fs::remove_all(temporary.path() / "copy");
        fs::copy(temporary.path() / "live", temporary.path() / "copy", fs::copy_options::recursive);
        fs::resize_file(log_of(store_file(temporary.path() / "copy")), cut);
        const auto missed = open(temporary.path() / "copy");
        REQUIRE_FALSE(missed.ok());
        CHECK(missed.failure().code == Errc::protocol_error);
        CHECK(missed.failure().detail.find(" confirmed commits are lost") != std::string::npos);
        fs::remove(counter_file(temporary.path() / "copy"));
        auto torn = open(temporary.path() / "copy");
        REQUIRE(torn.ok());
        const std::size_t left = torn.value().stored[0].queue.messages.size();
        CHECK(left % 2 == 0);
        CHECK(left < least);
        least = left;
    }
}

TEST_CASE("StoreJournal: waiting callers are answered in order, with a mark that covers earlier "
          "changes") {
    const TemporaryDirectory temporary;
    auto opened = open(temporary.path()).value();
    std::promise<std::vector<Journal::Mark>> done;
    std::vector<Journal::Mark> marks;
    opened.journal->append({created()});
    for (std::int64_t number = 1; number <= 100; ++number) {
        opened.journal->append({added(number, "x")});
        opened.journal->when_durable(
            [&, mark = opened.journal->last()](Journal::Mark up_to, const Failure* why) {
                marks.push_back(why == nullptr && up_to >= mark ? up_to : 0);
                if (marks.size() == 100) {
                    done.set_value(marks);
                }
            });
    }
    const auto said = done.get_future().get();
    CHECK(std::ranges::is_sorted(said));
    CHECK(said.front() > 0);
    CHECK(said.back() == 101);
}

TEST_CASE("StoreJournal: it is behind while many changes wait") {
    const TemporaryDirectory temporary;
    auto opened = open(temporary.path()).value();
    opened.journal->append({created()});
    std::promise<void> is_held;
    std::promise<void> go_on;
    opened.journal->when_durable([&](Journal::Mark, const Failure*) {
        is_held.set_value();
        go_on.get_future().wait();
    });
    is_held.get_future().wait();
    constexpr auto most = static_cast<std::int64_t>(StoreJournal::most_waiting_changes);
    for (std::int64_t number = 1; number < most; ++number) {
        opened.journal->append({added(number, "x")});
    }
    CHECK_FALSE(opened.journal->is_behind());
    opened.journal->append({added(most, "x")});
    CHECK(opened.journal->is_behind());
    go_on.set_value();
    CHECK_FALSE(outcome(*opened.journal));
    CHECK_FALSE(opened.journal->is_behind());
}

TEST_CASE("StoreJournal: waiting callers are answered before it ends") {
    const TemporaryDirectory temporary;
    int answers = 0;
    {
        auto opened = open(temporary.path()).value();
        opened.journal->append({created()});
        for (int i = 0; i < 10; ++i) {
            opened.journal->when_durable(
                [&](Journal::Mark, const Failure* why) { answers += why == nullptr ? 1 : 0; });
        }
    }
    CHECK(answers == 10);
}

TEST_CASE("StoreJournal: a failing disk fails waiting callers and is logged, and loses nothing "
          "once it works again") {
    const TemporaryDirectory temporary;
    {
        auto opened = open(temporary.path()).value();
        opened.journal->append({created()});
        opened.journal->append({added(1, "before")});
        REQUIRE_FALSE(outcome(*opened.journal));
        CHECK_FALSE(opened.journal->is_failing());
        {
            const FileSizeLimit limit{4096};
            opened.journal->append({added(2, std::string(10'000, 'x'))});
            const auto why = outcome(*opened.journal);
            REQUIRE(why);
            CHECK(why->code == Errc::server_busy);
            CHECK(why->detail.find(store_file(temporary.path()).string()) != std::string::npos);
            CHECK(opened.journal->is_failing());
            opened.journal->append({added(3, "while"), MessageRemoved{.entity = 1, .sequence = 1}});
            CHECK(outcome(*opened.journal)); // retried without success
        }
        opened.journal->append({MessageRemoved{.entity = 1, .sequence = 2}});
        CHECK_FALSE(outcome(*opened.journal));
        CHECK_FALSE(opened.journal->is_failing());
    }
    CHECK(bodies(open(temporary.path()).value().stored[0].queue) == "3:while");
}

TEST_CASE("StoreJournal: on a full disk removals use the reserve, and it stays full until the "
          "reserve is back") {
    const TemporaryDirectory temporary;
    std::atomic<bool> has_room{false};
    {
        auto store = open_empty(temporary.path());
        auto disk = std::make_unique<LimitedDisk>(*store.database, has_room);
        StoreJournal journal{std::move(store),    codec(), "it", 0, std::move(disk),
                             core::system_clock()};
        journal.append({created()});
        std::int64_t sent = 0;
        while (!journal.is_full()) {
            REQUIRE(sent < 1000);
            journal.append({added(++sent, std::string(2000, 'x'))});
            // written with the reserve: it was accepted before the disk was known to be full
            CHECK_FALSE(outcome(journal));
        }
        CHECK_FALSE(journal.is_failing());
        for (std::int64_t number = 1; number < sent; ++number) {
            journal.append({MessageRemoved{.entity = 1, .sequence = number}});
            CHECK_FALSE(outcome(journal));
        }
        CHECK(journal.is_full()); // the freed space is in use
        has_room = true;
        while (journal.is_full()) {
            static_cast<void>(outcome(journal));
        }
        journal.append({added(++sent, "after")});
        CHECK_FALSE(outcome(journal));
    }
    CHECK(open(temporary.path()).value().stored[0].queue.messages.size() == 2);
    CHECK(fs::file_size(store_file(temporary.path())) <
          std::uintmax_t{30} * 4096); // the store has returned its unused pages to the disk
}

TEST_CASE(
    "StoreJournal: the room of removed messages is returned to the disk, while it is in use") {
    const TemporaryDirectory temporary = TemporaryDirectory::in_memory();
    const fs::path file = store_file(temporary.path());
    constexpr std::int64_t messages = 400;
    {
        auto opened = open(temporary.path()).value();
        opened.journal->append({created()});
        for (std::int64_t number = 1; number <= messages; ++number) {
            opened.journal->append({added(number, std::string(100'000, 'x'))});
        }
        REQUIRE_FALSE(outcome(*opened.journal));
        for (std::int64_t number = 1; number < messages; ++number) {
            opened.journal->append({MessageRemoved{.entity = 1, .sequence = number}});
        }
        REQUIRE_FALSE(outcome(*opened.journal));
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (fs::file_size(file) > (std::uintmax_t{10} << 20U)) {
            REQUIRE(std::chrono::steady_clock::now() < deadline);
            std::this_thread::yield();
        }
        CHECK(fs::file_size(file) > (std::uintmax_t{6} << 20U)); // some is kept for new messages
        opened.journal->append({added(messages + 1, "after")});
        CHECK_FALSE(outcome(*opened.journal));
    }
    CHECK(open(temporary.path()).value().stored[0].queue.messages.size() == 2);
}

TEST_CASE("StoreJournal: changes that exceed even the reserve are not confirmed, and written once "
          "there is room") {
    const TemporaryDirectory temporary;
    {
        auto store = open_empty(temporary.path());
        auto& database = *store.database;
        const std::atomic<bool> has_room{false};
        StoreJournal journal{std::move(store),
                             codec(),
                             "it",
                             0,
                             std::make_unique<LimitedDisk>(database, has_room),
                             core::system_clock()};
        journal.append({created(), added(1, std::string(1'000'000, 'x')), added(2, "small")});
        const auto why = outcome(journal);
        REQUIRE(why);
        CHECK(why->code == Errc::quota_exceeded);
        CHECK(journal.is_failing());
        CHECK(journal.is_full());
        journal.append({MessageRemoved{.entity = 1, .sequence = 1}});
        CHECK_FALSE(outcome(journal));
        CHECK_FALSE(journal.is_failing());
    }
    CHECK(bodies(open(temporary.path()).value().stored[0].queue) == "2:small");
}

TEST_CASE("ReserveFile: reserves its space, and leaves nothing behind if there is not enough") {
    const TemporaryDirectory temporary;
    const fs::path file = temporary.path() / "reserve";
    ReserveFile reserve{file, 100'000};
    CHECK(reserve.take());
    CHECK(fs::file_size(file) == 100'000);
    CHECK(ReserveFile{file, 100'000}.take());
    reserve.give_up();
    CHECK_FALSE(fs::exists(file));
    reserve.give_up();
    {
        const FileSizeLimit limit{4096};
        CHECK_FALSE(reserve.take());
    }
    CHECK_FALSE(fs::exists(file));
}

TEST_CASE("StoreJournal: a store of an earlier version is upgraded with all its content") {
    const TemporaryDirectory temporary;
    {
        auto opened = open(temporary.path()).value();
        opened.journal->append({created(), added(1, "one"),
                                SessionStateSet{.entity = 1, .session_id = "s", .state = "step"},
                                MessageIdTaken{.entity = 1,
                                               .message_id = "id",
                                               .sequence = 1,
                                               .at = wall,
                                               .until = wall + std::chrono::seconds{20}}});
    }
    SUBCASE("3") { make_version_3(temporary.path()); }
    SUBCASE("2") { make_version_2(temporary.path()); }
    SUBCASE("1") {
        make_version_2(temporary.path());
        Database{store_file(temporary.path()).string()}.run(
            "ALTER TABLE messages DROP COLUMN passed_to; PRAGMA user_version = 1");
    }
    {
        const auto upgraded = open(temporary.path()).value();
        CHECK(upgraded.stored[0].queue.last_sequence == 1);
        CHECK(upgraded.stored[0].queue.states.at(0).state == "step");
        CHECK(upgraded.stored[0].queue.taken_ids.at(0).message_id == "id");
    }
    {
        auto opened = open(temporary.path()).value();
        CHECK(bodies(opened.stored[0].queue) == "1:one");
        opened.journal->append({MessageForwarded{.entity = 1, .sequence = 1, .to = 7}});
        CHECK_FALSE(outcome(*opened.journal));
        opened.journal->append({MessageForwarded{.entity = 1, .sequence = 1, .to = 12},
                                MessageChanged{{.entity = 1, .sequence = 1}}});
    }
    CHECK(open(temporary.path()).value().stored[0].queue.messages[0].forwarded_to ==
          std::vector<EntityId>{7, 12});
}

TEST_CASE("StoreJournal: a damaged store of version 3 is refused unchanged, and can be set aside") {
    const TemporaryDirectory temporary;
    const fs::path file = store_file(temporary.path());
    {
        auto opened = open(temporary.path()).value();
        opened.journal->append({created(), added(1, "one"), added(2, "two")});
    }
    make_version_3(temporary.path());
    const auto refusal = [&] {
        const auto opened = open(temporary.path());
        return opened.ok() ? std::string{} : opened.failure().detail;
    };
    std::string damage;
    std::size_t left = 1;
    SUBCASE("an altered row") {
        Database{file.string()}.run("UPDATE messages SET place = 1 WHERE sequence = 1");
        damage = "message 1 of 'orders' was altered";
    }
    SUBCASE("a lost row") {
        Database{file.string()}.run("DELETE FROM messages WHERE sequence = 1");
        damage = "messages: 1 of 2 rows are missing";
    }
    SUBCASE("a lost commit") {
        std::fstream counter{counter_file(temporary.path()),
                             std::ios::binary | std::ios::in | std::ios::out};
        RowHash hash{"commits"};
        const auto store = Database{file.string()}.number("SELECT store FROM ledger");
        hash.add(store);
        hash.add(std::int64_t{100});
        for (const std::uint64_t number :
             {static_cast<std::uint64_t>(store), std::uint64_t{100}, hash.value()}) {
            for (std::size_t byte = 0; byte < sizeof number; ++byte) {
                counter.put(static_cast<char>(number >> (8 * byte)));
            }
        }
        damage = "of 100 confirmed commits are lost";
        left = 2;
    }
    SUBCASE("altered definitions") {
        Database{file.string()}.run("ALTER TABLE messages ADD COLUMN more");
        damage = "the definitions of its tables were altered";
        left = 2;
    }
    CHECK(refusal().find(damage) != std::string::npos);
    CHECK(Database{file.string()}.number("PRAGMA user_version") == 3);
    const auto opened = StoreJournal::open(temporary.path(), codec(), wall, core::system_clock(),
                                           OnDamage::set_aside);
    REQUIRE(opened.ok());
    CHECK(opened.value().stored.at(0).queue.messages.size() == left);
}

TEST_CASE("StoreJournal: message ids are stored within their window, in the order of forgetting") {
    const TemporaryDirectory temporary;
    {
        auto opened = open(temporary.path()).value();
        opened.journal->append({created(),
                                MessageIdTaken{.entity = 1,
                                               .message_id = "late",
                                               .sequence = 2,
                                               .at = wall,
                                               .until = wall + std::chrono::seconds{20}},
                                MessageIdTaken{.entity = 1,
                                               .message_id = "early",
                                               .sequence = 1,
                                               .at = wall,
                                               .until = wall + std::chrono::seconds{10}}});
    }
    const auto all = open(temporary.path()).value().stored[0].queue.taken_ids;
    REQUIRE(all.size() == 2);
    CHECK(all[0].message_id == "early");
    CHECK(all[1].sequence == 2);
    CHECK(open(temporary.path(), wall + std::chrono::seconds{10})
              .value()
              .stored[0]
              .queue.taken_ids.size() == 1);
    {
        auto opened = open(temporary.path()).value();
        for (std::int64_t number = 0; number < 1000;
             ++number) { // forgotten ids are deleted in the end
            opened.journal->append({MessageIdTaken{.entity = 1,
                                                   .message_id = "new " + std::to_string(number),
                                                   .sequence = number,
                                                   .at = wall + std::chrono::hours{1},
                                                   .until = wall + std::chrono::hours{2}}});
        }
    }
    CHECK(open(temporary.path()).value().stored[0].queue.taken_ids.size() == 1000);
}

TEST_CASE("StoreJournal: a file that is in use, foreign, newer or broken is rejected by name and "
          "not changed") {
    const TemporaryDirectory temporary;
    const fs::path file = store_file(temporary.path());
    const auto refused = [&](Errc code, std::string_view words) {
        const auto opened = open(temporary.path());
        REQUIRE_FALSE(opened.ok());
        CAPTURE(opened.failure().detail);
        CHECK(opened.failure().code == code);
        CHECK(opened.failure().detail.find(file.string()) != std::string::npos);
        CHECK(opened.failure().detail.find(words) != std::string::npos);
    };
    SUBCASE("in use") {
        const auto first = open(temporary.path()).value();
        refused(Errc::invalid_state, "in use");
    }
    SUBCASE("not a database") {
        const std::string text(5000, 'x');
        std::ofstream{file} << text;
        refused(Errc::invalid_argument, "is not a database");
        std::string left;
        std::getline(std::ifstream{file}, left);
        CHECK(left == text);
    }
    SUBCASE("another program's database") {
        Database{file.string()}.run("CREATE TABLE theirs (x)");
        refused(Errc::invalid_argument, "is not a sessionq database");
        CHECK(Database{file.string()}.number("SELECT count(*) FROM sqlite_master") == 1);
    }
    SUBCASE("newer") {
        static_cast<void>(open(temporary.path()).value());
        Database{file.string()}.run("PRAGMA user_version = 1000; UPDATE ledger SET version = 1000");
        refused(Errc::invalid_argument, "1000");
    }
    SUBCASE("damaged") {
        {
            auto opened = open(temporary.path()).value();
            opened.journal->append({created()});
            for (std::int64_t number = 1; number <= 100; ++number) {
                opened.journal->append({added(number, std::string(3000, 'x'))});
            }
        }
        const auto bytes = [&] {
            std::ostringstream text;
            text << std::ifstream{file, std::ios::binary}.rdbuf();
            return text.str();
        };
        const std::string whole = bytes();
        REQUIRE(whole.size() > 200'000);
        const auto write = [&](const std::string& text) {
            std::ofstream{file, std::ios::binary | std::ios::trunc} << text;
        };
        const auto stays_refused = [&](const std::string& broken, std::string_view words) {
            write(broken);
            refused(Errc::protocol_error, words);
            CHECK(bytes() == broken);
        };
        stays_refused(whole.substr(0, whole.size() / 2 / 4096 * 4096), "is damaged");
        stays_refused(whole.substr(0, whole.size() / 2), "is damaged");
        stays_refused(whole.substr(0, 50), "is damaged");
        stays_refused("", "is damaged: it is empty");
        for (const std::size_t page :
             {1U, 20U, 40U}) { // some of it would not be read before it is used
            std::string overwritten = whole;
            overwritten.replace(page * 4096, 4096, 4096, '\x5a');
            stays_refused(overwritten, "is damaged");
        }
        write(whole);
        CHECK(open(temporary.path()).value().stored[0].queue.messages.size() == 100);
    }
    SUBCASE("an invalid message") {
        {
            auto opened = open(temporary.path()).value();
            opened.journal->append({created(), added(5, "x")});
        }
        Database{file.string()}.run("UPDATE messages SET content = x'00'");
        refused(Errc::protocol_error, "message 5 of 'orders' was altered");
    }
    SUBCASE("an unknown option") {
        {
            auto opened = open(temporary.path()).value();
            opened.journal->append({created()});
        }
        Database{file.string()}.run("UPDATE queues SET options = 'colour=blue'");
        refused(Errc::protocol_error, "'orders' with id 1 was altered");
    }
    SUBCASE("a directory in its place") {
        fs::create_directory(file);
        refused(Errc::invalid_option, "is a link, or no regular file");
    }
}

TEST_CASE("StoreJournal: a directory that cannot be created is named") {
    const TemporaryDirectory temporary;
    std::ofstream{temporary.path() / "file"} << "x";
    const auto opened = open(temporary.path() / "file" / "data");
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.failure().code == Errc::resource_exhausted);
    CHECK(opened.failure().detail.find((temporary.path() / "file" / "data").string()) !=
          std::string::npos);
}

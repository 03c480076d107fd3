// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include <sessionq/logging.hpp>

#include "broker/store/change_writer.hpp"
#include "broker/store/open_store.hpp"
#include "broker/store/store_files.hpp"
#include "server/stored_content.hpp"
#include "support/temporary_directory.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace sessionq::test;
namespace fs = std::filesystem;

namespace {

const WallTime opened_at{std::chrono::hours{24 * 365 * 50}};

/// A directory with a store of one queue with `messages` messages, each in a commit of its own.
struct StoreDirectory {
    explicit StoreDirectory(std::int64_t messages = 3) { send(1, messages); }

    void send(std::int64_t first, std::int64_t last) {
        auto store = open().value();
        ChangeWriter writer{*store.database, codec, std::move(store.contents)};
        if (first == 1) {
            commit(store, writer, QueueCreated{.queue = 1, .dead_letters = 2, .name = "orders"});
        }
        for (std::int64_t i = first; i <= last; ++i) {
            commit(store, writer,
                   MessageAdded{{.entity = 1,
                                 .sequence = i,
                                 .content = std::make_shared<DecodedContent>(
                                     Message::of(std::to_string(i)).in_session("s")),
                                 .enqueued_time = opened_at}});
        }
    }
    static void commit(OpenedStore& store, ChangeWriter& writer, Change change) {
        ChangeSet set;
        set.add(std::move(change));
        writer.commit(set);
        CHECK(store.counter->write(count_of(writer.ledger())));
    }

    core::Result<OpenedStore> open(OnDamage on_damage = OnDamage::refuse) {
        log.clear();
        set_log_sink([this](const LogRecord& record) { log += record.text; });
        auto opened = open_store(path, codec, opened_at, on_damage);
        set_log_sink({});
        return opened;
    }
    /// Why it is refused.
    std::string refusal() {
        const auto opened = open();
        CHECK_FALSE(opened.ok());
        return opened.ok() || opened.failure().code != Errc::protocol_error
                   ? ""
                   : opened.failure().detail;
    }
    /// How many messages it has, once damage is set aside.
    std::size_t rest() {
        const auto opened = open(OnDamage::set_aside);
        REQUIRE(opened.ok());
        return opened.value().queues.empty() ? 0 : opened.value().queues[0].queue.messages.size();
    }
    [[nodiscard]] fs::path database() const { return store_file(path); }

    TemporaryDirectory temporary{};
    fs::path path{temporary.path() / "data"};
    server::StoredContent codec{amqp::ClockReading{.wall = opened_at}};
    std::string log{};
};

/// The content of a file, to put it back.
struct Bytes {
    static Bytes of(const fs::path& file) {
        std::ostringstream text;
        text << std::ifstream{file, std::ios::binary}.rdbuf();
        return {.bytes = text.str()};
    }
    void write(const fs::path& file) const { std::ofstream{file, std::ios::binary} << bytes; }

    std::string bytes{};
};

bool has(const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
}

} // namespace

TEST_CASE("open_store: all files are for their owner alone, whatever the umask") {
    const mode_t former = ::umask(0);
    {
        StoreDirectory store;
        const auto opened = store.open();
        ::umask(former);
        REQUIRE(opened.ok());
        opened.value().database->run("CREATE TABLE more (x)"); // makes the log
        std::size_t files = 0;
        for (const auto& file : fs::directory_iterator{store.path}) {
            CAPTURE(file.path().string());
            CHECK(file.status().permissions() == (fs::perms::owner_read | fs::perms::owner_write));
            ++files;
        }
        CHECK(files == 3); // database, log and counter; the reserve is the journal's
    }
}

TEST_CASE("open_store: without its counter, or with a damaged one, a store opens with a warning") {
    StoreDirectory store;
    CHECK(store.open().ok());
    CHECK(store.log.empty());
    fs::remove(counter_file(store.path));
    CHECK(store.open().ok());
    CHECK(has(store.log, "commits' is missing"));
    CHECK(store.open().ok());
    CHECK(store.log.empty()); // made anew
    fs::resize_file(counter_file(store.path), 50);
    CHECK(store.open().ok());
    CHECK(has(store.log, "the last commit before this start may be lost"));
    std::ofstream{counter_file(store.path)} << "x";
    CHECK(store.open().ok());
    CHECK(has(store.log, "commits that were lost before this start are not noticed"));
}

TEST_CASE("open_store: a counter that is behind is normal after the machine has restarted, one "
          "that is ahead is a loss") {
    StoreDirectory store;
    const auto earlier = fs::path{store.temporary.path() / "earlier"};
    fs::copy(store.database(), earlier);
    store.send(4, 5);
    const auto later = fs::path{store.temporary.path() / "later"};
    fs::copy(counter_file(store.path), later);

    CommitCounter counter{counter_file(store.path)};
    CommitCount behind = counter.read().counts.at(0);
    behind.commits -= 2;
    CHECK(counter.begin(behind, behind));
    CHECK(has(store.refusal(), "the file 'commits' beside it is older than the database"));
    ++behind.commits; // as if the process was killed before it counted
    CHECK(counter.begin(behind, behind));
    CHECK(store.open().ok());
    behind = counter.read().counts.at(0);
    behind.commits -= 3;
    ++behind.boot; // as after a power failure
    CHECK(counter.begin(behind, behind));
    CHECK(store.open().ok());
    CHECK(store.log.empty());

    fs::copy(later, counter_file(store.path), fs::copy_options::overwrite_existing);
    fs::copy(earlier, store.database(), fs::copy_options::overwrite_existing);
    CHECK(has(store.refusal(), "2 of 6 confirmed commits are lost"));
    CHECK(store.rest() == 3);
    CHECK(has(store.log, "2 of 6 confirmed commits are lost"));
    CHECK(store.rest() == 3);
    CHECK(store.log.empty());
}

TEST_CASE("open_store: a database that is gone, empty or of another store is not replaced "
          "silently") {
    StoreDirectory store;
    SUBCASE("gone") {
        fs::remove(store.database());
        CHECK(has(store.refusal(), "is damaged: it is empty or missing but was in use"));
        CHECK_FALSE(fs::exists(store.database()));
        CHECK(store.rest() == 0);
    }
    SUBCASE("empty") {
        fs::resize_file(store.database(), 0);
        CHECK(has(store.refusal(), "is damaged: it is empty or missing but was in use"));
        CHECK(store.rest() == 0);
    }
    SUBCASE("no database") {
        std::ofstream{store.database()} << std::string(5000, 'x');
        CHECK(has(store.refusal(), "is damaged: file is not a database"));
        CHECK(store.rest() == 0);
        CHECK(fs::file_size(store.database().string() + ".damaged-1") == 5000);
    }
    SUBCASE("another store") {
        StoreDirectory other{5};
        fs::copy(other.database(), store.database(), fs::copy_options::overwrite_existing);
        CHECK(has(store.refusal(), "it is not the store that the file 'commits' beside it"));
        CHECK(store.rest() == 5);
    }
    SUBCASE("an altered header") {
        Database{store.database().string()}.run("PRAGMA user_version = 2");
        CHECK(has(store.refusal(), "is damaged: its header was altered: version 2"));
        CHECK(store.rest() == 3);
        Database{store.database().string()}.run("PRAGMA application_id = 5");
        CHECK(has(store.refusal(), "is damaged: its header was altered: version 4"));
    }
    SUBCASE("an altered header and ledger, without the counter") {
        Database{store.database().string()}.run("PRAGMA user_version = 2; DELETE FROM ledger");
        fs::remove(counter_file(store.path));
        CHECK(has(store.refusal(), "is damaged: its header was altered: version 2"));
        CHECK(store.rest() == 3);
    }
    SUBCASE("altered definitions") {
        Database{store.database().string()}.run(
            "PRAGMA writable_schema = ON;"
            "UPDATE sqlite_master SET sql = replace(sql, 'place', 'plate')");
        CHECK(has(store.refusal(), "the definitions of its tables were altered"));
    }
    CHECK(store.open(OnDamage::set_aside).ok());
}

TEST_CASE("open_store: a file of another program is refused, also if damage may be set aside") {
    const TemporaryDirectory temporary;
    const server::StoredContent codec{amqp::ClockReading{.wall = opened_at}};
    const auto code = [&] {
        const auto opened = open_store(temporary.path(), codec, opened_at, OnDamage::set_aside);
        return opened.ok() ? Errc{} : opened.failure().code;
    };
    std::ofstream{store_file(temporary.path())} << std::string(5000, 'x');
    CHECK(code() == Errc::invalid_argument);
    fs::remove(store_file(temporary.path()));
    Database{store_file(temporary.path()).string()}.run("CREATE TABLE theirs (x)");
    CHECK(code() == Errc::invalid_argument);
    CHECK_FALSE(fs::exists(store_file(temporary.path()).string() + ".damaged-1"));
}

TEST_CASE("open_store: a counter of an earlier run does not hide that the log was cut") {
    StoreDirectory store;
    const Bytes former = Bytes::of(counter_file(store.path));
    OpenedStore opened = store.open().value();
    ChangeWriter writer{*opened.database, store.codec, {}};
    for (std::int64_t i = 4; i <= 30; ++i) {
        StoreDirectory::commit(opened, writer, MessageRemoved{.entity = 1, .sequence = i});
    }
    const TemporaryDirectory copy; // the state that a crash leaves
    const fs::path crashed = copy.path() / "data";
    fs::copy(store.path, crashed);
    former.write(counter_file(crashed));
    SUBCASE("to nothing") { fs::resize_file(log_of(store_file(crashed)), 0); }
    SUBCASE("in half") {
        fs::resize_file(log_of(store_file(crashed)),
                        fs::file_size(log_of(store_file(crashed))) / 2);
    }
    SUBCASE("not at all") {}
    store.path = crashed;
    CHECK(has(store.refusal(), "the file 'commits' beside it is older than the database"));
    CHECK(store.rest() == 3);
    CHECK(store.open().ok());
}

TEST_CASE("open_store: an older counter of the same run does not hide that the log was cut") {
    StoreDirectory store;
    OpenedStore opened = store.open().value();
    ChangeWriter writer{*opened.database, store.codec, {}};
    const auto remove = [&] {
        StoreDirectory::commit(opened, writer, MessageRemoved{.entity = 1, .sequence = 9});
    };
    remove();
    const Bytes former = Bytes::of(counter_file(store.path));
    for (int i = 0; i < 30; ++i) {
        remove();
    }
    const TemporaryDirectory copy;
    const fs::path crashed = copy.path() / "data";
    fs::copy(store.path, crashed);
    former.write(counter_file(crashed));
    fs::resize_file(log_of(store_file(crashed)), fs::file_size(log_of(store_file(crashed))) / 2);
    store.path = crashed;
    CHECK(has(store.refusal(), "the file 'commits' beside it is older than the database"));
}

TEST_CASE("open_store: a start that ends before its run is in the counter, or in the database, is "
          "no damage") {
    StoreDirectory store;
    CommitCounter counter{counter_file(store.path)};
    const CommitCount now = counter.read().counts.at(0);
    CommitCount other = now;
    ++other.run;
    CHECK(counter.begin(now, other));
    CHECK(store.open().ok());
    CHECK(store.log.empty());
    const CommitCount next = counter.read().counts.at(0);
    CHECK(next.run != now.run);
    CHECK(counter.begin(now, next));
    CHECK(store.open().ok());
    CHECK(store.log.empty());
}

TEST_CASE("open_store: where commits could not be counted, nothing is compared") {
    StoreDirectory store;
    const Bytes former = Bytes::of(counter_file(store.path));
    {
        const OpenedStore opened = store.open().value();
        ChangeWriter writer{*opened.database, store.codec, {}};
        writer.stop_counting();
        for (int i = 0; i < 3; ++i) {
            ChangeSet set;
            set.add(MessageRemoved{.entity = 1, .sequence = 9});
            writer.commit(set);
        }
    }
    former.write(counter_file(store.path));
    CHECK(store.open().ok());
    CHECK(read_ledger(*store.open().value().database).value().run != 0); // counted again
}

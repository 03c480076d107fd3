// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sys/stat.h>

#include "broker/store/commit_counter.hpp"
#include "support/temporary_directory.hpp"

using namespace sessionq::broker;
using namespace sessionq::test;
namespace fs = std::filesystem;

namespace {

void flip_bit(const fs::path& file, std::streamoff at) {
    std::fstream bytes{file, std::ios::binary | std::ios::in | std::ios::out};
    bytes.seekg(at);
    const auto was = static_cast<char>(bytes.get());
    bytes.seekp(at);
    bytes.put(static_cast<char>(was ^ 1));
}

bool begin(CommitCounter& counter, std::int64_t store, std::int64_t commits) {
    const CommitCount count{.store = store, .commits = commits};
    return counter.begin(count, count);
}

/// The highest sound count.
std::int64_t most_in(const fs::path& file) {
    std::int64_t most = 0;
    for (const CommitCount& count : CommitCounter{file}.read().counts) {
        most = std::max(most, count.commits);
    }
    return most;
}

/// What is said of a store with so many commits, beside a counter of `counts`.
std::string said(const Ledger& ledger, std::vector<CommitCount> counts, std::int64_t boot = 5) {
    return find_lost_commits(ledger, {.exists = true, .counts = std::move(counts)}, boot)
        .value_or("");
}

} // namespace

TEST_CASE("CommitCounter: an entry is read as it was written, and no other one") {
    const CommitCount count{.store = -5, .commits = 0x0102030405060708, .run = -7, .boot = 9};
    const CounterEntry entry = encode(count);
    CHECK(entry[8] == 8); // little-endian
    CHECK(decode({entry.data(), entry.size()}) == count);
    CHECK_FALSE(decode({entry.data(), entry.size() - 1}));
    for (std::size_t i = 0; i < entry.size(); ++i) {
        CounterEntry altered = entry;
        altered[i] = static_cast<char>(altered[i] ^ 0x10);
        CHECK_FALSE(decode({altered.data(), altered.size()}));
    }
    const CounterEntry zero{};
    CHECK_FALSE(decode({zero.data(), zero.size()}));
}

TEST_CASE("CommitCounter: holds the last count, for its owner alone") {
    const TemporaryDirectory temporary;
    const fs::path file = temporary.path() / "commits";
    CHECK_FALSE(CommitCounter{file}.read().exists);
    {
        CommitCounter counter{file};
        CHECK_FALSE(counter.write({.store = 7, .commits = 1})); // not begun
        const mode_t former = ::umask(0);
        CHECK(begin(counter, 7, 3));
        ::umask(former);
        CHECK(most_in(file) == 3);
        for (std::int64_t commits = 4; commits < 10; ++commits) {
            CHECK(counter.write({.store = 7, .commits = commits}));
        }
    }
    const auto contents = CommitCounter{file}.read();
    CHECK(contents.exists);
    CHECK_FALSE(contents.is_damaged);
    CHECK(most_in(file) == 9);
    CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(fs::file_size(file) == 80);
}

TEST_CASE(
    "CommitCounter: with one damaged entry the other one counts; with two there is no count") {
    const TemporaryDirectory temporary;
    const fs::path file = temporary.path() / "commits";
    {
        CommitCounter counter{file};
        CHECK(begin(counter, 7, 2));
        CHECK(counter.write({.store = 7, .commits = 3})); // the second entry
    }
    flip_bit(file, 50);
    auto contents = CommitCounter{file}.read();
    CHECK(contents.is_damaged);
    CHECK(most_in(file) == 2);
    flip_bit(file, 39);
    contents = CommitCounter{file}.read();
    CHECK(contents.is_damaged);
    CHECK(contents.counts.empty());
    CommitCounter counter{file};
    CHECK(begin(counter, 8, 1)); // begins anew
    CHECK_FALSE(counter.read().is_damaged);
    fs::resize_file(file, 79);
    CHECK(counter.read().is_damaged);
    fs::resize_file(file, 0);
    CHECK(counter.read().is_damaged);
    CHECK(counter.read().counts.empty());
}

TEST_CASE("CommitCounter: a file that cannot be created is no counter") {
    CommitCounter counter{"/nonexistent/commits"};
    CHECK_FALSE(counter.begin({}, {}));
    CHECK_FALSE(counter.write({}));
}

TEST_CASE("CommitCounter: reads what version 3 wrote") {
    const TemporaryDirectory temporary;
    const fs::path file = temporary.path() / "commits";
    std::string bytes;
    for (const std::int64_t commits : {8, 9}) {
        RowHash hash{"commits"};
        hash.add(std::int64_t{7});
        hash.add(commits);
        for (const std::uint64_t number :
             {std::uint64_t{7}, static_cast<std::uint64_t>(commits), hash.value()}) {
            for (std::size_t i = 0; i < sizeof number; ++i) {
                bytes += static_cast<char>(number >> (8 * i));
            }
        }
    }
    std::ofstream{file, std::ios::binary} << bytes;
    CommitCounter counter{file};
    auto contents = counter.read();
    CHECK_FALSE(contents.is_damaged);
    CHECK(contents.counts ==
          std::vector<CommitCount>{{.store = 7, .commits = 8}, {.store = 7, .commits = 9}});
    flip_bit(file, 30);
    CHECK(counter.read().is_damaged);
    CHECK(most_in(file) == 8);
}

TEST_CASE("find_lost_commits: fewer commits than counted are lost ones") {
    const Ledger ledger{.store = 7, .commits = 10, .run = 3};
    const CommitCount same{.store = 7, .commits = 10, .run = 3, .boot = 5};
    CommitCount count = same;
    CHECK(said(ledger, {same, same}) == "");
    CHECK(said(ledger, {}) == ""); // the log names a counter that is damaged or missing
    count.commits = 12;
    CHECK(said(ledger, {same, count}).starts_with("2 of 12 confirmed commits are lost"));
    count.run = 4; // a database that was replaced by an older one
    CHECK(said(ledger, {count, count}).starts_with("2 of 12 confirmed commits are lost"));
    count.store = 8;
    CHECK(said(ledger, {same, count}).starts_with("it is not the store"));
}

TEST_CASE("find_lost_commits: a counter of an earlier run, or one that is behind though the "
          "machine runs since, is older than the database") {
    const Ledger ledger{.store = 7, .commits = 10, .run = 3};
    const CommitCount same{.store = 7, .commits = 10, .run = 3, .boot = 5};
    const auto is_older = [&](std::vector<CommitCount> counts, std::int64_t boot = 5) {
        const std::string words = said(ledger, std::move(counts), boot);
        CHECK((words.empty() || words.starts_with("the file 'commits' beside it is older")));
        return !words.empty();
    };
    CommitCount count = same;
    count.run = 2;
    CHECK(is_older({count, count}));
    CHECK_FALSE(is_older({count, same})); // a start that was interrupted
    count = same;
    count.commits = 9; // killed before it was written
    CHECK_FALSE(is_older({count, count}));
    count.commits = 8;
    CHECK(is_older({count, count}));
    CHECK_FALSE(is_older({count, same}));
    CHECK_FALSE(is_older({count, count}, 6)); // a power failure
    count.boot = 0;
    CHECK_FALSE(is_older({count, count}, 0)); // unknown
    CHECK_FALSE(find_lost_commits({.store = 7, .commits = 10}, {.counts = {count}}, 5));
    count.boot = 5;
    CHECK_FALSE(find_lost_commits(ledger, {.counts = {count}, .is_damaged = true}, 5));
}

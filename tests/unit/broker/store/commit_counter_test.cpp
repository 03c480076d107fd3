// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

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

} // namespace

TEST_CASE("CommitCounter: an entry is read as it was written, and no other one") {
    const CommitCount count{.store = -5, .commits = 0x0102030405060708};
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
        CHECK(counter.begin({.store = 7, .commits = 3}));
        ::umask(former);
        CHECK(counter.read().count == CommitCount{.store = 7, .commits = 3});
        for (std::int64_t commits = 4; commits < 10; ++commits) {
            CHECK(counter.write({.store = 7, .commits = commits}));
        }
    }
    const auto contents = CommitCounter{file}.read();
    CHECK(contents.exists);
    CHECK_FALSE(contents.is_damaged);
    CHECK(contents.count == CommitCount{.store = 7, .commits = 9});
    CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    CHECK(fs::file_size(file) == 48);
}

TEST_CASE(
    "CommitCounter: with one damaged entry the other one counts; with two there is no count") {
    const TemporaryDirectory temporary;
    const fs::path file = temporary.path() / "commits";
    {
        CommitCounter counter{file};
        CHECK(counter.begin({.store = 7, .commits = 2}));
        CHECK(counter.write({.store = 7, .commits = 3})); // the second entry
    }
    flip_bit(file, 30);
    auto contents = CommitCounter{file}.read();
    CHECK(contents.is_damaged);
    CHECK(contents.count == CommitCount{.store = 7, .commits = 2});
    flip_bit(file, 23);
    contents = CommitCounter{file}.read();
    CHECK(contents.is_damaged);
    CHECK_FALSE(contents.count);
    CommitCounter counter{file};
    CHECK(counter.begin({.store = 8, .commits = 1})); // begins anew
    CHECK_FALSE(counter.read().is_damaged);
    fs::resize_file(file, 47);
    CHECK(counter.read().is_damaged);
    fs::resize_file(file, 0);
    CHECK(counter.read().is_damaged);
    CHECK_FALSE(counter.read().count);
}

TEST_CASE("CommitCounter: a file that cannot be created is no counter") {
    CommitCounter counter{"/nonexistent/commits"};
    CHECK_FALSE(counter.begin({}));
    CHECK_FALSE(counter.write({}));
}

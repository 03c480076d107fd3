// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <fstream>
#include <sys/stat.h>

#include <sessionq/logging.hpp>

#include "broker/store/store_files.hpp"
#include "support/temporary_directory.hpp"

using namespace sessionq;
using namespace sessionq::broker;
using namespace sessionq::test;
namespace fs = std::filesystem;

namespace {

constexpr fs::perms owner_only = fs::perms::owner_read | fs::perms::owner_write;

class Umask {
public:
    explicit Umask(mode_t mask) : former_{::umask(mask)} {}
    ~Umask() { ::umask(former_); }
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;

private:
    mode_t former_;
};

/// What `use` logs.
template <typename Use>
std::string log_of_use(Use use) {
    std::string log;
    set_log_sink([&log](const LogRecord& record) { log += record.text; });
    use();
    set_log_sink({});
    return log;
}

void put(const fs::path& file, const char* text) { std::ofstream{file} << text; }

std::string get(const fs::path& file) {
    std::string text;
    std::getline(std::ifstream{file}, text);
    return text;
}

} // namespace

TEST_CASE(
    "prepare_directory: makes one for its owner alone, whatever the umask, and says nothing") {
    for (const mode_t mask : {0U, 022U, 0377U}) {
        const TemporaryDirectory temporary;
        const fs::path directory = temporary.path() / "data";
        const Umask umask{mask};
        CHECK(log_of_use([&] { CHECK_FALSE(prepare_directory(directory)); }).empty());
        CHECK(fs::status(directory).permissions() == fs::perms::owner_all);
        CHECK_FALSE(prepare_directory(directory)); // again
    }
}

TEST_CASE("prepare_directory: a directory that others can read is named and stays; files of the "
          "store become private, others stay") {
    const TemporaryDirectory temporary;
    const fs::path& directory = temporary.path();
    const auto open = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec;
    const std::vector<fs::path> ours{store_file(directory),
                                     log_of(store_file(directory)),
                                     store_file(directory).string() + "-shm",
                                     store_file(directory).string() + ".damaged-1",
                                     reserve_file(directory),
                                     counter_file(directory)};
    for (const fs::path& file : ours) {
        put(file, "x");
        fs::permissions(file, open);
    }
    put(directory / "other", "x");
    fs::permissions(directory / "other", open);
    fs::permissions(directory, open);
    const std::string log = log_of_use([&] { CHECK_FALSE(prepare_directory(directory)); });
    CHECK(log.find("'" + directory.string() + "'") != std::string::npos);
    CHECK(fs::status(directory).permissions() == open);
    for (const fs::path& file : ours) {
        CAPTURE(file.string());
        CHECK(fs::status(file).permissions() == fs::perms::owner_all);
    }
    CHECK(fs::status(directory / "other").permissions() == open);
    fs::permissions(directory, fs::perms::owner_all);
    CHECK(log_of_use([&] { CHECK_FALSE(prepare_directory(directory)); }).empty());
}

TEST_CASE(
    "prepare_directory: where others could lead what is written elsewhere, the store is refused "
    "by name and nothing is touched") {
    const TemporaryDirectory temporary;
    const fs::path& directory = temporary.path();
    const fs::path elsewhere = directory / "elsewhere";
    put(elsewhere, "content");
    const auto refusal = [&] {
        const auto fault = prepare_directory(directory);
        return fault ? fault->detail : std::string{};
    };
    for (const fs::path& file : {store_file(directory), log_of(store_file(directory)),
                                 reserve_file(directory), counter_file(directory)}) {
        CAPTURE(file.string());
        fs::create_symlink(elsewhere, file);
        CHECK(refusal().find("'" + file.string() + "' is a link") != std::string::npos);
        fs::remove(file);
        fs::create_symlink(directory / "nowhere", file);
        CHECK(refusal().find("is a link") != std::string::npos);
        fs::remove(file);
        fs::create_hard_link(elsewhere, file);
        CHECK(refusal().find("is a link") != std::string::npos);
        fs::remove(file);
        REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
        CHECK(refusal().find("no regular file") != std::string::npos);
        fs::remove(file);
        CHECK(refusal().empty());
    }
    CHECK(get(elsewhere) == "content");
    for (const fs::perms writing : {fs::perms::group_write, fs::perms::others_write}) {
        fs::permissions(directory, fs::perms::owner_all | writing);
        CHECK(refusal().find("run 'chmod go-w'") != std::string::npos);
    }
    fs::permissions(directory, fs::perms::owner_all);
    const TemporaryDirectory other; // a link to the directory itself is its user's choice
    fs::create_directory_symlink(directory, other.path() / "data");
    CHECK_FALSE(prepare_directory(other.path() / "data"));
}

TEST_CASE("make_private_file: whatever the umask, and keeps a file that exists") {
    const TemporaryDirectory temporary;
    const fs::path file = temporary.path() / "file";
    for (const mode_t mask : {0U, 022U, 0777U}) {
        fs::remove(file);
        const Umask umask{mask};
        CHECK_FALSE(make_private_file(file));
        CHECK(fs::status(file).permissions() == owner_only);
    }
    put(file, "content");
    CHECK_FALSE(make_private_file(file));
    CHECK(get(file) == "content");
    const auto fault = make_private_file(temporary.path() / "no" / "file");
    REQUIRE(fault);
    CHECK(fault->code == Errc::resource_exhausted);
}

TEST_CASE("is_store_missing: a database that is empty or gone, beside files of its use") {
    const TemporaryDirectory temporary;
    const fs::path& directory = temporary.path();
    CHECK_FALSE(is_store_missing(directory));
    put(reserve_file(directory), "x");
    CHECK_FALSE(is_store_missing(directory)); // it may have been deleted on purpose
    put(store_file(directory), "");
    CHECK(is_store_missing(directory));
    fs::remove(reserve_file(directory));
    CHECK_FALSE(is_store_missing(directory)); // a start that was interrupted
    put(counter_file(directory), "x");
    CHECK(is_store_missing(directory));
    fs::remove(store_file(directory));
    CHECK(is_store_missing(directory));
    put(store_file(directory), "x");
    CHECK_FALSE(is_store_missing(directory));
}

TEST_CASE("set_store_aside: keeps the database with its log under the next free number") {
    const TemporaryDirectory temporary;
    const fs::path& directory = temporary.path();
    const fs::path database = store_file(directory);
    put(database.string() + ".damaged-1", "older");
    put(log_of(database.string() + ".damaged-2"), "older log");
    put(database, "damaged");
    put(log_of(database), "its log");
    put(salvage_file(directory), "fresh");
    const auto aside = set_store_aside(directory, salvage_file(directory));
    REQUIRE(aside.ok());
    CHECK(aside.value() == database.string() + ".damaged-3");
    CHECK(get(aside.value()) == "damaged");
    CHECK(get(log_of(aside.value())) == "its log");
    CHECK(get(database) == "fresh");
    CHECK_FALSE(fs::exists(log_of(database)));
    CHECK_FALSE(fs::exists(salvage_file(directory)));
    CHECK(get(database.string() + ".damaged-1") == "older");
}

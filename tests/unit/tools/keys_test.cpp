// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/temporary_directory.hpp"
#include "tools/sessionqd/keys.hpp"
#include "tools/sessionqd/options.hpp"

using namespace sessionq::sessionqd;
using namespace sessionq::test;
using sessionq::server::AccessKeys;
using sessionq::server::Rights;

namespace {

AccessKeys key(std::string_view text) {
    AccessKeys keys;
    add_key(keys, "--key", text);
    return keys;
}

template <typename Add>
std::string complaint(Add add) {
    AccessKeys keys;
    try {
        add(keys);
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

std::string complaint_of(std::string_view text) {
    return complaint([&](AccessKeys& keys) { add_key(keys, "--key", text); });
}

} // namespace

TEST_CASE("keys: a key has a name, a value, rights and an entity") {
    const auto plain = key("name=aB+/=").at("name");
    CHECK(plain.value == "aB+/=");
    CHECK(plain.rights == Rights::all());
    CHECK(plain.entity.empty());
    const auto limited = key("name=v:listen:send@Orders/Subscriptions/A").at("name");
    CHECK(limited.value == "v");
    CHECK(limited.rights == (Rights::listen() | Rights::send()));
    CHECK(limited.entity == "orders/subscriptions/a");
    CHECK(key("name=v:manage").at("name").rights == Rights::all());
    CHECK(key("name=v@orders").at("name").rights == Rights::all());
    CHECK(key("name=v:send").at("name").rights == Rights::send());
    CHECK(key("name=v@/orders/").at("name").entity == "orders");
}

TEST_CASE("keys: what is wrong with a key is said, never its value") {
    for (const char* wrong : {"", "secret", "=secret", "name=", "name=:listen", "name=@orders"}) {
        CAPTURE(wrong);
        CHECK(complaint_of(wrong) == "--key: not NAME=VALUE[:RIGHT]...[@ENTITY]");
    }
    for (const char* wrong : {"name=secret@", "name=secret@/", "name=secret@orders:listen"}) {
        CAPTURE(wrong);
        CHECK(complaint_of(wrong) ==
              "--key: 'name' names no entity behind '@'; rights come before it");
    }
    for (const char* wrong :
         {"name=sec:ret", "name=sec:", "name=sec:listen:ret", "name=sec:Listen"}) {
        CAPTURE(wrong);
        const std::string said = complaint_of(wrong);
        CHECK(said.starts_with("--key: 'name': the text behind ':' is not a right"));
        CHECK(said.find("sec") == std::string::npos);
        CHECK(said.find("ret") == std::string::npos);
    }
    CHECK(complaint([](AccessKeys& keys) {
              add_key(keys, "--key", "one=a");
              add_key(keys, "--key", "one=b");
          }) == "--key: the key 'one' was given before");
}

TEST_CASE("keys: a text has one key a line") {
    AccessKeys keys;
    add_keys(keys, "SESSIONQD_KEY", "# mine\n\none=a:listen\r\ntwo=b");
    CHECK(keys.size() == 2);
    CHECK(keys.at("one").rights == Rights::listen());
    CHECK(complaint([](AccessKeys& more) { add_keys(more, "SESSIONQD_KEY", "# none\n \n"); }) ==
          "SESSIONQD_KEY: has no key");
    CHECK(complaint([](AccessKeys& more) { add_keys(more, "SESSIONQD_KEY", "one=a\nsecret"); }) ==
          "SESSIONQD_KEY line 2: not NAME=VALUE[:RIGHT]...[@ENTITY]");
}

TEST_CASE("keys: a file of keys must be its owner's alone") {
    using std::filesystem::perms;
    const TemporaryDirectory folder;
    const std::string file = folder.path() / "keys";
    std::ofstream{file} << "one=a\n";
    AccessKeys keys;
    std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
    add_key_file(keys, file);
    CHECK(keys.contains("one"));
    for (const perms open : {perms::group_read, perms::others_read, perms::others_write}) {
        std::filesystem::permissions(file, perms::owner_read | open);
        CHECK(complaint([&](AccessKeys& more) { add_key_file(more, file); }) ==
              "--key-file '" + file +
                  "': others than its owner may use the file; run chmod 600 on it");
    }
    CHECK(complaint([](AccessKeys& more) {
              add_key_file(more, "/nonexistent/keys");
          }).starts_with("--key-file '/nonexistent/keys': cannot be opened"));
    CHECK(complaint([&](AccessKeys& more) {
              add_key_file(more, folder.path());
          }).find("cannot be read: Is a directory") != std::string::npos);
}

TEST_CASE("keys: a file of keys is closed again") {
    const TemporaryDirectory folder;
    const std::string file = folder.path() / "keys";
    std::ofstream{file} << "one=a\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    const auto open_files = [] {
        const std::filesystem::directory_iterator all{"/proc/self/fd"};
        return std::distance(begin(all), end(all));
    };
    const auto before = open_files();
    AccessKeys keys;
    add_key_file(keys, file);
    CHECK(open_files() == before);
}

TEST_CASE("keys: the emulator's key is known by its value") {
    CHECK(has_well_known_key({{"other", "SAS_KEY_VALUE"}}));
    CHECK_FALSE(has_well_known_key({{"RootManageSharedAccessKey", "mine"}}));
}

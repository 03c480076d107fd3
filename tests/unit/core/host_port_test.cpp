// SPDX-License-Identifier: MIT
#include "core/host_port.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using core::HostPort;

TEST_CASE("host and port: names, addresses and the default port") {
    CHECK(core::parse_host_port("a.b", 80, "it").value() == HostPort{"a.b", 80});
    CHECK(core::parse_host_port("a.b:65535", 80, "it").value() == HostPort{"a.b", 65535});
    CHECK(core::parse_host_port("[::1]", 80, "it").value() == HostPort{"::1", 80});
    CHECK(core::parse_host_port("[::1]:1", 80, "it").value() == HostPort{"::1", 1});
}

TEST_CASE("host and port: what is wrong is named") {
    const auto complaint = [](std::string_view text) {
        const auto parsed = core::parse_host_port(text, 80, "it");
        REQUIRE_FALSE(parsed.ok());
        CHECK(parsed.failure().code == Errc::invalid_argument);
        return parsed.failure().detail;
    };
    CHECK(complaint("") == "it is empty");
    CHECK(complaint(":80") == "it is empty");
    CHECK(complaint("[::1") == "it has a [ and no ]");
    CHECK(complaint("[::1]80") == "it has text after ]");
    CHECK(complaint("a b") == "it has a character that no host has");
    CHECK(complaint("a\r\nb") == "it has a character that no host has");
    CHECK(complaint("a/b") == "it has a character that no host has");
    for (const char* text : {"a:", "a:0", "a:65536", "a:1x", "a:-1"}) {
        CHECK(complaint(text) == "the port of it is not 1 to 65535");
    }
}

TEST_CASE("host and port: an IPv6 address is written in brackets") {
    CHECK(core::to_string(HostPort{"a.b", 80}) == "a.b:80");
    CHECK(core::to_string(HostPort{"::1", 80}) == "[::1]:80");
}

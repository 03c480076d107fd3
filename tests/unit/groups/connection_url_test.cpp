// SPDX-License-Identifier: MIT
#include "groups/connection_url.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using core::HostPort;
using groups::ConnectionUrl;

namespace {

std::string complaint(std::string_view text) {
    const auto parsed = ConnectionUrl::parse(text);
    REQUIRE_FALSE(parsed.ok());
    CHECK(parsed.failure().code == Errc::invalid_argument);
    return parsed.failure().detail;
}

} // namespace

TEST_CASE("connection URL: hosts keep their order, and the scheme gives the default port") {
    const auto plain = ConnectionUrl::parse("amqp://one,two:1234,[::1]:99,[::2]").value();
    CHECK_FALSE(plain.tls);
    CHECK(plain.hosts ==
          std::vector<HostPort>{{"one", 5672}, {"two", 1234}, {"::1", 99}, {"::2", 5672}});
    CHECK(plain.user.empty());
    CHECK(plain.dialect == nullptr);
    const auto secure = ConnectionUrl::parse("AMQPS://one").value();
    CHECK(secure.tls);
    CHECK(secure.hosts == std::vector<HostPort>{{"one", 5671}});
}

TEST_CASE("connection URL: user, password and virtual host are percent-decoded") {
    const auto url =
        ConnectionUrl::parse("amqp://a%40b:p%2Fw%3a%25@host/v%20h?dialect=broker-j").value();
    CHECK(url.user == "a@b");
    CHECK(url.password == "p/w:%");
    CHECK(url.virtual_host == "v h");
    REQUIRE(url.dialect != nullptr);
    CHECK(url.dialect->name == "broker-j");
}

TEST_CASE("connection URL: a password may contain @ and :, and may be absent") {
    const auto url = ConnectionUrl::parse("amqp://user:p@:w@host").value();
    CHECK(url.user == "user");
    CHECK(url.password == "p@:w");
    CHECK(ConnectionUrl::parse("amqp://user@host").value().password.empty());
}

TEST_CASE("connection URL: a failure names the wrong part") {
    CHECK(complaint("http://host").find("amqp://") != std::string::npos);
    CHECK(complaint("amqp://").find("host 1 is empty") != std::string::npos);
    CHECK(complaint("amqp://one,,two").find("host 2 is empty") != std::string::npos);
    CHECK(complaint("amqp://one,two:0").find("port of host 2") != std::string::npos);
    CHECK(complaint("amqp://one:65536").find("port of host 1") != std::string::npos);
    CHECK(complaint("amqp://one:").find("port of host 1") != std::string::npos);
    CHECK(complaint("amqp://one:12x").find("port of host 1") != std::string::npos);
    CHECK(complaint("amqp://[::1").find("no ]") != std::string::npos);
    CHECK(complaint("amqp://[::1]x").find("after ]") != std::string::npos);
    CHECK(complaint("amqp://:pw@host").find("user") != std::string::npos);
    CHECK(complaint("amqp://u:@host").find("password") != std::string::npos);
    CHECK(complaint("amqp://host/%zz").find("virtual host") != std::string::npos);
    CHECK(complaint("amqp://host?dialect=rabbit").find("artemis or broker-j") != std::string::npos);
    CHECK(complaint("amqp://host?colour=red").find("'colour'") != std::string::npos);
}

TEST_CASE("connection URL: R24: no failure contains the password") {
    for (const char* text : {"amqp://user:s3cret@", "amqp://user:s3cret%2@host",
                             "amqp://user:s3cret@host:x", "amqp://user:s3cret@host?x=y",
                             "amqp://user:s3cret@host?dialect=s", "amqp://:s3cret@host"}) {
        CAPTURE(text);
        CHECK(complaint(text).find("s3cret") == std::string::npos);
    }
}

// SPDX-License-Identifier: MIT
#include <sessionq/http_proxy.hpp>

#include <cstdlib>

#include <doctest/doctest.h>

#include <sessionq/client.hpp>
#include <sessionq/error.hpp>
#include <sessionq/local_broker.hpp>

using namespace sessionq;

namespace {

std::string complaint(std::string_view url) {
    try {
        static_cast<void>(HttpProxy::parse(url));
    } catch (const Error& error) {
        CHECK(error.code() == Errc::invalid_argument);
        return error.failure().detail;
    }
    return "none";
}

/// Sets the variables of a proxy for a test, and clears them at its end.
struct Environment {
    Environment() { clear(); }
    ~Environment() { clear(); }
    static void clear() {
        for (const char* name : {"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}) {
            unsetenv(name); // NOLINT(concurrency-mt-unsafe): the test has one thread
        }
    }
    static void set(const char* name, const char* value) {
        setenv(name, value, 1); // NOLINT(concurrency-mt-unsafe)
    }
};

} // namespace

TEST_CASE("HTTP proxy: a URL names host, port, user and password") {
    CHECK(HttpProxy::parse("http://proxy") == HttpProxy{.host = "proxy"});
    CHECK(HttpProxy::parse("HTTP://proxy:3128/") == HttpProxy{.host = "proxy", .port = 3128});
    CHECK(HttpProxy::parse("[::1]:8080") == HttpProxy{.host = "::1", .port = 8080});
    CHECK(HttpProxy::parse("http://ada:p%40:w@proxy") ==
          HttpProxy{.host = "proxy", .user = "ada", .password = "p@:w"});
    CHECK(HttpProxy::parse("ada@proxy") == HttpProxy{.host = "proxy", .user = "ada"});
}

TEST_CASE("HTTP proxy: an unusable URL is refused, and its password is not repeated") {
    CHECK(complaint("https://proxy") == "proxy URL: the scheme must be http");
    CHECK(complaint("socks5://proxy") == "proxy URL: the scheme must be http");
    CHECK(complaint("") == "proxy URL: the host is empty");
    CHECK(complaint("http://a:b@") == "proxy URL: the host is empty");
    CHECK(complaint("proxy:0") == "the port of proxy URL: the host is not 1 to 65535");
    CHECK(complaint("http://:secret@proxy").find("the user is empty") != std::string::npos);
    const std::string said = complaint("http://ada:secret%zz@proxy");
    CHECK(said.find("the password") != std::string::npos);
    CHECK(said.find("secret") == std::string::npos);
}

TEST_CASE("HTTP proxy: the environment counts only when asked, upper case first") {
    const Environment environment;
    CHECK_FALSE(HttpProxy::from_environment());
    Environment::set("https_proxy", "http://lower:1");
    CHECK(HttpProxy::from_environment() == HttpProxy{.host = "lower", .port = 1});
    Environment::set("HTTPS_PROXY", "http://upper:2");
    Environment::set("no_proxy", " localhost , .example.com,,10.0.0.1");
    CHECK(
        HttpProxy::from_environment() ==
        HttpProxy{.host = "upper", .port = 2, .bypass = {"localhost", ".example.com", "10.0.0.1"}});
    Environment::set("HTTPS_PROXY", "ftp://x");
    CHECK_THROWS_WITH(static_cast<void>(HttpProxy::from_environment()),
                      doctest::Contains("HTTPS_PROXY: the scheme must be http"));
}

TEST_CASE("HTTP proxy: a client rejects an unusable one, and an unusable endpoint address") {
    LocalBroker broker;
    const auto rejects = [&](const HttpProxy& proxy, const char* why) {
        CHECK_THROWS_WITH(static_cast<void>(Client::in_process(broker, {.proxy = proxy})),
                          doctest::Contains(why));
    };
    rejects({}, "ClientOptions::proxy: host");
    rejects({.host = "a b"}, "ClientOptions::proxy: host");
    rejects({.host = "a", .port = 0}, "port must be 1 to 65535");
    rejects({.host = "a", .user = "b:c"}, "user contains ':'");
    rejects({.host = "a", .password = "x"}, "a password and no user");
    const auto connect = [](const char* where, const char* address) {
        static_cast<void>(Client::connect(where, {.endpoint_address = address}));
    };
    CHECK_THROWS_WITH(connect("Endpoint=sb://localhost;UseDevelopmentEmulator=true", "a:0"),
                      doctest::Contains("the port of ClientOptions::endpoint_address"));
    CHECK_THROWS_WITH(connect("amqp://localhost", "a"),
                      doctest::Contains("ClientOptions::endpoint_address"));
}

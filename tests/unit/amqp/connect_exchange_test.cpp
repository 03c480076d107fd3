// SPDX-License-Identifier: MIT
#include "amqp/connect_exchange.hpp"

#include <doctest/doctest.h>

using namespace sessionq;
using amqp::ConnectExchange;
using amqp::Proxy;

namespace {

const Proxy plain{.at = {"proxy", 3128}};
const core::HostPort broker{"broker.example.com", 5671};

Failure failure_of(std::string_view answer, const Proxy& proxy = plain) {
    ConnectExchange exchange{proxy, broker};
    const auto said = exchange.input(answer);
    REQUIRE(said);
    REQUIRE_FALSE(said->ok());
    return said->failure();
}

} // namespace

TEST_CASE("CONNECT: the request names the broker, and the user if there is one") {
    CHECK(ConnectExchange{plain, broker}.request() ==
          "CONNECT broker.example.com:5671 HTTP/1.1\r\nHost: broker.example.com:5671\r\n\r\n");
    // The example of RFC 7617.
    const Proxy known{.at = plain.at, .user = "Aladdin", .password = "open sesame"};
    CHECK(ConnectExchange{known, {"::1", 443}}.request() ==
          "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n"
          "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n");
}

TEST_CASE("CONNECT: the tunnel is open when the answer is whole, wherever it is cut") {
    const std::string answer = "HTTP/1.0 200 Connection established\r\nVia: a proxy\r\n\r\n";
    for (std::size_t cut = 1; cut < answer.size(); ++cut) {
        CAPTURE(cut);
        ConnectExchange exchange{plain, broker};
        CHECK_FALSE(exchange.input(std::string_view{answer}.substr(0, cut)));
        const auto said = exchange.input(std::string_view{answer}.substr(cut));
        REQUIRE(said);
        CHECK(said->ok());
    }
    // A status line has a space behind its status. Some proxies leave it out with the reason.
    CHECK(ConnectExchange{plain, broker}.input("HTTP/1.1 204 \r\n\r\n")->ok());
    CHECK(ConnectExchange{plain, broker}.input("HTTP/1.1 204\r\n\r\n")->ok());
}

TEST_CASE("CONNECT: a refusal tells the proxy, the broker and the status") {
    const Failure refused = failure_of("HTTP/1.1 403 Filtered\x1b[2J\r\n\r\nno");
    CHECK(refused.code == Errc::connection_refused);
    CHECK(refused.detail == "the proxy proxy:3128 opened no tunnel to broker.example.com:5671: "
                            "it answered '403 Filtered?[2J'");
}

TEST_CASE("CONNECT: a proxy that wants a password says what to set, and never repeats it") {
    constexpr std::string_view answer =
        "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n";
    const Failure without = failure_of(answer);
    CHECK(without.code == Errc::unauthorized);
    CHECK(without.detail.ends_with("; set HttpProxy::user and HttpProxy::password"));
    const Failure wrong =
        failure_of(answer, {.at = plain.at, .user = "ada", .password = "s3cret-word"});
    CHECK(wrong.code == Errc::unauthorized);
    CHECK(wrong.detail.ends_with("; check HttpProxy::user and HttpProxy::password"));
    CHECK(wrong.detail.find("s3cret-word") == std::string::npos);
    CHECK(failure_of("HTTP/1.0 401 Unauthorized\r\n\r\n").code == Errc::unauthorized);
}

TEST_CASE("CONNECT: what is no answer of HTTP is refused") {
    for (const char* answer : {"AMQP\x03\x01\r\n\r\n", "HTTP/2 200 OK\r\n\r\n",
                               "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
                               "HTTP/1.1 2000\r\n\r\n", "\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n"}) {
        CAPTURE(answer);
        const Failure failure = failure_of(answer);
        CHECK(failure.code == Errc::connection_refused);
        CHECK(failure.detail.find("opened no tunnel") != std::string::npos);
    }
    CHECK(failure_of("HTTP/1.1 200 OK\r\n\r\nAMQP")
              .detail.ends_with("it sent something behind its answer"));
}

TEST_CASE("CONNECT: an answer without end is given up") {
    ConnectExchange exchange{plain, broker};
    std::size_t sent = 0;
    const std::string line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
    auto said = exchange.input("HTTP/1.1 200 OK\r\n");
    while (!said) {
        said = exchange.input(line);
        sent += line.size();
        REQUIRE(sent < 2 * ConnectExchange::longest_answer);
    }
    CHECK(said->failure().detail.ends_with("its answer is longer than 16 KiB"));
}

TEST_CASE("CONNECT: a proxy that closes is told apart by what it had said") {
    ConnectExchange exchange{plain, broker};
    CHECK(exchange.ended().detail.ends_with("it closed the connection without an answer"));
    CHECK_FALSE(exchange.input("HTTP/1.1 2"));
    CHECK(exchange.ended().detail.ends_with("it closed the connection within its answer"));
}

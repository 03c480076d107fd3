// SPDX-License-Identifier: MIT
#include "amqp/sasl.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace sessionq::amqp;

TEST_CASE("sasl: a client answers one offer of mechanisms, and fails at a second") {
    const auto client = make_sasl_client({});
    const auto server = make_sasl_server(nullptr);
    std::string asked;
    client->begin(asked);
    std::string offer;
    server->begin(offer);
    std::string_view input = asked;
    REQUIRE(server->feed(input, offer) == SaslExchange::State::going_on);

    input = offer;
    std::string answer;
    CHECK(client->feed(input, answer) == SaslExchange::State::going_on);
    CHECK(input.empty());
    const std::size_t size = answer.size();
    CHECK(size != 0);
    input = std::string_view{offer}.substr(8); // without the protocol header
    CHECK(client->feed(input, answer) == SaslExchange::State::failed);
    CHECK(answer.size() == size);
    CHECK(client->failure().text == "the peer offered SASL mechanisms twice");
}

TEST_CASE(
    "sasl: a server answers a TLS client with its own header, and names what the client speaks") {
    using namespace std::string_view_literals;
    const auto server = make_sasl_server(nullptr);
    std::string_view hello = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"sv;
    std::string answer;
    CHECK(server->feed(hello, answer) == SaslExchange::State::failed);
    CHECK(answer == "AMQP\x03\x01\x00\x00"sv);
    CHECK(server->failure().text.find("it speaks TLS") != std::string::npos);
}

TEST_CASE("sasl: a server refuses a request of HTTP in its words") {
    const auto server = make_sasl_server(nullptr);
    std::string_view request = "PUT /orders?api-version=2021-05 HTTP/1.1\r\nHost: a\r\n\r\n";
    std::string answer;
    CHECK(server->feed(request, answer) == SaslExchange::State::failed);
    CHECK(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
    CHECK(answer.ends_with(".\n"));
    CHECK(server->failure().text == "the peer does not speak AMQP 1.0 with SASL; it speaks HTTP");
}

TEST_CASE("sasl: a port that wants TLS and says so in AMQP's words is named") {
    using namespace std::string_view_literals;
    const auto client = make_sasl_client({});
    std::string_view header = "AMQP\x02\x01\x00\x00"sv;
    std::string answer;
    CHECK(client->feed(header, answer) == SaslExchange::State::failed);
    CHECK(client->failure().text.ends_with("; it speaks TLS"));
}

TEST_CASE("sasl: a frame of 512 bytes is the longest") {
    using namespace std::string_literals;
    for (const bool is_too_long : {false, true}) {
        CAPTURE(is_too_long);
        const auto server = make_sasl_server(nullptr);
        std::string bytes = "AMQP\x03\x01\x00\x00"s;
        bytes += is_too_long ? "\0\0\x02\x01\x02\x01\0\0"s : "\0\0\x02\x00\x02\x01\0\0"s;
        std::string_view input = bytes;
        std::string answer;
        CHECK((server->feed(input, answer) == SaslExchange::State::failed) == is_too_long);
    }
}

TEST_CASE("sasl: an outcome without a code is a failure") {
    using namespace std::string_view_literals;
    const auto client = make_sasl_client({});
    std::string asked;
    client->begin(asked);
    std::string_view input = "AMQP\x03\x01\x00\x00"
                             "\0\0\0\x0c\x02\x01\0\0\0\x53\x44\x45"sv;
    CHECK(client->feed(input, asked) == SaslExchange::State::failed);
    CHECK(client->failure().text == "the peer rejected the SASL credentials (code 255)");
}

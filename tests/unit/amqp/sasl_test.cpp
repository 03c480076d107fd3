#include "amqp/sasl.hpp"

#include <doctest/doctest.h>

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

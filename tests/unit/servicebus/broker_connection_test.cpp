// SPDX-License-Identifier: MIT
#include "servicebus/broker_connection.hpp"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE("broker connection: streams come from where its settings say, and a failure there is "
          "told to who waits") {
    test::ManualLoop loop;
    asio::io_context io;
    detail::servicebus::EndpointSettings settings;
    settings.target = {.host = "nowhere"};
    settings.operation_timeout = 10s;
    amqp::Dialed dialed;
    TimePoint until{};
    settings.dial = [&](amqp::ConnectionHost&, const amqp::Target& target, TimePoint deadline,
                        amqp::Dialed told) {
        CHECK(target.host == "nowhere");
        until = deadline;
        dialed = std::move(told);
        return std::make_unique<amqp::Dialing>();
    };
    amqp::ConnectionHost host{loop, io};
    detail::servicebus::BrokerConnection connection{host, settings};
    std::optional<Failure> failure;
    connection.when_usable("",
                           [&](core::Result<amqp::Engine*> engine) { failure = engine.failure(); });
    REQUIRE(dialed);
    CHECK(until == loop.now() + 9s); // time is left to tell the failure
    dialed(Failure{.code = Errc::connection_refused, .detail = "nobody is there"});
    REQUIRE(failure);
    CHECK(failure->code == Errc::connection_refused);
    CHECK(failure->detail == "nobody is there");
}

TEST_CASE("R20: broker connection: a request that ends before there is a connection is not sent") {
    test::ManualLoop loop;
    asio::io_context io;
    detail::servicebus::EndpointSettings settings;
    settings.target = {.host = "nowhere"};
    settings.dial = [](amqp::ConnectionHost&, const amqp::Target&, TimePoint, amqp::Dialed) {
        return std::make_unique<amqp::Dialing>();
    };
    amqp::ConnectionHost host{loop, io};
    auto connection = std::make_unique<detail::servicebus::BrokerConnection>(host, settings);
    const ports::RequestId id = connection->next_request_id();
    std::optional<Failure> failure;
    Deadline deadline;
    Errc expected{};
    SUBCASE("at its deadline") {
        deadline = Deadline::after(5s, loop.now());
        expected = Errc::timeout;
    }
    bool gives_up = false;
    SUBCASE("given up") {
        gives_up = true;
        expected = Errc::cancelled;
    }
    SUBCASE("with the connection") { expected = Errc::cancelled; }
    connection->manage(id, "orders", {.operation = "peek"}, deadline,
                       [&](const core::Result<detail::servicebus::Response>& answer) {
                           CHECK_FALSE(failure);
                           failure = answer.failure();
                       });
    loop.advance(4s);
    CHECK_FALSE(failure);
    if (expected == Errc::timeout) {
        loop.advance(1s);
    } else if (gives_up) {
        connection->give_up(id);
        connection->give_up(id + 1000);
        CHECK_FALSE(failure); // by a later turn
    } else {
        connection.reset();
    }
    loop.run_until_idle();
    REQUIRE(failure);
    CHECK(failure->code == expected);
    CHECK_FALSE(failure->outcome_unknown);
}

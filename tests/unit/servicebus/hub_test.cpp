#include "servicebus/hub.hpp"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

TEST_CASE(
    "Hub: streams come from where its settings say, and a failure there is told to who waits") {
    test::ManualLoop loop;
    asio::io_context io;
    servicebus::HubSettings settings;
    settings.target = {.host = "nowhere"};
    settings.operation_timeout = 7s;
    amqp::Dialed dialed;
    TimePoint until{};
    settings.dial = [&](amqp::ConnectionHost&, const amqp::Target& target, TimePoint deadline,
                        amqp::Dialed told) {
        CHECK(target.host == "nowhere");
        until = deadline;
        dialed = std::move(told);
        return std::make_unique<amqp::Dialing>();
    };
    const auto hub = std::make_shared<servicebus::Hub>(
        std::make_shared<amqp::ConnectionHost>(loop, io), settings);
    std::optional<Failure> failure;
    hub->ready("", [&](core::Result<amqp::Engine*> engine) { failure = engine.failure(); });
    REQUIRE(dialed);
    CHECK(until == loop.now() + 7s);
    dialed(Failure{.code = Errc::connection_refused, .detail = "nobody is there"});
    REQUIRE(failure);
    CHECK(failure->code == Errc::connection_refused);
    CHECK(failure->detail == "nobody is there");
}

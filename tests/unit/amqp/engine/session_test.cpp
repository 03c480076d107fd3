#include <doctest/doctest.h>

#include "wire.hpp"

using namespace sessionq;
using namespace sessionq::test;

TEST_CASE("Session: beginning and ending one each ask the driver to send") {
    struct Driver final : amqp::EngineDriver {
        void on_output() override { ++asked; }
        int asked{0};
    } driver;
    Wire wire;
    wire.run();
    wire.client.set_driver(&driver);
    auto session = wire.client.begin_session();
    CHECK(driver.asked == 1);
    wire.run();
    REQUIRE(wire.server_log.sessions.size() == 1);
    session->end();
    CHECK(driver.asked == 2);
    wire.run();
    CHECK(wire.server_log.sessions.back()->ended);
    wire.client.set_driver(nullptr);
}

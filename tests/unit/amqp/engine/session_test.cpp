// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "raw_peer.hpp"

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

TEST_CASE("Session: where the engine accepts no links, a peer that attaches one ends the session") {
    RawPeer peer{false};
    bool accepts_links = true;
    SUBCASE("it accepts them") {}
    SUBCASE("it accepts none") { accepts_links = false; }
    peer.engine = std::make_unique<amqp::Engine>(
        amqp::EngineOptions{.accepts_links = accepts_links, .open = {.container = "us"}}, peer.log);
    peer.open();
    SessionLog log;
    peer.begin_ours().set_listener(&log);
    LinkLog& ours = peer.receive("ours");
    peer.say(0x12, {"theirs", std::uint32_t{0}, true});
    CHECK(log.links.size() == (accepts_links ? 1U : 0U));
    CHECK(log.ended == !accepts_links);
    CHECK(ours.gone == !accepts_links);
    CHECK(peer.count(0x17) == (accepts_links ? 0U : 1U));
    peer.say(0x12, {"more", std::uint32_t{1}, true});
    CHECK(peer.count(0x12) == 1); // ours; nothing is answered any more
    CHECK(peer.engine->is_open());
    log.links.clear();
    peer.links.clear();
    peer.session.reset();
}

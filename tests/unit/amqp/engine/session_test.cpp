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

namespace {

/// A client that receives over an AMQP session within a room. A frame has up to 4 KiB.
struct RoomyClient {
    static constexpr std::size_t frame = 4096;

    explicit RoomyClient(std::size_t frames) {
        room->join(frames * frame);
        peer.open();
        peer.session = peer.engine->begin_session(room);
        peer.session->set_listener(&log);
        window = peer.next(0x11).number(2);
        peer.say(0x11,
                 {std::uint16_t{0}, std::uint32_t{0}, std::uint32_t{1000}, std::uint32_t{1000}});
        link = &peer.receive("link");
        peer.say(0x12, {"link",
                        std::uint32_t{0},
                        false,
                        {},
                        {},
                        amqp::Value::described(std::uint64_t{0x28}, amqp::List{"from"}),
                        amqp::Value::described(std::uint64_t{0x29}, amqp::List{"to"}),
                        {},
                        {},
                        std::uint32_t{0}});
        link->receiver->add_credit(100'000);
        peer.read();
        peer.seen.clear();
    }
    ~RoomyClient() {
        peer.links.clear();
        peer.session.reset();
    }

    /// Messages come, and are kept.
    void receive(int count, std::size_t bytes) {
        for (int i = 0; i < count && !log.ended; ++i) {
            peer.transfer(0, next_id++, std::string(bytes, 'x'));
            if (!log.ended) {
                peer.session->share()->arrived(bytes);
            }
        }
    }
    /// The window that the last flow told; -1: no flow came.
    std::int64_t told() {
        peer.read();
        std::int64_t last = -1;
        for (const SeenFrame& each : peer.seen) {
            last = each.code == 0x13 ? each.number(1) : last;
        }
        peer.seen.clear();
        return last;
    }

    RawPeer peer{false};
    core::ReceiveRoomPtr room{std::make_shared<core::ReceiveRoom>()};
    SessionLog log{};
    LinkLog* link{nullptr};
    std::int64_t window{0};
    std::uint32_t next_id{0};
};

} // namespace

TEST_CASE("Session: R23: the incoming window is what fits into the room, in frames") {
    RoomyClient client{200};
    CHECK(client.window == 200);
    client.receive(100, 4000);
    CHECK(client.told() == -1); // what is kept leaves no room for more than it was told
    int flows = 0;
    for (int i = 0; i < 500; ++i) {
        client.receive(1, 4000);
        client.peer.session->share()->gone(4000);
        flows += client.told() != -1 ? 1 : 0;
        CHECK(client.room->announced() + client.room->kept() <= client.room->budget());
    }
    CHECK_FALSE(client.log.ended);
    CHECK(flows >= 5);
    CHECK(flows <= 20);
}

TEST_CASE("Session: R23: small messages leave the window as wide as it was") {
    RoomyClient client{200};
    client.receive(150, 10);
    CHECK(client.told() >= 198);
}

TEST_CASE("Session: R23: a peer that exceeds the window is told, however often flows are due") {
    RoomyClient client{200};
    client.receive(1000, 4000);
    CHECK(client.log.ended);
    CHECK(client.next_id > 200);
    CHECK(client.next_id < 220);
    CHECK(client.peer.next(0x17).condition(0) == "amqp:session:window-violation");
}

TEST_CASE("Session: R23: without room the peer is told of none, and of more when there is room") {
    RoomyClient client{200};
    const core::ReceiveSharePtr share = client.peer.session->share();
    while (client.room->announced() != 0) {
        client.receive(1, 4000);
    }
    static_cast<void>(client.told());
    CHECK_FALSE(client.log.ended);
    for (int i = 0; i < 63; ++i) {
        share->gone(4000);
    }
    share->gone(4000);
    CHECK(client.told() >= 1);
    CHECK(client.room->announced() + client.room->kept() <= client.room->budget());
    client.peer.links.clear();
    client.peer.session.reset();
    CHECK(client.room->announced() == 0);
    CHECK(client.room->kept() > 0);
}

TEST_CASE("Session: R23: what has come of a message takes room until the message is dropped") {
    RoomyClient client{200};
    client.peer.transfer(0, 0, std::string(3000, 'x'), true);
    CHECK(client.room->kept() == 3000);
    SUBCASE("it is whole, and the listener counts it from now on") {
        client.peer.transfer(0, 0, "end");
    }
    SUBCASE("it is aborted") {
        client.peer.say(0x14, {std::uint32_t{0}, {}, {}, {}, {}, false, {}, {}, {}, true});
    }
    SUBCASE("the link goes") { client.peer.links.clear(); }
    SUBCASE("the session ends") { client.peer.say(0x17, {}); }
    CHECK(client.room->kept() == 0);
}

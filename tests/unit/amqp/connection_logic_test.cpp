// SPDX-License-Identifier: MIT
// A connection on a scripted stream and manual time.
#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include "amqp/connection.hpp"
#include "scripted_stream.hpp"
#include "support/manual_loop.hpp"
#include "wire.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view heartbeat{"\0\0\0\x08\x02\0\0\0", 8};

struct Owner final : ConnectionOwner {
    void on_open(const Open&) override { ++opened; }
    void on_writable() override { ++writable; }
    void on_idle(timing::IdleKind kind, Duration idle) override {
        (kind == timing::IdleKind::read ? read_idle : write_idle).push_back(idle);
        is_open_when_told = connection->engine().is_open();
    }
    void on_closed(const Condition& condition) override {
        ++closed;
        why = condition;
        connection.reset(); // owners may do so
    }

    std::unique_ptr<Connection> connection{};
    int opened{0};
    int closed{0};
    int writable{0};
    std::vector<Duration> read_idle{};
    std::vector<Duration> write_idle{};
    bool is_open_when_told{true};
    Condition why{};
};

/// What connections share.
struct Place {
    ManualLoop loop{};
    asio::io_context io{};
    ConnectionHost host{loop, io};
};

/// A client's connection and a server's engine.
struct Bench {
    explicit Bench(
        std::uint32_t server_idle = 60000, Duration write_idle = {},
        std::size_t most_unsent_while_reading = ConnectionOptions{}.most_unsent_while_reading,
        std::shared_ptr<Place> where = std::make_shared<Place>())
        : place{std::move(where)} {
        server = std::make_unique<Engine>(EngineOptions{.is_server = true,
                                                        .open = {.container = "server",
                                                                 .idle_time_out = server_idle,
                                                                 .max_frame_size = 65536}},
                                          server_log);
        ConnectionOptions options;
        options.engine.open = {
            .container = "client", .idle_time_out = 10000, .max_frame_size = 65536};
        options.most_unsent = 1000;
        options.most_arriving = 100'000;
        options.most_unsent_while_reading = most_unsent_while_reading;
        options.open_time_out = 15s;
        options.write_idle = write_idle;
        owner.connection = std::make_unique<Connection>(host, stream, std::move(options), owner);
        loop.run_until_idle();
    }
    ~Bench() { owner.connection.reset(); }

    /// Moves bytes until neither side has any.
    void run() {
        for (bool moved = true; moved;) {
            moved = loop.run_until_idle() != 0;
            if (stream->writing) {
                stream->let_write();
                moved = true;
            }
            if (!stream->written.empty()) {
                server->input(std::exchange(stream->written, {}));
                moved = true;
            }
            server->process();
            std::string answer;
            server->take(answer);
            if (!answer.empty() && stream->reading) {
                stream->give(answer);
                moved = true;
            }
        }
    }
    /// The peer shows that it is alive, and reads a heartbeat if there is one. Returns whether.
    bool exchange_heartbeats() {
        stream->give(heartbeat);
        const bool is_there = std::exchange(stream->written, {}) == heartbeat;
        if (stream->writing) {
            stream->let_write();
        }
        return is_there;
    }
    Connection& connection() { return *owner.connection; }

    std::shared_ptr<Place> place;
    ManualLoop& loop{place->loop};
    ConnectionHost& host{place->host};
    ConnectionLog server_log{};
    std::unique_ptr<Engine> server{};
    std::shared_ptr<ScriptedStream> stream{std::make_shared<ScriptedStream>()};
    Owner owner{};
};

} // namespace

TEST_CASE("Connection: opens and closes in order, and reports each once") {
    Bench bench;
    bench.run();
    CHECK(bench.owner.opened == 1);
    bench.connection().close();
    bench.connection().close();
    CHECK(bench.owner.closed == 0); // never within a call
    bench.run();
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.empty());
    CHECK(bench.stream->is_shut);
    CHECK(bench.stream->is_closed);
    CHECK(bench.server_log.closed == 1);
}

TEST_CASE("Connection: calls in one turn of the loop go out in one later write") {
    Bench bench;
    bench.run();
    bench.stream->writes = 0;
    std::vector<SessionPtr> sessions;
    for (int i = 0; i < 10; ++i) {
        sessions.push_back(bench.connection().engine().begin_session());
    }
    CHECK(bench.stream->writes == 0);
    bench.loop.run_until_idle();
    CHECK(bench.stream->writes == 1);
    sessions.push_back(bench.connection().engine().begin_session());
    bench.loop.run_until_idle();
    CHECK(bench.stream->writes == 1); // one write at a time
    bench.run();
    CHECK(bench.server_log.sessions.size() == 11);
    sessions.clear();
    bench.run();
}

TEST_CASE("Connection: gives up a peer that does not open in time") {
    Bench bench;
    bench.loop.advance(16s);
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.found == Errc::timeout);
    CHECK(bench.stream->is_closed);
}

TEST_CASE("Connection: gives up a peer that does not close in time") {
    Bench bench;
    bench.run();
    bench.connection().close();
    bench.loop.advance(4s);
    CHECK(bench.owner.closed == 0);
    bench.loop.advance(2s);
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.found == Errc::timeout);
}

TEST_CASE("Connection: sends a heartbeat in time, and only if it sent nothing else") {
    Bench bench{8000};
    bench.run();
    bench.stream->written.clear();
    for (int i = 0; i < 5; ++i) {
        bench.loop.advance(4s); // half the timeout
        CHECK(bench.stream->written.find(heartbeat) != std::string::npos);
        bench.stream->give(heartbeat); // a sign of life
        bench.stream->written.clear();
        bench.stream->let_write();
    }
    CHECK(bench.owner.closed == 0);
}

TEST_CASE("Connection: closes a silent peer after twice the idle timeout and tells it why") {
    Bench bench;
    bench.run();
    bench.loop.advance(19s);
    CHECK(bench.owner.closed == 0);
    bench.loop.advance(2s);
    REQUIRE(bench.stream->writing);
    CHECK(bench.stream->written.find("amqp:resource-limit-exceeded") != std::string::npos);
    bench.stream->let_write();
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.found == Errc::connection_lost);
    CHECK(bench.owner.why.name == "amqp:resource-limit-exceeded");
}

TEST_CASE("Connection: drops a silent peer that does not read at once") {
    Bench bench;
    bench.run();
    auto session = bench.connection().engine().begin_session();
    bench.loop.run_until_idle();
    CHECK(bench.stream->writing);
    bench.loop.advance(21s);
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.name == "amqp:resource-limit-exceeded");
}

TEST_CASE("Connection: serves a peer whose idle-time-out is short") {
    for (const std::uint32_t time_out : {3999U, 1000U, 2U, 1U}) {
        CAPTURE(time_out);
        Bench bench{time_out};
        bench.run();
        CHECK(bench.owner.opened == 1);
        for (int i = 0; i < 5; ++i) {
            bench.loop.advance(std::max<Duration>(std::chrono::milliseconds{time_out / 2}, 1ms));
            CHECK(bench.stream->written.find(heartbeat) != std::string::npos);
            bench.stream->give(heartbeat);
            bench.stream->written.clear();
            bench.stream->let_write();
        }
        bench.connection().close();
        bench.run();
        CHECK(bench.owner.closed == 1);
        bench.loop.advance(1min); // no timer is left
    }
}

TEST_CASE("HeartbeatPlan: at least as often as the peer requires and as the application wants") {
    using std::chrono::milliseconds;
    const auto plan = [](Duration wanted, milliseconds peer) {
        const HeartbeatPlan made = HeartbeatPlan::make(wanted, peer);
        return std::pair{made.watched, made.timed};
    };
    const Duration none{};
    CHECK(plan(none, 0ms) == std::pair{none, none});
    CHECK(plan(5s, 0ms) == std::pair<Duration, Duration>{5s, none});
    CHECK(plan(none, 60s) == std::pair<Duration, Duration>{29s, none});
    CHECK(plan(5s, 60s) == std::pair<Duration, Duration>{5s, none});
    CHECK(plan(1h, 60s) == std::pair<Duration, Duration>{29s, none});
    CHECK(plan(none, 4s) == std::pair<Duration, Duration>{1s, none});
    CHECK(plan(none, 3999ms) == std::pair<Duration, Duration>{none, 1999ms});
    CHECK(plan(1s, 3999ms) == std::pair<Duration, Duration>{none, 1s});
    CHECK(plan(1s, 1000ms) == std::pair<Duration, Duration>{none, 500ms});
    CHECK(plan(none, 1ms) == std::pair<Duration, Duration>{none, 1ms});
}

TEST_CASE("Connection: a write idle timeout brings heartbeats that the peer does not require, and "
          "tells the owner before each") {
    for (const std::uint32_t required : {0U, 60000U}) {
        CAPTURE(required);
        Bench bench{required, 3s};
        bench.run();
        bench.loop.advance(2s);
        CHECK_FALSE(bench.exchange_heartbeats());
        CHECK(bench.owner.write_idle.empty());
        bench.loop.advance(2s);
        CHECK(bench.exchange_heartbeats());
        bench.loop.advance(4s);
        CHECK(bench.exchange_heartbeats());
        REQUIRE(bench.owner.write_idle.size() == 2); // heartbeats do not end the idleness
        CHECK(bench.owner.write_idle[0] >= 3s);
        CHECK(bench.owner.write_idle[0] <= 4s);
        CHECK(bench.owner.write_idle[1] >= 6s);
        CHECK(bench.owner.write_idle[1] <= 8s);
        auto session = bench.connection().engine().begin_session(); // something of its own
        bench.run();
        bench.loop.advance(2s);
        CHECK(bench.owner.write_idle.size() == 2);
        bench.loop.advance(2s);
        REQUIRE(bench.owner.write_idle.size() == 3);
        CHECK(bench.owner.write_idle[2] <= 4s);
        CHECK(bench.owner.read_idle.empty());
        session.reset();
    }
}

TEST_CASE("Connection: without a write idle timeout the peer's one counts, and none means never") {
    Bench bench{0};
    bench.run();
    for (int i = 0; i < 20; ++i) {
        bench.loop.advance(10s);
        CHECK_FALSE(bench.exchange_heartbeats());
    }
    CHECK(bench.owner.write_idle.empty());
    Bench required{8000};
    required.run();
    required.loop.advance(4s);
    CHECK(required.owner.write_idle.size() == 1);
}

TEST_CASE("Connection: with a short timeout of the peer, heartbeats beside traffic are no "
          "idleness") {
    Bench bench{1000};
    bench.run();
    std::vector<SessionPtr> sessions;
    for (int i = 0; i < 4; ++i) {
        sessions.push_back(bench.connection().engine().begin_session());
        bench.run();
        bench.loop.advance(400ms);
        bench.run();
    }
    CHECK(bench.owner.write_idle.empty());
    bench.loop.advance(500ms);
    CHECK(bench.owner.write_idle.size() == 1);
    sessions.clear();
    bench.run();
}

TEST_CASE("Connection: tells its owner of a silent peer once, when nothing can be begun there") {
    Bench bench;
    bench.run();
    bool is_reading = true; // else its close would not reach it
    SUBCASE("that reads") {}
    SUBCASE("that does not read") { is_reading = false; }
    auto session = is_reading ? nullptr : bench.connection().engine().begin_session();
    bench.loop.advance(19s);
    CHECK(bench.owner.read_idle.empty());
    CHECK(bench.connection().engine().is_open());
    bench.loop.advance(2s);
    CHECK_FALSE(bench.owner.is_open_when_told);
    REQUIRE(bench.owner.read_idle.size() == 1);
    CHECK(bench.owner.read_idle[0] >= 20s);
    CHECK(bench.owner.read_idle[0] <= 21s);
    bench.loop.advance(60s);
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.read_idle.size() == 1);
}

TEST_CASE("Connection: a lost or ended stream is reported once, to links first") {
    Bench bench;
    bench.run();
    auto session = bench.connection().engine().begin_session();
    LinkLog near;
    near.receiver = session->make_receiver("link");
    near.receiver->set_listener(&near);
    near.receiver->open({.source = {.address = "orders"}});
    bench.run();
    SUBCASE("breaks") { bench.stream->fail(); }
    SUBCASE("ends") { bench.stream->give({}); }
    SUBCASE("the owner aborts it") {
        bench.connection().abort(
            {.name = "amqp:connection:forced", .text = "ours", .found = Errc::connection_lost});
        CHECK_FALSE(near.gone);
        bench.loop.run_until_idle();
    }
    bench.loop.run_until_idle();
    CHECK(near.gone);
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.found == Errc::connection_lost);
    CHECK(bench.stream->is_closed);
    bench.loop.advance(60s);
    CHECK(bench.owner.closed == 1);
}

TEST_CASE(
    "Connection: answers bytes that are not AMQP with a close and gives the peer time to read it") {
    Bench bench;
    bench.run();
    bench.stream->give({"\0\0\0\x01garbage", 11});
    CHECK(bench.owner.closed == 0);
    CHECK(bench.stream->written.find("amqp:connection:framing-error") != std::string::npos);
    bench.stream->let_write();
    CHECK(bench.stream->is_shut);
    CHECK_FALSE(bench.stream->is_closed);
    SUBCASE("the peer closes") { bench.stream->give({}); }
    SUBCASE("the peer does not close") { bench.loop.advance(6s); }
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.found == Errc::protocol_error);
}

TEST_CASE("Connection: a congested connection tells its owner when there is room. A server's does "
          "not read meanwhile; a client's does, or both could wait for ever") {
    bool is_server = false;
    SUBCASE("a server's") { is_server = true; }
    SUBCASE("a client's") {}
    Bench bench{60000, {}, is_server ? 1000 : ConnectionOptions{}.most_unsent_while_reading};
    bench.run();
    auto session = bench.connection().engine().begin_session();
    LinkLog near;
    near.sender = session->make_sender("link");
    near.sender->set_listener(&near);
    near.sender->open({.target = {.address = "orders"}});
    bench.run();
    auto& far = *bench.server_log.sessions.at(0)->links.at(0);
    far.receiver->open(far.receiver->remote());
    far.receiver->add_credit(10);
    bench.run();
    CHECK_FALSE(bench.connection().is_congested());
    near.sender->send("1", std::string(2000, 'x'), true);
    CHECK(bench.connection().is_congested());
    bench.loop.run_until_idle();
    CHECK(bench.connection().is_congested());
    bench.stream->give(heartbeat);
    CHECK(bench.stream->reading == !is_server);
    CHECK(bench.owner.writable == 0);
    bench.stream->let_write();
    CHECK(bench.owner.writable == 1);
    CHECK(bench.stream->reading);
    bench.run();
    CHECK(far.messages.size() == 1);
    near.sender.reset();
    session.reset();
    bench.run();
    CHECK(bench.owner.writable == 1);
}

TEST_CASE("Connection: of connections that fill their reads, one at a time has a turn to read on") {
    Bench bench;
    bench.run();
    bench.stream->give(heartbeat);
    CHECK(bench.stream->reading);
    std::string full;
    while (full.size() < Stream::read_size) {
        full += heartbeat;
    }
    bench.stream->give(full);
    CHECK_FALSE(bench.stream->reading);
    bench.loop.run_until_idle();
    CHECK(bench.stream->reading);
    bench.stream->give(full);
    CHECK(bench.stream->reading); // it is alone

    bool was_reading = true;
    bench.host.turns().add([&] { was_reading = bench.stream->reading; });
    bench.stream->give(full);
    CHECK_FALSE(bench.stream->reading);
    bench.loop.run_until_idle();
    CHECK_FALSE(was_reading); // behind work that came before
    CHECK(bench.stream->reading);

    Bench other{60000, {}, ConnectionOptions{}.most_unsent_while_reading, bench.place};
    other.run();
    other.stream->give(full);
    CHECK_FALSE(other.stream->reading);
    bench.stream->give(full); // the other one is in the line
    CHECK_FALSE(bench.stream->reading);
    bench.loop.run_until_idle();
    CHECK(other.stream->reading);
    CHECK(bench.stream->reading);
    other.stream->give(full); // the first one has had its turn since
    CHECK_FALSE(other.stream->reading);
    bench.loop.run_until_idle();
    bench.stream->give(full);
    CHECK_FALSE(bench.stream->reading);
    bench.loop.run_until_idle();
    bench.stream->give(heartbeat);
    other.stream->give(heartbeat);
    CHECK(bench.stream->reading);
    CHECK(other.stream->reading);

    bench.stream->give(full);
    bench.owner.connection.reset();
    bench.loop.run_until_idle(); // its turn is dropped
    CHECK(bench.owner.closed == 0);
}

TEST_CASE("Connection: destroying it with operations pending raises no events") {
    Bench bench;
    bench.run();
    auto session = bench.connection().engine().begin_session();
    bench.connection().close();
    bench.owner.connection.reset();
    bench.loop.advance(100s);
    CHECK(bench.owner.closed == 0);
    CHECK(bench.stream->is_closed);
}

TEST_CASE("Connection: a message that does not end ends the connection, and its memory") {
    Bench bench;
    bench.run();
    auto session = bench.connection().engine().begin_session();
    LinkLog near;
    near.receiver = session->make_receiver("link");
    near.receiver->set_listener(&near);
    near.receiver->open({.source = {.address = "orders"}});
    near.receiver->add_credit(10);
    bench.run();
    auto& far = *bench.server_log.sessions.at(0)->links.at(0);
    far.sender->open(far.sender->remote());
    bench.run();
    far.sender->send("1", std::string(300'000, 'x'), true);
    std::string bytes;
    bench.server->take(bytes);
    bench.stream->give(std::string_view{bytes}.substr(0, 60'000));
    CHECK(bench.connection().engine().is_open());
    bench.stream->give(std::string_view{bytes}.substr(60'000, 200'000));
    CHECK(near.gone);
    CHECK(near.why.text == "the peer has sent too much of messages that it does not end");
    CHECK(bench.connection().engine().held() <= 65536); // a frame that was cut
    near.receiver.reset();
    session.reset();
    bench.run();
    bench.loop.advance(std::chrono::seconds{6}); // this peer does not close
    bench.loop.run_until_idle();
    CHECK(bench.owner.closed == 1);
    CHECK(bench.owner.why.name == "amqp:resource-limit-exceeded");
    CHECK(bench.server_log.why.name == "amqp:resource-limit-exceeded"); // the peer was told
}

TEST_CASE(
    "Connection: during a pause it sends nothing and handles nothing that comes; it can be lost") {
    Bench bench;
    bench.run();
    SessionPtr session = bench.connection().engine().begin_session();
    bench.connection().pause(1s);
    bench.connection().pause(5s); // no effect
    bench.run();
    CHECK(bench.server_log.sessions.empty());
    SUBCASE("goes on") {
        bench.loop.advance(999ms);
        bench.run();
        CHECK(bench.server_log.sessions.empty());
        bench.loop.advance(1ms);
        bench.run();
        CHECK(bench.server_log.sessions.size() == 1);
    }
    SUBCASE("is lost") {
        bench.connection().abort({.name = "amqp:connection:forced"});
        bench.loop.run_until_idle();
        CHECK(bench.owner.closed == 1);
    }
    session.reset();
}

TEST_CASE("Connection: after an error of the peer its end is awaited as long as the options say") {
    for (const Duration linger : {Duration{5s}, Duration{100ms}}) {
        Owner owner;
        Place place;
        const auto stream = std::make_shared<ScriptedStream>();
        ConnectionOptions options;
        options.engine.open = {.container = "client", .max_frame_size = 65536};
        options.linger_time_out = linger;
        owner.connection =
            std::make_unique<Connection>(place.host, stream, std::move(options), owner);
        place.loop.run_until_idle();
        stream->let_write();
        stream->give("nonsense");
        place.loop.run_until_idle();
        stream->let_write();
        CHECK(stream->is_shut);
        place.loop.advance(linger - 10ms);
        CHECK(owner.closed == 0);
        place.loop.advance(20ms);
        CHECK(owner.closed == 1);
        CHECK(owner.why.found == Errc::protocol_error); // and not a timeout
    }
}

// SPDX-License-Identifier: MIT
// A WebSocket on a scripted stream. The test is the client.
#include "amqp/web_socket_stream.hpp"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include <vector>

#include "amqp/web_socket.hpp"
#include "scripted_stream.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace sessionq::test;

namespace {

constexpr const char* path = "/$servicebus/websocket";

struct ServerSide final : StreamListener {
    /// Takes the handshake. `behind`: bytes that come in one read with it.
    void open(std::string_view behind = {}) {
        handshake = start_web_socket_server(host, lower, path, {}, false,
                                            [&](StreamPtr made, const Failure& failure) {
                                                stream = std::move(made);
                                                why = failure;
                                            });
        const auto request = WebSocketUpgrade::client("host:443", path, make_web_socket_key());
        lower->give(request.output + std::string{behind});
        lower->let_write();
        loop.run_until_idle();
        REQUIRE(stream);
        lower->written.clear();
        stream->set_listener(this);
    }
    /// The bytes of a frame of the client.
    std::string frame(std::string_view payload) {
        client.send(payload);
        std::string bytes;
        client.take(bytes);
        return bytes;
    }
    /// What the client understands of what the server has written since.
    std::string read_by_client() {
        std::string payload;
        std::string answers;
        REQUIRE(client.input(std::exchange(lower->written, {}), payload, answers));
        return payload;
    }

    void on_read(std::string_view bytes) override { reads.emplace_back(bytes); }
    void on_written() override { ++written; }
    void on_failed(const Failure& failure) override { why = failure; }

    ManualLoop loop{};
    asio::io_context io{};
    ConnectionHost host{loop, io};
    std::shared_ptr<ScriptedStream> lower{std::make_shared<ScriptedStream>()};
    WebSocketFrames client{true};
    HandshakePtr handshake{};
    StreamPtr stream{};
    Failure why{};
    std::vector<std::string> reads{};
    int written{0};
};

using Texts = std::vector<std::string>;

// A ping of a client, whose mask is zero.
constexpr std::string_view ping{"\x89\x84\0\0\0\0ping", 10};

} // namespace

TEST_CASE("WebSocket stream: a message that comes with the handshake is read first") {
    ServerSide server;
    server.open(server.frame("first"));
    server.stream->read();
    CHECK(server.reads.empty()); // never within the call
    server.loop.run_until_idle();
    CHECK(server.reads == Texts{"first"});
    server.stream->read();
    server.lower->give(server.frame("second"));
    CHECK(server.reads == Texts{"first", "second"});
}

TEST_CASE("WebSocket stream: a write has ended when the stream below has taken it") {
    ServerSide server;
    server.open();
    std::string bytes = "payload";
    server.stream->write(bytes);
    CHECK(bytes.empty());
    CHECK(server.written == 0);
    server.lower->let_write();
    CHECK(server.written == 1);
    CHECK(server.read_by_client() == "payload");
}

TEST_CASE("WebSocket stream: a ping is answered at once, and the reading goes on") {
    ServerSide server;
    server.open();
    server.stream->read();
    server.lower->give(ping);
    CHECK(server.lower->written == std::string{"\x8a\x04ping", 6});
    CHECK(server.reads.empty());
    CHECK(server.lower->reading);
    server.lower->let_write();
    CHECK(server.written == 0); // nobody wrote
}

TEST_CASE("WebSocket stream: a peer that takes no pongs is not read until it does") {
    ServerSide server;
    server.open();
    server.stream->read();
    std::string many; // 256 pings in a row are allowed
    std::string large{"\x89\xf8\0\0\0\0", 6};
    large.append(120, 'x');
    for (int i = 0; i < 200; ++i) {
        many += large;
    }
    server.lower->give(ping); // its pong is on its way
    REQUIRE(server.lower->writing);
    REQUIRE(server.lower->reading);
    server.lower->give(many);
    CHECK_FALSE(server.lower->reading);
    server.lower->let_write();
    CHECK(server.lower->reading);
}

TEST_CASE("WebSocket stream: the end waits for what is being written") {
    ServerSide server;
    server.open();
    server.stream->read();
    server.lower->give(ping);
    REQUIRE(server.lower->writing);
    server.stream->shut();
    CHECK_FALSE(server.lower->is_shut);
    server.lower->let_write(); // the pong
    server.lower->let_write(); // the close frame
    CHECK(server.lower->is_shut);
    CHECK(server.read_by_client().empty());
    CHECK(server.client.is_closed());
}

TEST_CASE("WebSocket stream: a close frame is the end, and so is the end below") {
    for (const bool says_so : {true, false}) {
        CAPTURE(says_so);
        ServerSide server;
        server.open();
        server.stream->read();
        std::string bytes;
        if (says_so) {
            server.client.close();
            server.client.take(bytes);
        }
        server.lower->give(bytes);
        CHECK(server.reads == Texts{""});
    }
}

TEST_CASE("WebSocket stream: frames without a mask are a fault of the peer") {
    ServerSide server;
    server.open();
    server.stream->read();
    server.lower->give("\x82\x02hi");
    CHECK(server.why.code == Errc::protocol_error);
    CHECK(server.why.detail.starts_with("the test: the peer sent invalid WebSocket frames"));
    CHECK(server.reads.empty());
}

TEST_CASE("WebSocket stream: after close nothing is heard of it") {
    ServerSide server;
    server.open(server.frame("first"));
    server.stream->read();
    server.stream->close();
    server.loop.run_until_idle();
    CHECK(server.lower->is_closed);
    CHECK(server.reads.empty());
}

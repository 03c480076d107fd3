// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "amqp/web_socket.hpp"

using namespace sessionq::amqp;
using namespace std::string_literals;
using State = WebSocketUpgrade::State;

namespace {

constexpr const char* path = "/$servicebus/websocket";

State feed(WebSocketUpgrade& upgrade, std::string_view bytes) { return upgrade.feed(bytes); }

/// Feeds a request or a response in two pieces, cut at `cut`.
State feed_cut(WebSocketUpgrade& upgrade, std::string_view bytes, std::size_t cut) {
    const State first = feed(upgrade, bytes.substr(0, cut));
    return first == State::going_on ? feed(upgrade, bytes.substr(cut)) : first;
}

std::string carry(WebSocketFrames& from, WebSocketFrames& to, std::size_t step = 0) {
    std::string bytes;
    from.take(bytes);
    std::string payload;
    std::string answers;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        step = step == 0 ? bytes.size() : step;
        REQUIRE(to.input(std::string_view{bytes}.substr(at, step), payload, answers));
    }
    return payload;
}

} // namespace

TEST_CASE("WebSocket: client and server complete the handshake however the stream is cut") {
    const std::string request =
        WebSocketUpgrade::client("host:443", path, make_web_socket_key()).output;
    CHECK(request.find("Sec-WebSocket-Protocol: amqp, AMQPWSB10\r\n") != std::string::npos);
    for (std::size_t cut = 0; cut < request.size(); ++cut) {
        CAPTURE(cut);
        auto client = WebSocketUpgrade::client("host:443", path, make_web_socket_key());
        auto server = WebSocketUpgrade::server(path);
        REQUIRE(feed_cut(server, client.output, cut) == State::done);
        REQUIRE(feed_cut(client, server.output, std::min(cut, server.output.size() - 1)) ==
                State::done);
    }
}

TEST_CASE("WebSocket: answers the example of RFC 6455 and leaves the bytes after it") {
    auto server = WebSocketUpgrade::server("/chat");
    std::string_view bytes =
        "GET /chat/?api=1 HTTP/1.1\r\nhost: server\r\nUPGRADE: WebSocket\r\nConnection: "
        "keep-alive, Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat, "
        "amqpwsb10\r\nSec-WebSocket-Version: 13\r\n\r\nrest";
    REQUIRE(server.feed(bytes) == State::done);
    CHECK(bytes == "rest");
    CHECK(server.output.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") !=
          std::string::npos);
}

TEST_CASE("WebSocket: the server takes either name of the subprotocol, and answers as it was "
          "offered") {
    const auto answer = [](const std::string& offer) {
        std::string request = WebSocketUpgrade::client("h", path, make_web_socket_key()).output;
        const std::string both = "amqp, AMQPWSB10";
        request.replace(request.find(both), both.size(), offer);
        auto server = WebSocketUpgrade::server(path);
        if (feed(server, request) != State::done) {
            return std::string{"refused"};
        }
        const std::string name = "Sec-WebSocket-Protocol: ";
        const std::size_t at = server.output.find(name) + name.size();
        return server.output.substr(at, server.output.find("\r\n", at) - at);
    };
    CHECK(answer("amqp") == "amqp");                                 // .NET, AMQPNetLite, Go
    CHECK(answer("AMQPWSB10") == "AMQPWSB10");                       // Java, JavaScript, Python
    CHECK(answer("a,AMQPWSB10") == "AMQPWSB10");                     // a list needs no spaces
    CHECK(answer("AMQPWSB10, amqp") == "AMQPWSB10");                 // what the client prefers
    CHECK(answer("amqpwsb10") == "amqpwsb10");                       // as it is spelt
    CHECK(answer("mqtt\r\nsec-websocket-protocol: amqp") == "amqp"); // in a field of its own
    CHECK(answer("amqps") == "refused");
}

TEST_CASE("WebSocket: the client takes the name that the server chose") {
    for (const char* chosen : {"amqp", "AMQPWSB10", ""}) {
        auto client = WebSocketUpgrade::client("h", path, "dGhlIHNhbXBsZSBub25jZQ==");
        std::string response = "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: "
                               "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: ";
        response.append(chosen).append("\r\n\r\n");
        CHECK(feed(client, response) == (*chosen != '\0' ? State::done : State::failed));
    }
}

TEST_CASE("WebSocket: answers other requests with an HTTP error") {
    const auto answer = [](const std::string& request) {
        auto server = WebSocketUpgrade::server(path);
        CHECK(feed(server, request) == State::failed);
        return server.output.substr(0, server.output.find("\r\n"));
    };
    CHECK(answer("GET / HTTP/1.1\r\nHost: h\r\n\r\n") == "HTTP/1.1 400 Bad Request");
    const std::string good = WebSocketUpgrade::client("h", path, make_web_socket_key()).output;
    CHECK(answer(WebSocketUpgrade::client("h", "/elsewhere", make_web_socket_key()).output) ==
          "HTTP/1.1 404 Not Found");
    for (const char* key :
         {"k", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZ!==", "dGhlIHNhbXBsZSBub25jZQAA"}) {
        CHECK(answer(WebSocketUpgrade::client("h", path, key).output) ==
              "HTTP/1.1 400 Bad Request");
    }
    CHECK(answer(WebSocketUpgrade::client("", path, make_web_socket_key()).output) ==
          "HTTP/1.1 400 Bad Request");
    std::string older = good;
    older.replace(older.find("Version: 13"), 11, "Version: 8");
    CHECK(answer(older) == "HTTP/1.1 426 Upgrade Required");
    std::string other = good;
    other.replace(other.find("amqp, AMQPWSB10"), 15, "something");
    CHECK(answer(other) == "HTTP/1.1 400 Bad Request");
    auto endless = WebSocketUpgrade::server(path);
    CHECK(feed(endless, "GET " + std::string(WebSocketUpgrade::longest_head - 4, 'x')) ==
          State::going_on);
    CHECK(feed(endless, "x") == State::failed);
}

TEST_CASE("WebSocket: a web page is served only if its origin is allowed") {
    const auto takes = [](std::vector<std::string> allowed, const char* origin) {
        std::string request = WebSocketUpgrade::client("h", path, make_web_socket_key()).output;
        request.insert(request.find("Host:"), std::string{"Origin: "} + origin + "\r\n");
        auto server = WebSocketUpgrade::server(path, std::move(allowed));
        const bool is_done = feed(server, request) == State::done;
        CHECK(is_done == server.output.starts_with("HTTP/1.1 101"));
        CHECK(is_done != server.output.starts_with("HTTP/1.1 403"));
        return is_done;
    };
    CHECK_FALSE(takes({}, "http://localhost:5673"));
    CHECK_FALSE(takes({}, "null"));
    CHECK_FALSE(takes({"https://a.example"}, "https://a.example.evil"));
    CHECK_FALSE(takes({"https://a.example"}, "https://a.example\r\nOrigin: https://evil"));
    CHECK(takes({"https://a.example"}, "HTTPS://A.example"));
    CHECK(takes({"https://b.example", "https://a.example"}, "https://a.example"));
    CHECK(takes({"*"}, "https://evil"));
}

TEST_CASE("WebSocket: the server's own address is no web page's, if no name service says so") {
    const auto takes = [](const char* host, const char* origin, bool is_over_tls = false) {
        std::string request = WebSocketUpgrade::client(host, path, make_web_socket_key()).output;
        request.insert(request.find("Host:"), std::string{"Origin: "} + origin + "\r\n");
        auto server = WebSocketUpgrade::server(path, {}, is_over_tls);
        return feed(server, request) == State::done;
    };
    CHECK(takes("localhost:5673", "http://localhost:5673"));
    CHECK(takes("LocalHost:5673", "http://localhost:5673"));
    CHECK(takes("127.0.0.1:5673", "http://127.0.0.1:5673"));
    CHECK(takes("[::1]:5673", "http://[::1]:5673"));
    CHECK(takes("bus.example:443", "https://bus.example:443", true));
    CHECK_FALSE(takes("bus.example:443", "https://bus.example:443")); // a name may lead anywhere
    CHECK_FALSE(takes("127.0.0.1.evil", "http://127.0.0.1.evil"));
    CHECK_FALSE(takes("localhost:5673", "http://localhost:3000"));
    CHECK_FALSE(takes("localhost:5673", "http://localhost"));
    CHECK_FALSE(takes("localhost:5673", "localhost:5673"));
    CHECK_FALSE(takes("localhost:5673", "http://localhost:5673\r\nOrigin: http://evil"));
    CHECK_FALSE(takes("bus.example", "https://evil.example", true));
}

TEST_CASE("WebSocket: a request may name the host in its target, as Java's client does") {
    const std::string at = path;
    const auto answer = [&at](const std::string& target, const char* more = "") {
        std::string request = WebSocketUpgrade::client("h", path, make_web_socket_key()).output;
        request.replace(request.find(at), at.size(), target);
        request.insert(request.find("Host:"), more);
        auto server = WebSocketUpgrade::server(path);
        feed(server, request);
        return server.output.substr(9, 3);
    };
    CHECK(answer("https://localhost" + at) == "101");
    CHECK(answer("wss://localhost:443" + at + "?x=http://y") == "101");
    CHECK(answer(at + "?x=http://y/z") == "101");
    CHECK(answer("https://localhost/elsewhere") == "404");
    CHECK(answer("HTTPS://LOCALHOST" + at) == "101");
    CHECK(answer("https://localhost") == "404");
    CHECK(answer("://" + at) == "404");
    CHECK(answer("ftp://localhost" + at) == "404");
    CHECK(answer("x" + at) == "404");
    CHECK(answer("http://127.0.0.1" + at, "Origin: http://127.0.0.1\r\n") == "101");
    CHECK(answer("http://evil" + at, "Origin: http://evil\r\n") == "403");
    auto without_host = WebSocketUpgrade::server(path); // the field is there all the same (3.2)
    std::string request = WebSocketUpgrade::client("h", path, make_web_socket_key()).output;
    request.replace(request.find(at), at.size(), "http://localhost" + at);
    request.erase(request.find("Host: h\r\n"), 9);
    CHECK(feed(without_host, request) == State::failed);
    CHECK(without_host.output.starts_with("HTTP/1.1 400"));
}

TEST_CASE("WebSocket: a peer that does not speak HTTP is refused at its first bytes") {
    using namespace std::string_view_literals;
    const auto answer = [](std::string_view first) {
        auto server = WebSocketUpgrade::server(path);
        CHECK(feed(server, std::string{first}) == State::failed);
        return server.output;
    };
    CHECK(answer("AMQP\3\1\0\0"sv) == "AMQP\0\1\0\0"sv);
    CHECK(answer("A"sv).starts_with("HTTP/1.1 400 Bad Request\r\n"));
    CHECK(answer("\x16\x03\x01"sv).starts_with("HTTP/1.1 400 Bad Request\r\n"));
    auto slow = WebSocketUpgrade::server(path);
    CHECK(feed(slow, "G") == State::going_on);
    CHECK(feed(slow, "E") == State::going_on);
    CHECK(feed(slow, "X") == State::failed);
}

TEST_CASE("WebSocket: a server that does not speak HTTP is given up at its first bytes") {
    auto client = WebSocketUpgrade::client("h", path, "k");
    CHECK(feed(client, "220 mail.example ESMTP\r\n") == State::failed);
    CHECK(client.failure() == "the peer does not speak HTTP");
    auto slow = WebSocketUpgrade::client("h", path, "k");
    CHECK(feed(slow, "HT") == State::going_on);
    CHECK(feed(slow, "TP/1.1 ") == State::going_on);
    auto wrong = WebSocketUpgrade::client("h", path, "k");
    CHECK(feed(wrong, "HT") == State::going_on);
    CHECK(feed(wrong, "ML") == State::failed);
}

TEST_CASE("WebSocket: an invalid response is reported with its kind") {
    const auto failure = [](const std::string& answer) {
        auto client = WebSocketUpgrade::client("h", path, "k");
        CHECK(feed(client, answer + "\r\n\r\n") == State::failed);
        return client.failure();
    };
    CHECK(failure("HTTP/1.1 403 Forbidden") == "the peer answered 'HTTP/1.1 403 Forbidden'");
    CHECK(failure("AMQP\1\2") == "the peer does not speak HTTP");
    CHECK(failure("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: wrong") ==
          "the peer sent a wrong Sec-WebSocket-Accept");
}

TEST_CASE("WebSocket: small and large messages pass both ways in pieces of any size") {
    WebSocketFrames client{true};
    WebSocketFrames server{false};
    for (const std::size_t size : {std::size_t{1}, std::size_t{125}, std::size_t{126},
                                   std::size_t{65535}, std::size_t{65536}, std::size_t{200'000}}) {
        CAPTURE(size);
        const std::string sent(size, 'x');
        client.send(sent);
        client.send("more");
        CHECK(carry(client, server, 1000) == sent + "more");
        server.send(sent);
        CHECK(carry(server, client, 7) == sent);
    }
}

TEST_CASE("WebSocket: answers a ping, reports a close and detects protocol errors") {
    WebSocketFrames client{true};
    WebSocketFrames server{false};
    std::string payload;
    std::string answer;
    REQUIRE(client.input("\x89\x02hi", payload, answer));
    CHECK(payload.empty());
    CHECK(answer.size() == 8);
    CHECK(static_cast<unsigned char>(answer[0]) == 0x8a);
    CHECK_FALSE(server.is_closed());
    client.close();
    CHECK(carry(client, server).empty());
    CHECK(server.is_closed());
    WebSocketFrames strict{false};
    CHECK_FALSE(strict.input("\x82\x02hi", payload, answer)); // a client must mask its frames
}

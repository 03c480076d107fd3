// SPDX-License-Identifier: MIT
// The proxy over real sockets on loopback. Waits are for conditions and bounded; nothing is timed.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

#include "faults/proxy.hpp"

using namespace sessionq;
using namespace sessionq::faults;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

/// A server that sends back what it receives, and a client that uses it through a proxy.
class Echo {
public:
    explicit Echo(const char* script, Duration round_trip = {})
        : own_{std::make_unique<Proxy>(ProxySettings{.port = acceptor_.local_endpoint().port(),
                                                     .round_trip = round_trip,
                                                     .script = parse_script(script)})},
          proxy{*own_} {}
    ~Echo() {
        asio::error_code ignored;
        client.close(ignored);
        own_.reset(); // also ends black holes
        if (server_.joinable()) {
            server_.join();
        }
    }

    void connect() {
        server_ = std::thread{[this] {
            tcp::socket socket = acceptor_.accept();
            std::array<char, 1024> bytes{};
            asio::error_code error;
            while (const std::size_t size = socket.read_some(asio::buffer(bytes), error)) {
                asio::write(socket, asio::buffer(bytes.data(), size), error);
            }
            server_saw_ = error;
        }};
        client.connect({asio::ip::address_v4::loopback(), proxy.port()});
        CHECK(said_back("hello"));
    }

    bool said_back(const std::string& text) {
        asio::error_code error;
        asio::write(client, asio::buffer(text), error);
        std::string answer(text.size(), '\0');
        asio::read(client, asio::buffer(answer), error);
        return !error && answer == text;
    }
    /// Reads to the end and returns its error code.
    asio::error_code end() {
        std::array<char, 64> bytes{};
        asio::error_code error;
        while (client.read_some(asio::buffer(bytes), error) != 0) {
        }
        return error;
    }
    asio::error_code server_saw() {
        server_.join();
        return server_saw_;
    }

private:
    asio::io_context io_{};
    tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
    std::thread server_{};
    asio::error_code server_saw_{};
    std::unique_ptr<Proxy> own_;

public:
    Proxy& proxy;
    tcp::socket client{io_};
};

} // namespace

TEST_CASE("Proxy: a broker at a distance answers no sooner than after a round trip") {
    Echo echo{"", 40ms};
    const auto begun = std::chrono::steady_clock::now();
    echo.connect(); // and one exchange
    CHECK(std::chrono::steady_clock::now() - begun >= 40ms);
    const auto again = std::chrono::steady_clock::now();
    CHECK(echo.said_back("hello"));
    CHECK(std::chrono::steady_clock::now() - again >= 40ms);
}

TEST_CASE("Proxy: without faults bytes and ends pass both ways") {
    Echo echo{""};
    echo.connect();
    CHECK(echo.said_back(std::string(100'000, 'x')));
    echo.client.shutdown(tcp::socket::shutdown_send);
    CHECK(echo.end() == asio::error::eof);
    CHECK(echo.server_saw() == asio::error::eof);
}

TEST_CASE("Proxy: a reset reaches both sides as RST") {
    Echo echo{"0s reset"};
    echo.connect();
    echo.proxy.start();
    CHECK(echo.end() == asio::error::connection_reset);
    CHECK(echo.server_saw() == asio::error::connection_reset);
    CHECK(echo.proxy.counts().at(FaultKind::reset) == 1);
}

TEST_CASE("Proxy: a finish reaches both sides as FIN") {
    Echo echo{"0s finish"};
    echo.connect();
    echo.proxy.start();
    CHECK(echo.end() == asio::error::eof);
    CHECK(echo.server_saw() == asio::error::eof);
}

TEST_CASE("Proxy: a half-close ends one direction only") {
    Echo echo{"0s half-close way=up"};
    echo.connect();
    echo.proxy.start();
    CHECK(echo.server_saw() == asio::error::eof);
}

TEST_CASE("Proxy: stalled, throttled, trickled and delayed bytes arrive, and heal ends a stall") {
    Echo echo{"0s stall for=1000s\n0s throttle for=1000s rate=1000000\n0s trickle for=1000s\n0s "
              "delay for=1000s delay=1ms jitter=1ms"};
    echo.connect();
    echo.proxy.start();
    std::thread healer{[&] { echo.proxy.heal(); }};
    CHECK(echo.said_back("late"));
    healer.join();
}

TEST_CASE("Proxy: reject resets new connections, refuse closes the port") {
    Echo echo{"0s reject for=1000s"};
    echo.proxy.start();
    echo.client.connect({asio::ip::address_v4::loopback(), echo.proxy.port()});
    CHECK(echo.end() == asio::error::connection_reset);
    CHECK(echo.proxy.attempts().size() == 1);

    Echo shut{"0s refuse for=1000s"};
    shut.proxy.start();
    asio::error_code error;
    shut.client.connect({asio::ip::address_v4::loopback(), shut.proxy.port()}, error);
    CHECK(error == asio::error::connection_refused);
    shut.client.close();
    shut.proxy.heal();
    shut.connect();
}

TEST_CASE("Proxy: a black hole hides one side's end from the other") {
    Echo echo{"0s black-hole"};
    echo.connect();
    echo.proxy.start();
    asio::error_code ignored;
    echo.client.close(ignored);
    CHECK(echo.proxy.connections() == 1);
}

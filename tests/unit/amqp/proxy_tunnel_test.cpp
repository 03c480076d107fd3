// SPDX-License-Identifier: MIT
// Uses real sockets on loopback. Waits are for conditions and bounded; nothing is timed.
#include "amqp/proxy_tunnel.hpp"

#include <future>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>

#include <doctest/doctest.h>

#include "amqp/connector.hpp"
#include "amqp/socket_stream.hpp"
#include "client/threads/receive_thread.hpp"
#include "support/test_certificates.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

constexpr auto patience = 20s;

/// Accepts one connection, reads a request for a tunnel, answers, and serves the tunnel: what the
/// broker behind it would say comes from the same socket.
class OneTunnelProxy {
public:
    OneTunnelProxy(std::string answer, TlsContextPtr tls)
        : listener_{io_, {asio::ip::address_v4::loopback(), 0}},
          answer_{std::move(answer)},
          tls_{std::move(tls)},
          thread_{[this] { serve(); }} {}
    ~OneTunnelProxy() {
        thread_.join(); // a failed case has closed its socket by now
    }

    [[nodiscard]] std::uint16_t port() const { return listener_.local_endpoint().port(); }
    std::string request{}; // whole when the answer has come

private:
    void serve() {
        tcp::socket socket = listener_.accept();
        asio::error_code error;
        const std::size_t length =
            asio::read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n", error);
        CHECK(length == request.size()); // nothing comes before the tunnel is open
        asio::write(socket, asio::buffer(answer_), error);
        if (!tls_) {
            char end = 0;
            while (!error) {
                socket.read_some(asio::buffer(&end, 1), error);
            }
            return;
        }
        StreamPtr secured;
        const HandshakePtr handshake =
            start_tls_server(std::move(socket), tls_, [&](StreamPtr stream, const Failure&) {
                secured = std::move(stream);
            });
        io_.run();
        CHECK(secured);
    }

    asio::io_context io_{};
    tcp::acceptor listener_;
    const std::string answer_;
    const TlsContextPtr tls_;
    std::thread thread_;
};

core::Result<StreamPtr> connect(detail::client::ReceiveThread& thread, const Target& target) {
    std::promise<core::Result<StreamPtr>> promise;
    auto future = promise.get_future();
    std::unique_ptr<ConnectionHost> host;
    std::unique_ptr<Dialing> dialing;
    thread.post([&] {
        host = std::make_unique<ConnectionHost>(thread, thread.io_context());
        dialing = dial_socket(
            *host, target, thread.now() + patience,
            [&](core::Result<StreamPtr> result) { promise.set_value(std::move(result)); });
    });
    REQUIRE(future.wait_for(patience) == std::future_status::ready);
    auto result = future.get();
    std::promise<void> done;
    thread.post([&] {
        dialing.reset();
        host.reset();
        done.set_value();
    });
    REQUIRE(done.get_future().wait_for(patience) == std::future_status::ready);
    return result;
}

std::shared_ptr<const Proxy> at_port(std::uint16_t port) {
    return std::make_shared<const Proxy>(
        Proxy{.at = {"127.0.0.1", port}, .user = "ada", .password = "word"});
}

} // namespace

TEST_CASE("proxy tunnel: TLS through it verifies the broker's name, not the proxy's or address's") {
    const test::TestCertificates certificates;
    const auto server = make_tls(TlsServerSettings{.certificate_file = certificates.server(),
                                                   .key_file = certificates.server_key()});
    const auto trusting = make_tls(TlsClientSettings{.ca_file = certificates.ca()});
    detail::client::ReceiveThread thread;
    OneTunnelProxy proxy{"HTTP/1.1 200 OK\r\n\r\n", server.value()};
    const auto stream = connect(thread, {.host = "localhost",
                                         .port = 5671,
                                         .tls = trusting.value(),
                                         .at = core::HostPort{"gateway.invalid", 1234},
                                         .proxy = at_port(proxy.port())});
    CHECK(stream.ok());
    CHECK(proxy.request.starts_with("CONNECT gateway.invalid:1234 HTTP/1.1\r\n"));
    CHECK(proxy.request.find("\r\nProxy-Authorization: Basic YWRhOndvcmQ=\r\n") !=
          std::string::npos);
}

TEST_CASE("proxy tunnel: a refusal ends the attempt with the proxy's words") {
    detail::client::ReceiveThread thread;
    OneTunnelProxy proxy{"HTTP/1.1 502 Bad Gateway\r\n\r\n", nullptr};
    const auto stream = connect(
        thread, {.host = "broker", .port = 5671, .tls = {}, .proxy = at_port(proxy.port())});
    REQUIRE_FALSE(stream.ok());
    CHECK(stream.failure().code == Errc::connection_refused);
    CHECK(stream.failure().detail.find("502 Bad Gateway") != std::string::npos);
}

TEST_CASE("proxy tunnel: a proxy that is not there is named") {
    detail::client::ReceiveThread thread;
    std::uint16_t free_port = 0;
    {
        asio::io_context io;
        free_port =
            tcp::acceptor{io, {asio::ip::address_v4::loopback(), 0}}.local_endpoint().port();
    }
    const auto stream =
        connect(thread, {.host = "broker", .port = 5671, .tls = {}, .proxy = at_port(free_port)});
    REQUIRE_FALSE(stream.ok());
    CHECK(stream.failure().detail.starts_with("proxy 127.0.0.1:" + std::to_string(free_port)));
}

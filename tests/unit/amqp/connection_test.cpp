// SPDX-License-Identifier: MIT
// Uses real sockets on loopback. Waits are for conditions and bounded; nothing is timed.
#include <doctest/doctest.h>

#include <future>

#include <sys/resource.h>

#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include "amqp/acceptor.hpp"
#include "amqp/connection.hpp"
#include "amqp/connector.hpp"
#include "client/threads/receive_thread.hpp"
#include "support/test_certificates.hpp"
#include "wire.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace sessionq::test;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 20s;

template <typename T>
T wait(std::future<T>& future) {
    REQUIRE(future.wait_for(patience) == std::future_status::ready);
    return future.get();
}

template <typename F>
void run_on(detail::client::ReceiveThread& thread, F&& work) {
    std::promise<void> done;
    thread.post([&] {
        work();
        done.set_value();
    });
    auto future = done.get_future();
    wait(future);
}

/// A server that opens every session and link, and sends each message back to its receivers.
struct EchoPeer final : ConnectionOwner, SessionListener, LinkListener {
    EchoPeer(ConnectionHost& host, StreamPtr stream, ConnectionOptions options)
        : connection{
              std::make_unique<Connection>(host, std::move(stream), std::move(options), *this)} {}
    ~EchoPeer() override {
        receiver.reset();
        sender.reset();
        session.reset();
    }

    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override {
        session = std::move(made);
        session->set_listener(this);
    }
    void on_closed(const Condition&) override { closed = true; }
    void on_sender(SenderLinkPtr link) override {
        sender = std::move(link);
        sender->set_listener(this);
        sender->open(sender->remote());
    }
    void on_receiver(ReceiverLinkPtr link) override {
        receiver = std::move(link);
        receiver->set_listener(this);
        receiver->open(receiver->remote());
        receiver->add_credit(10);
    }
    void on_session_ended(const Condition&) override {}
    void on_link_closed(const Condition&, bool) override {}
    void on_link_gone(const Condition&) override {}
    void on_delivery(DeliveryHandle delivery, std::string_view encoded) override {
        delivery.settle({.kind = OutcomeKind::accepted});
        sender->send("tag", encoded, true);
    }
    void on_disposition(DeliveryHandle) override {}

    std::unique_ptr<Connection> connection;
    SessionPtr session{};
    SenderLinkPtr sender{};
    ReceiverLinkPtr receiver{};
    bool closed{false};
};

/// A client's connection that requests one message from the echo.
struct Asking final : ConnectionOwner, LinkListener {
    Asking(ConnectionHost& host, StreamPtr stream, ConnectionOptions options, std::string text)
        : message{std::move(text)},
          connection{
              std::make_unique<Connection>(host, std::move(stream), std::move(options), *this)} {}
    ~Asking() override {
        receiver.reset();
        sender.reset();
        session.reset();
    }

    void on_open(const Open&) override {
        session = connection->engine().begin_session();
        receiver = session->make_receiver("r");
        receiver->set_listener(this);
        receiver->open({.source = {.address = "echo"}});
        receiver->add_credit(1);
        sender = session->make_sender("s");
        sender->set_listener(this);
        sender->open({.target = {.address = "echo"}});
    }
    void on_closed(const Condition& condition) override { ended.set_value(condition); }
    void on_link_closed(const Condition&, bool) override {}
    void on_link_gone(const Condition&) override {}
    void on_flow() override {
        if (sender->credit() != 0 && !std::exchange(sent, true)) {
            sender->send("1", message, false);
        }
    }
    void on_delivery(DeliveryHandle delivery, std::string_view encoded) override {
        delivery.settle();
        echoed.set_value(std::string{encoded});
    }
    void on_disposition(DeliveryHandle delivery) override { delivery.settle(); }

    const std::string message;
    std::unique_ptr<Connection> connection;
    SessionPtr session{};
    SenderLinkPtr sender{};
    ReceiverLinkPtr receiver{};
    bool sent{false};
    std::promise<std::string> echoed{};
    std::promise<Condition> ended{};
};

struct Bench {
    explicit Bench(TlsContextPtr tls = {}, std::string web_socket_path = {}) {
        run_on(thread, [&] {
            host = std::make_unique<ConnectionHost>(thread, thread.io_context());
            acceptor = std::make_unique<Acceptor>(*host, admission, [this](StreamPtr stream) {
                ConnectionOptions options;
                options.engine = {
                    .is_server = true, .open = server_open, .sasl = make_sasl_server({})};
                peers.push_back(
                    std::make_unique<EchoPeer>(*host, std::move(stream), std::move(options)));
            });
            auto listening = acceptor->listen(
                {.port = 0, .tls = std::move(tls), .web_socket_path = std::move(web_socket_path)});
            REQUIRE(listening.ok());
            port = listening.value();
        });
    }
    ~Bench() {
        run_on(thread, [&] {
            connector.reset();
            asking.reset();
            peers.clear();
            acceptor.reset();
            host.reset();
        });
    }

    core::Result<StreamPtr> connect(Target target, Duration within = patience) {
        std::promise<core::Result<StreamPtr>> promise;
        auto future = promise.get_future();
        run_on(thread, [&] {
            connector = std::make_unique<Connector>(
                *host, std::move(target), thread.now() + within,
                [&](core::Result<StreamPtr> result) { promise.set_value(std::move(result)); });
        });
        return wait(future);
    }

    void ask(StreamPtr stream, std::string text) {
        run_on(thread, [&] {
            ConnectionOptions options;
            options.engine = {.open = {.container = "c",
                                       .hostname = "localhost",
                                       .idle_time_out = client_idle,
                                       .max_frame_size = 65536},
                              .sasl = make_sasl_client({})};
            asking = std::make_unique<Asking>(*host, std::move(stream), std::move(options),
                                              std::move(text));
        });
    }

    detail::client::ReceiveThread thread{};
    std::unique_ptr<ConnectionHost> host{};
    std::uint16_t port{0};
    Admission admission{};
    std::unique_ptr<Acceptor> acceptor{};
    std::unique_ptr<Connector> connector{};
    std::vector<std::unique_ptr<EchoPeer>> peers{};
    std::unique_ptr<Asking> asking{};
    Open server_open{.container = "server", .idle_time_out = 60000, .max_frame_size = 65536};
    std::uint32_t client_idle{60000};
};

} // namespace

TEST_CASE("Connection: small and large messages go both ways over TCP") {
    Bench bench;
    for (const std::size_t size : {std::size_t{1}, std::size_t{100'000}, std::size_t{3'000'000}}) {
        CAPTURE(size);
        auto stream = bench.connect({.host = "127.0.0.1", .port = bench.port});
        REQUIRE(stream.ok());
        bench.ask(std::move(stream).value(), std::string(size, 'x'));
        auto echoed = bench.asking->echoed.get_future();
        CHECK(wait(echoed).size() == size);
        run_on(bench.thread, [&] { bench.asking->connection->close(); });
        auto ended = bench.asking->ended.get_future();
        CHECK(wait(ended).empty());
        run_on(bench.thread, [&] { bench.asking.reset(); });
    }
}

TEST_CASE("Connection: messages go over TLS if the certificate is trusted and names the host") {
    const TestCertificates certificates;
    const auto server = make_tls(TlsServerSettings{.certificate_file = certificates.server(),
                                                   .key_file = certificates.server_key()});
    REQUIRE(server.ok());
    const auto trusting = make_tls(TlsClientSettings{.ca_file = certificates.ca()});
    REQUIRE(trusting.ok());
    Bench bench{server.value()};
    const std::uint16_t port = bench.port;
    SUBCASE("trusted, by name and by address") {
        for (const char* host : {"localhost", "127.0.0.1"}) {
            auto stream = bench.connect({.host = host, .port = port, .tls = trusting.value()});
            REQUIRE(stream.ok());
            bench.ask(std::move(stream).value(), std::string(100'000, 'x'));
            auto echoed = bench.asking->echoed.get_future();
            CHECK(wait(echoed).size() == 100'000);
        }
    }
    SUBCASE("not trusted") {
        const auto strict = make_tls(TlsClientSettings{});
        const auto stream =
            bench.connect({.host = "localhost", .port = port, .tls = strict.value()});
        REQUIRE_FALSE(stream.ok());
        CHECK(stream.failure().code == Errc::peer_untrusted);
    }
    SUBCASE("not verified") {
        const auto careless = make_tls(TlsClientSettings{.verify = false});
        CHECK(bench.connect({.host = "localhost", .port = port, .tls = careless.value()}).ok());
    }
}

TEST_CASE("Connection: messages go over WebSocket, with and without TLS") {
    const TestCertificates certificates;
    const auto server = make_tls(TlsServerSettings{.certificate_file = certificates.server(),
                                                   .key_file = certificates.server_key()});
    const auto trusting = make_tls(TlsClientSettings{.ca_file = certificates.ca()});
    for (const bool is_secure : {false, true}) {
        Bench bench{is_secure ? server.value() : nullptr, "/$servicebus/websocket"};
        const TlsContextPtr tls = is_secure ? trusting.value() : nullptr;
        auto stream = bench.connect({.host = "localhost",
                                     .port = bench.port,
                                     .tls = tls,
                                     .web_socket_path = "/$servicebus/websocket"});
        REQUIRE(stream.ok());
        bench.ask(std::move(stream).value(), std::string(1'000'000, 'x'));
        auto echoed = bench.asking->echoed.get_future();
        CHECK(wait(echoed).size() == 1'000'000);
        run_on(bench.thread, [&] { bench.asking->connection->close(); });
        auto ended = bench.asking->ended.get_future();
        CHECK(wait(ended).empty());
        const auto refused = bench.connect(
            {.host = "localhost", .port = bench.port, .tls = tls, .web_socket_path = "/elsewhere"});
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.failure().code == Errc::connection_refused);
        CHECK(refused.failure().detail.find("404") != std::string::npos);
    }
}

TEST_CASE("Connector: rejects a certificate for another host, and one that names none") {
    const TestCertificates certificates;
    std::string file = certificates.elsewhere();
    std::string key = certificates.elsewhere_key();
    const char* said = "localhost";
    SUBCASE("for another host") {}
    SUBCASE("with a common name and no subjectAltName") {
        file = certificates.nameless();
        key = certificates.nameless_key();
        said = "subjectAltName";
    }
    const auto server = make_tls(TlsServerSettings{.certificate_file = file, .key_file = key});
    const auto trusting = make_tls(TlsClientSettings{.ca_file = certificates.ca()});
    Bench bench{server.value()};
    const auto stream =
        bench.connect({.host = "localhost", .port = bench.port, .tls = trusting.value()});
    REQUIRE_FALSE(stream.ok());
    CHECK(stream.failure().code == Errc::peer_untrusted);
    CHECK(stream.failure().detail.find(said) != std::string::npos);
}

TEST_CASE("Connector: reports each kind of failure") {
    Bench bench;
    const std::uint16_t port = bench.port;
    SUBCASE("nobody listens") {
        run_on(bench.thread, [&] { bench.acceptor.reset(); });
        const auto stream = bench.connect({.host = "127.0.0.1", .port = port});
        REQUIRE_FALSE(stream.ok());
        CHECK(stream.failure().code == Errc::connection_refused);
    }
    SUBCASE("the host is unknown") {
        const auto stream = bench.connect({.host = "no-such-host.invalid", .port = port});
        REQUIRE_FALSE(stream.ok());
        CHECK(stream.failure().code == Errc::connection_refused);
        CHECK(stream.failure().detail.find("no-such-host.invalid") != std::string::npos);
    }
    SUBCASE("the peer does not speak TLS") {
        const auto careless = make_tls(TlsClientSettings{.verify = false});
        const auto stream =
            bench.connect({.host = "127.0.0.1", .port = port, .tls = careless.value()});
        REQUIRE_FALSE(stream.ok());
        CHECK(stream.failure().code == Errc::connection_refused);
        CHECK(stream.failure().detail ==
              "127.0.0.1:" + std::to_string(port) + " does not speak TLS");
    }
    SUBCASE("the deadline has passed") {
        const auto stream = bench.connect({.host = "127.0.0.1", .port = port}, -1s);
        if (!stream.ok()) { // loopback may be faster than the timer
            CHECK(stream.failure().code == Errc::timeout);
        }
    }
}

TEST_CASE("tls: an unusable file is named in the error") {
    const auto made = make_tls(TlsClientSettings{.ca_file = "/no/such/file.pem"});
    REQUIRE_FALSE(made.ok());
    CHECK(made.failure().code == Errc::invalid_option);
    CHECK(made.failure().detail.find("/no/such/file.pem") != std::string::npos);
    CHECK_FALSE(make_tls(TlsClientSettings{.certificate_file = "a.pem"}).ok());
}

TEST_CASE("Acceptor: refuses an address that is in use or invalid") {
    Bench bench;
    run_on(bench.thread, [&] {
        const auto taken =
            Acceptor{*bench.host, bench.admission, [](StreamPtr) {}}.listen({.port = bench.port});
        REQUIRE_FALSE(taken.ok());
        CHECK(taken.failure().code == Errc::invalid_state);
        CHECK(taken.failure().detail ==
              "cannot listen on 127.0.0.1:" + std::to_string(bench.port) + ": the port is in use");
        const auto none =
            Acceptor{*bench.host, bench.admission, [](StreamPtr) {}}.listen({.address = "nowhere"});
        CHECK(none.failure().code == Errc::invalid_option);
    });
}

TEST_CASE("Connection: a server that asks for certificates admits only clients with a valid one") {
    const TestCertificates certificates;
    const auto server = make_tls(TlsServerSettings{.certificate_file = certificates.server(),
                                                   .key_file = certificates.server_key(),
                                                   .client_ca_file = certificates.ca()});
    const auto known = make_tls(TlsClientSettings{.ca_file = certificates.ca(),
                                                  .certificate_file = certificates.elsewhere(),
                                                  .key_file = certificates.elsewhere_key()});
    const auto unknown = make_tls(TlsClientSettings{.ca_file = certificates.ca()});
    Bench bench{server.value()};
    auto stream = bench.connect({.host = "localhost", .port = bench.port, .tls = known.value()});
    REQUIRE(stream.ok());
    bench.ask(std::move(stream).value(), "hello");
    auto echoed = bench.asking->echoed.get_future();
    CHECK(wait(echoed) == "hello");
    run_on(bench.thread, [&] { bench.asking.reset(); });
    auto refused = bench.connect({.host = "localhost", .port = bench.port, .tls = unknown.value()});
    if (refused.ok()) { // the client's handshake may end before the server has checked
        bench.ask(std::move(refused).value(), "hello");
        auto ended = bench.asking->ended.get_future();
        CHECK(wait(ended).found == Errc::connection_lost);
    }
}

TEST_CASE("Connection: a peer that disappears under load is reported once") {
    Bench bench;
    auto stream = bench.connect({.host = "127.0.0.1", .port = bench.port});
    REQUIRE(stream.ok());
    bench.ask(std::move(stream).value(), std::string(30'000'000, 'x'));
    auto ended = bench.asking->ended.get_future();
    for (bool gone = false; !gone;) {
        run_on(bench.thread, [&] {
            gone = !bench.peers.empty();
            bench.peers.clear();
        });
    }
    CHECK(wait(ended).found == Errc::connection_lost);
}

TEST_CASE("Acceptor: several acceptors share a port") {
    Bench bench;
    run_on(bench.thread, [&] {
        Acceptor first{*bench.host, bench.admission, [](StreamPtr) {}};
        Acceptor second{*bench.host, bench.admission, [](StreamPtr) {}};
        const auto port = first.listen({.port = 0, .share_port = true});
        REQUIRE(port.ok());
        CHECK(second.listen({.port = port.value(), .share_port = true}).ok());
    });
}

#if !defined(                                                                                      \
    __SANITIZE_ADDRESS__) // UndefinedBehaviorSanitizer needs file descriptors to inspect objects
                          // and reports errors without them
TEST_CASE("Acceptor: accepts again once file descriptors are available") {
    Bench bench;
    asio::io_context context;
    asio::ip::tcp::socket waiting{context};
    waiting.open(asio::ip::tcp::v4());
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    waiting.connect({asio::ip::make_address("127.0.0.1"),
                     bench.port}); // by the system, before the acceptor accepts it
    bool was_taken = true;
    run_on(bench.thread, [&] {});
    run_on(bench.thread, [&] { was_taken = !bench.peers.empty(); });
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK_FALSE(was_taken);
    waiting.write_some(asio::buffer("HTTP/1.1 ", 8));
    char answer[64];
    asio::error_code error;
    while (!error) {
        waiting.read_some(asio::buffer(answer),
                          error); // returns when the server has accepted and closed it
    }
    CHECK(error == asio::error::eof);
}
#endif

TEST_CASE("Connection: a peer that sends too much before the open is disconnected") {
    Bench bench;
    asio::io_context context;
    asio::ip::tcp::socket socket{context};
    socket.connect({asio::ip::make_address("127.0.0.1"), bench.port});
    const std::string noise(100'000, 'A');
    asio::error_code error;
    asio::write(socket, asio::buffer(noise), error);
    char byte[1024];
    for (error = {}; !error;) {
        socket.read_some(asio::buffer(byte), error); // returns when it is disconnected
    }
    CHECK(error);
}

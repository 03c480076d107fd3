// SPDX-License-Identifier: MIT
// The peer is on loopback and speaks by script. Waits are for answers, and nothing is timed.
#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include <sessionq/sessionq.hpp>

#include "amqp/codec/encoder.hpp"
#include "client/connecting/client_core.hpp"
#include "groups/dialect_connection.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace std::chrono_literals;
using namespace std::string_literals;

namespace {

std::string frame(char type, std::uint64_t code, const List& fields) {
    std::string body;
    Encoder{body}.write(Value::described(code, fields));
    std::string made = "\0\0\0\0\x02\0\0\0"s;
    made[5] = type;
    made += body;
    made[2] = static_cast<char>(made.size() >> 8U);
    made[3] = static_cast<char>(made.size());
    return made;
}

std::string offering(const char* mechanism) {
    return "AMQP\x03\x01\0\0"s +
           frame(1, 0x40, {Array{.element = 0xa3, .items = {Value::symbol(mechanism)}}});
}

const std::string let_in =
    offering("PLAIN") + frame(1, 0x44, {std::uint8_t{0}}) + "AMQP\0\x01\0\0"s;

std::string opening(std::uint32_t frame_size, Value properties) {
    return let_in + frame(0, 0x10,
                          {"broker", Value{}, frame_size, std::uint16_t{0}, Value{}, Value{},
                           Value{}, Value{}, Value{}, std::move(properties)});
}
std::string opening_as(const char* product) {
    return opening(65536, Value::map({{Value::symbol("product"), product}}));
}
std::string closing(const char* condition, const char* text) {
    return frame(0, 0x18,
                 {Value::described(std::uint64_t{0x1d}, List{Value::symbol(condition), text})});
}

/// As Broker-J does: with an open that nobody could work with, and the reason behind it.
std::string refusing(const char* condition, const char* text) {
    return opening(0, {}) + closing(condition, text);
}

/// As Artemis does.
std::string announcing_refusal() {
    return opening(65536,
                   Value::map({{Value::symbol("amqp:connection-establishment-failed"), true}}));
}

/// Says to whoever comes first what stands first, and so on; the last to all that follow. On its
/// own thread, which may be used for others too.
struct Peer {
    explicit Peer(std::vector<std::string> words, bool hangs_up = false)
        : script{std::move(words)}, is_leaving{hangs_up} {
        detail::client::run_on(thread, [&] {
            acceptor = std::make_unique<asio::ip::tcp::acceptor>(
                thread.io_context(), asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), 0});
            port = acceptor->local_endpoint().port();
            accept();
        });
    }
    ~Peer() {
        detail::client::run_on(thread, [&] {
            sockets.clear();
            acceptor.reset();
        });
    }
    void accept() {
        acceptor->async_accept([this](const std::error_code& error, asio::ip::tcp::socket socket) {
            if (error) {
                return;
            }
            asio::write(socket, asio::buffer(script[std::min(sockets.size(), script.size() - 1)]));
            if (is_leaving) {
                socket.shutdown(asio::ip::tcp::socket::shutdown_send);
            }
            sockets.push_back(std::move(socket));
            accept();
        });
    }
    [[nodiscard]] std::string url() const {
        return "amqp://user:SECRET@127.0.0.1:" + std::to_string(port);
    }

    const std::vector<std::string> script;
    const bool is_leaving;
    detail::client::ReceiveThread thread{};
    std::unique_ptr<asio::ip::tcp::acceptor> acceptor{};
    std::vector<asio::ip::tcp::socket> sockets{};
    std::uint16_t port{0};
};

/// What a connection answers, on the peer's thread.
struct Asking {
    explicit Asking(Peer& of, Duration operation_timeout = 20s) : peer{of} {
        detail::client::run_on(peer.thread, [&] {
            connection = std::make_unique<groups::DialectConnection>(
                peer.thread, peer.thread.io_context(),
                groups::EndpointSettings{.url = groups::ConnectionUrl::parse(peer.url()).value(),
                                         .operation_timeout = operation_timeout,
                                         .backoff = {.min = 1ms, .max = 1ms}});
        });
    }
    ~Asking() {
        detail::client::run_on(peer.thread, [&] { connection.reset(); });
    }
    /// The failure, or nothing once the connection is open.
    std::optional<Failure> ask() {
        std::promise<std::optional<Failure>> answer;
        auto answered = answer.get_future();
        detail::client::run_on(peer.thread, [&] {
            connection->when_open([&](const core::Result<Engine*>& engine) {
                answer.set_value(engine.ok() ? std::nullopt : std::optional{engine.failure()});
            });
        });
        REQUIRE(answered.wait_for(60s) == std::future_status::ready);
        return answered.get();
    }

    Peer& peer;
    std::unique_ptr<groups::DialectConnection> connection{};
};

/// Of the first connection to a peer that says this.
Failure failure_of(const std::string& words, bool hangs_up = false) {
    Peer peer{{words}, hangs_up};
    Asking asking{peer};
    const auto failure = asking.ask();
    REQUIRE(failure);
    CHECK(peer.sockets.size() == 1); // tried once
    CHECK(failure->to_string().find("SECRET") == std::string::npos);
    return *failure;
}

bool tells(const Failure& failure, std::string_view text) {
    return failure.to_string().find(text) != std::string::npos;
}

} // namespace

TEST_CASE("dialect connection: a broker that is still starting counts as unreachable, and is tried "
          "again") {
    Peer peer{{refusing("amqp:connection:forced", "Virtual host 'h' is not active"),
               opening_as("Apache Qpid Broker-J Core")}};
    Asking asking{peer};
    const auto failure = asking.ask();
    REQUIRE(failure);
    CHECK(failure->code == Errc::connection_refused);
    CHECK(failure->peer_text == "Virtual host 'h' is not active");
    CHECK_FALSE(asking.ask());
    CHECK(peer.sockets.size() == 2);
}

TEST_CASE("dialect connection: an unknown virtual host is an entity that was not found") {
    const Failure failure =
        failure_of(refusing("amqp:not-found", "Unknown hostname in connection open: 'nosuch'"));
    CHECK(failure.code == Errc::entity_not_found);
    CHECK(tells(failure, "nosuch"));
}

TEST_CASE("dialect connection: a peer that speaks another protocol is a protocol error, which "
          "names the protocol if it is known") {
    const auto named = [](const std::string& words, std::string_view name) {
        const Failure failure = failure_of(words, true);
        CHECK(failure.code == Errc::protocol_error);
        CHECK_MESSAGE(tells(failure, name), failure.to_string());
    };
    named("HTTP/1.1 400 Bad Request\r\n\r\n", "it speaks HTTP");
    named("\x15\x03\x03\0\x02\x02\x28"s, "it speaks TLS");
    named("AMQP\0\0\x09\x01"s, "another version of AMQP");
    named("AMQP\0\x01\0\0"s, "AMQP 1.0 without");
    named("220 mail.example ESMTP\r\n", "does not speak AMQP 1.0 with SASL");
    named(let_in + "HTTP/1.1 400\r\n\r\n", "is no frame");
}

TEST_CASE(
    "dialect connection: without a common SASL mechanism the failure names those of the broker") {
    const Failure failure = failure_of(offering("GSSAPI"), true);
    CHECK(failure.code == Errc::unauthorized);
    CHECK(tells(failure, "GSSAPI"));
}

TEST_CASE("dialect connection: a peer that hangs up before the connection is open is unreachable") {
    CHECK(failure_of("", true).code == Errc::connection_refused);
    CHECK(failure_of(let_in, true).code == Errc::connection_refused);
}

TEST_CASE("dialect connection: a broker of an unknown product is refused by name, with advice") {
    const Failure failure = failure_of(opening_as("OtherMQ"), true);
    CHECK(failure.code == Errc::not_supported);
    CHECK(tells(failure, "unknown broker 'OtherMQ'"));
    CHECK(tells(failure, "?dialect=artemis"));
    const Failure nameless = failure_of(opening(65536, {}), true);
    CHECK(nameless.code == Errc::not_supported);
    CHECK(tells(nameless, "the broker does not name its product; if"));
    CHECK(tells(nameless, "sessionqd need a connection string"));
}

TEST_CASE("dialect connection: an open that announces a refusal is not an unknown broker") {
    const Failure failure = failure_of(
        announcing_refusal() + closing("amqp:unauthorized-access", "who is there?"), true);
    CHECK(failure.code == Errc::unauthorized);
    CHECK(failure.peer_text == "who is there?");
    CHECK(failure_of(announcing_refusal(), true).code == Errc::connection_refused);
}

TEST_CASE("dialect connection: a refusal whose reason does not come is not awaited for ever") {
    const auto check = [](const std::string& words, std::string_view text) {
        Peer peer{{words}};
        Asking asking{peer, 200ms};
        const auto failure = asking.ask();
        REQUIRE(failure);
        CHECK(failure->code == Errc::timeout);
        CHECK_MESSAGE(tells(*failure, text), failure->to_string());
    };
    check(announcing_refusal(), "announced that it refuses the connection, but did not close");
    check(opening(0, {}), "a max-frame-size of less than 512, but did not close");
}

TEST_CASE("dialect connection: a silent peer is given up in time, by name") {
    Peer peer{{""}};
    Asking asking{peer, 200ms};
    const auto failure = asking.ask();
    REQUIRE(failure);
    CHECK(failure->code == Errc::timeout);
    CHECK(tells(*failure, std::to_string(peer.port)));
}

TEST_CASE("dialect connection: Client::connect throws the first failure and does not retry") {
    Peer peer{{"HTTP/1.1 400 Bad Request\r\n\r\n"}, true};
    try {
        static_cast<void>(Client::connect(peer.url()));
        FAIL("an HTTP server let us in");
    } catch (const Error& error) {
        CHECK(error.code() == Errc::protocol_error);
        CHECK(tells(error.failure(), "it speaks HTTP"));
    }
    detail::client::run_on(peer.thread, [] {}); // so that what it has counted is seen here
    CHECK(peer.sockets.size() == 1);
}

// SPDX-License-Identifier: MIT
// A client's connection to a scripted peer, on manual time.
#include "amqp/client_connection.hpp"

#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include "scripted_stream.hpp"
#include "support/manual_loop.hpp"

using namespace sessionq;
using namespace sessionq::amqp;
using namespace sessionq::test;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

namespace {

constexpr auto peer_sasl_header = "AMQP\3\1\0\0"sv;
constexpr auto peer_amqp_header = "AMQP\0\1\0\0"sv;
// mechanisms: ANONYMOUS
constexpr auto peer_offer = "\0\0\0\x1c\x02\x01\0\0\0\x53\x40\xc0\x0f\x01\xe0\x0c\x01\xa3\x09"
                            "ANONYMOUS"sv;
constexpr auto peer_lets_in = "\0\0\0\x10\x02\x01\0\0\0\x53\x44\xc0\x03\x01\x50\0"sv;

struct Handshaking final : ClientConnectionEvents {
    Handshaking() {
        ClientConnectionOptions options;
        options.hosts = {{.host = "broker", .port = 5672}};
        options.dial = [this](ConnectionHost&, const Target&, TimePoint,
                              Dialed dialed) -> std::unique_ptr<Dialing> {
            loop.post([this, dialed = std::move(dialed)] { dialed(StreamPtr{stream}); });
            return nullptr;
        };
        connection = std::make_unique<ClientConnection>(host, std::move(options), *this);
        connection->when_open([this](const core::Result<Engine*>& engine) {
            failures.push_back(engine.ok() ? Failure{} : engine.failure());
        });
        settle();
    }

    std::optional<Failure> on_connected(const Open&) override { return std::nullopt; }
    void on_disconnected(const Failure& why) override { failures.push_back(why); }
    Failure explain(const Condition& condition, std::string what) override {
        return {.code = condition.found.value_or(Errc::connection_lost),
                .detail = std::move(what) + ": " + condition.text};
    }

    void settle() {
        while (loop.run_until_idle() != 0 || stream->writing) {
            if (stream->writing) {
                stream->let_write();
            }
        }
    }
    void give(std::string_view bytes) {
        stream->give(bytes);
        settle();
    }
    /// How long the client takes until it has told the failure. The peer stays silent.
    Duration time_to_failure() {
        Duration passed{};
        while (failures.empty() && passed < 10s) {
            loop.advance(10ms);
            settle();
            passed += 10ms;
        }
        return passed;
    }

    ManualLoop loop{};
    asio::io_context io{};
    ConnectionHost host{loop, io};
    std::shared_ptr<ScriptedStream> stream{std::make_shared<ScriptedStream>()};
    std::vector<Failure> failures{};
    std::unique_ptr<ClientConnection> connection{};
};

} // namespace

TEST_CASE("ClientConnection: of many connections few are made at a time") {
    Handshaking first;
    struct Endless final : Dialing {};
    std::size_t dials = 1; // the first is in its handshake
    std::vector<std::unique_ptr<ClientConnection>> others;
    for (std::size_t i = 0; i < ConnectLine::most_at_once + 1; ++i) {
        ClientConnectionOptions options;
        options.hosts = {{.host = "broker", .port = 5672}};
        options.dial = [&](ConnectionHost&, const Target&, TimePoint, const Dialed&) {
            ++dials;
            return std::make_unique<Endless>();
        };
        others.push_back(std::make_unique<ClientConnection>(first.host, options, first));
        others.back()->when_open([](const core::Result<Engine*>&) {});
    }
    first.settle();
    CHECK(dials == ConnectLine::most_at_once);
    SUBCASE("one is given up") { others.front()->close(); }
    SUBCASE("one has failed") {
        first.give("nonsense");
        CHECK(first.time_to_failure() <= 200ms);
    }
    SUBCASE("one is open") {
        first.give(peer_sasl_header);
        first.give(peer_offer);
        first.give(peer_lets_in);
        first.give(peer_amqp_header);
        first.give("\0\0\0\x11\x02\0\0\0\0\x53\x10\xc0\x04\x01\xa1\x01s"sv);
        REQUIRE(first.connection->engine() != nullptr);
    }
    first.settle();
    CHECK(dials == ConnectLine::most_at_once + 1);
}

TEST_CASE("ClientConnection: a peer that talks nonsense in the handshake fails it soon, and says "
          "why") {
    Handshaking client;
    std::string_view said;
    SUBCASE("instead of SASL") {
        client.give("220 mail.example ESMTP\r\n");
        said = "AMQP";
    }
    SUBCASE("in SASL") {
        client.give(peer_sasl_header);
        client.give("\0\0\0\x02\x02\x01\0\0"sv);
        said = "frame";
    }
    SUBCASE("a refusal in SASL") {
        client.give(peer_sasl_header);
        client.give("\0\0\0\x10\x02\x01\0\0\0\x53\x44\xc0\x03\x01\x50\x01"sv);
        said = "rejected the SASL credentials";
    }
    SUBCASE("instead of AMQP") {
        client.give(peer_sasl_header);
        client.give(peer_offer);
        client.give(peer_lets_in);
        client.give("nonsense");
        said = "AMQP";
    }
    SUBCASE("instead of an open") {
        client.give(peer_sasl_header);
        client.give(peer_offer);
        client.give(peer_lets_in);
        client.give(peer_amqp_header);
        client.give("\0\0\0\x0c\x02\0\0\0\0\x53\x17\x45"sv);
        said = "open";
    }
    CHECK(client.time_to_failure() <= 200ms);
    REQUIRE(client.failures.size() == 1);
    CHECK(client.failures[0].detail.find("cannot connect to 'broker:5672'") == 0);
    CHECK(client.failures[0].detail.find(said) != std::string::npos);
    CHECK(client.stream->is_closed);
}

TEST_CASE("ClientConnection: the peer's end after nonsense is not waited for") {
    Handshaking client;
    client.give("220 mail.example ESMTP\r\n");
    CHECK(client.stream->is_shut);
    client.give("");
    CHECK(client.failures.size() == 1);
    CHECK(client.stream->is_closed);
}

TEST_CASE("ClientConnection: nonsense on an open connection ends it soon, and the peer is told") {
    Handshaking client;
    client.give(peer_sasl_header);
    client.give(peer_offer);
    client.give(peer_lets_in);
    client.give(peer_amqp_header);
    client.give("\0\0\0\x11\x02\0\0\0\0\x53\x10\xc0\x04\x01\xa1\x01s"sv);
    REQUIRE(client.connection->engine() != nullptr);
    client.failures.clear();
    client.stream->written.clear();
    client.give("\0\0\0\x02\x02\0\0\0"sv);
    CHECK(client.stream->written.find("framing-error") != std::string::npos);
    CHECK(client.time_to_failure() <= 200ms);
    REQUIRE(client.failures.size() == 1);
    CHECK(client.failures[0].detail.find("the connection to 'broker:5672' was lost") == 0);
}

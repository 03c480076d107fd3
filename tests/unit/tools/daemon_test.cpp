// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <latch>

#include <sessionq/sessionq.hpp>

#include "server/configuration.hpp"
#include "tools/sessionqd/daemon.hpp"
#include "unit/server/emulator_config.hpp"

using namespace sessionq;
using namespace sessionq::sessionqd;

namespace {

Options on_free_port() {
    return {.listen = Endpoint{.address = "127.0.0.1", .port = 0}, .keys = {{"name", "value"}}};
}

} // namespace

TEST_CASE("Daemon: says where it listens, and stops at once when nobody is connected") {
    Options options = on_free_port();
    options.receive_threads = 2;
    options.queues = {{.name = "orders", .options = {.requires_session = true}}};
    Daemon daemon{options};
    REQUIRE(daemon.urls().size() == 1);
    CHECK(daemon.urls()[0].starts_with("amqp://127.0.0.1:"));
    CHECK_FALSE(daemon.urls()[0].ends_with(":0"));
    daemon.stop(std::chrono::seconds{60});
    daemon.stop(std::chrono::seconds{60});
}

TEST_CASE("Daemon: what cannot be made or had is said") {
    Options twice = on_free_port();
    twice.queues = {{.name = "orders"}, {.name = "orders"}};
    CHECK_THROWS_AS(Daemon{twice}, Error);
    Options no_file = on_free_port();
    no_file.tls_listen = Endpoint{.address = "127.0.0.1", .port = 0};
    no_file.tls_certificate_file = "/nonexistent.pem";
    CHECK_THROWS_AS(Daemon{no_file}, Error);
    Options first = on_free_port();
    Daemon daemon{first};
    Options same = on_free_port();
    same.listen->port = static_cast<std::uint16_t>(
        std::stoi(daemon.urls()[0].substr(daemon.urls()[0].rfind(':') + 1)));
    CHECK_THROWS_AS(Daemon{same}, Error);
}

TEST_CASE("Daemon: an application uses it over a WebSocket; whoever speaks something else there is "
          "told so") {
    Options options = on_free_port();
    options.listen.reset();
    options.web_socket_listen = Endpoint{.address = "127.0.0.1", .port = 0};
    options.queues = {{.name = "orders", .options = {.requires_session = true}}};
    Daemon daemon{options};
    REQUIRE(daemon.urls().size() == 1);
    CHECK(daemon.urls()[0].starts_with("ws://127.0.0.1:"));
    const std::string url = daemon.urls()[0];
    const std::string place =
        "Endpoint=sb://127.0.0.1:" + url.substr(url.rfind(':') + 1) +
        ";SharedAccessKeyName=name;SharedAccessKey=value;UseDevelopmentEmulator=true";
    const Client client = Client::connect(place + ";TransportType=AmqpWebSockets");
    Sender sender{client, "orders"};
    sender.send(Message::of(std::string(200'000, 'x')).in_session("a"));
    SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
    auto got = receiver.receive_one(std::chrono::seconds{30});
    REQUIRE(got);
    CHECK(got->text().size() == 200'000);
    got->complete();
    const Client other = Client::connect(place, {.transport = Transport::web_sockets});
    CHECK(list_sessions(other, "orders").empty());
    CHECK_THROWS_AS(Client::connect(place, {.operation_timeout = std::chrono::seconds{5}}), Error);
}

TEST_CASE("Daemon: an application sends to a topic of a configuration and processes a subscription "
          "of it by session, over the network") {
    Options options = on_free_port();
    options.configuration = server::read_configuration(test::emulator_config).value();
    Daemon daemon{options};
    const std::string url = daemon.urls()[0];
    const Client client = Client::connect(
        "Endpoint=sb://127.0.0.1:" + url.substr(url.rfind(':') + 1) +
        ";SharedAccessKeyName=name;SharedAccessKey=value;UseDevelopmentEmulator=true");
    Sender sender{client, "events"};
    for (int i = 0; i < 30; ++i) {
        Message message = Message::of(std::to_string(i)).in_session(std::to_string(i % 3));
        message.subject = i % 2 == 0 ? "created" : "deleted";
        message.properties.emplace("tier", std::string{"gold"});
        sender.send(std::move(message));
    }
    std::vector<int> last(3, -1); // of each session, which one handler at a time touches
    std::atomic<int> in_order{0};
    std::latch handled{30};
    SessionProcessor processor{client, "events/subscriptions/all", {.max_concurrent_sessions = 3}};
    processor.on_message([&](MessageContext& call) {
        const int number = std::stoi(std::string{call.message().text()});
        int& before =
            last[static_cast<std::size_t>(std::stoi(std::string{call.message().session_id()}))];
        in_order += before < number ? 1 : 0;
        before = number;
        handled.count_down();
    });
    processor.start();
    handled.wait();
    processor.stop();
    CHECK(in_order == 30);

    Browser archive{
        client, "archive"}; // where what the rule of another subscription changed was passed on to
    const auto gold = archive.peek(100);
    CHECK(gold.size() == 15);
    CHECK(std::ranges::all_of(
        gold, [](const ReceivedMessage& message) { return message.content().to == "vault"; }));

    Sender misled{client, "events/subscriptions/all"};
    try {
        misled.send(Message::of("x").in_session("0"));
        FAIL("a subscription takes nothing from senders");
    } catch (const Error& error) {
        CHECK(error.failure().code == Errc::not_supported);
    }
}

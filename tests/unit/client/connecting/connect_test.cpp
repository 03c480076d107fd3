// SPDX-License-Identifier: MIT
// Client::connect against the local broker's AMQP front on loopback, over TCP and TLS. Each wait is
// for a condition and bounded.
#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/use_future.hpp>

#include <sessionq/async.hpp>
#include <sessionq/sessionq.hpp>

#include "broker/broker.hpp"
#include "client/connecting/broker_host.hpp"
#include "client/connecting/client_core.hpp"
#include "core/clock.hpp"
#include "server/server.hpp"
#include "servicebus/shared_access_signature.hpp"
#include "support/test_certificates.hpp"

using namespace sessionq;
using namespace std::chrono_literals;

namespace {

/// A broker, and its front on a thread of its own.
struct Front {
    explicit Front(const amqp::TlsContextPtr& tls = {}, server::Limits limits = {},
                   server::TokenVerifier verifier = {}, std::uint16_t at = 0) {
        detail::client::run_on(thread, [&] {
            server = std::make_unique<server::Server>(
                host.broker(), thread, thread.io_context(),
                server::AccessPolicy{.keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}},
                                     .verifier = std::move(verifier)},
                limits);
            port = server->listen({.port = at, .tls = tls}).value();
        });
        static_cast<void>(
            host.broker().create_queue("orders", {.requires_session = true}, host.now()).value());
        static_cast<void>(host.broker().create_queue("plain", {}, host.now()).value());
    }
    ~Front() {
        detail::client::run_on(thread, [&] { server.reset(); });
    }
    [[nodiscard]] std::string connection(const std::string& host_name, const std::string& key,
                                         const std::string& rest) const {
        return "Endpoint=sb://" + host_name + ":" + std::to_string(port) +
               ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=" + key + rest;
    }
    [[nodiscard]] std::string plain(const std::string& key = "SAS_KEY_VALUE") const {
        return connection("127.0.0.1", key, ";UseDevelopmentEmulator=true");
    }

    detail::client::BrokerHost host{};
    detail::client::ReceiveThread thread{};
    std::unique_ptr<server::Server> server{};
    std::uint16_t port{0};
};

std::optional<Errc> code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        CHECK(std::string{error.what()}.find("SECRET") == std::string::npos);
        return error.failure().code;
    }
    return std::nullopt;
}

void consume(const Client& client) {
    std::atomic<int> left{20};
    std::promise<void> done;
    SessionProcessor processor{
        client, "orders", {.max_concurrent_sessions = 4, .session_idle_timeout = 50ms}};
    processor.on_message([&](MessageContext& call) {
        CHECK(call.message().text() == "book");
        if (left.fetch_sub(1) == 1) {
            done.set_value();
        }
    });
    processor.start();
    Sender sender{client, "orders"};
    for (int i = 0; i < 10; ++i) {
        sender.send_all(
            std::vector<Message>{Message::of("book").in_session("s" + std::to_string(i % 5)),
                                 Message::of("book").in_session("s" + std::to_string(i % 5))});
    }
    CHECK(done.get_future().wait_for(30s) == std::future_status::ready);
    CHECK(processor.stop(10s).complete);
}

} // namespace

TEST_CASE("Client::connect: the same application runs over TCP and over TLS") {
    SUBCASE("TCP") {
        const Front front;
        consume(Client::connect(front.plain()));
    }
    SUBCASE("TLS, by a name that is verified") {
        const test::TestCertificates certificates;
        const Front front{
            amqp::make_tls(amqp::TlsServerSettings{.certificate_file = certificates.server(),
                                                   .key_file = certificates.server_key()})
                .value()};
        consume(Client::connect(front.connection("localhost", "SAS_KEY_VALUE", ""), {},
                                {.ca_file = certificates.ca()}));
    }
}

TEST_CASE("async_connect: it connects, or has the error of connect, in all forms") {
    const Front front;
    const auto answer = [](std::future<Client> connecting) {
        // Shared: it keeps the exception alive while that is looked at, for ThreadSanitizer.
        const std::shared_future<Client> shared = connecting.share();
        std::optional<Client> connected;
        const auto code = code_of([&] { connected = shared.get(); });
        if (connected) {
            Sender{*connected, "orders"}.send(Message::of("one").in_session("a"));
        }
        return code;
    };
    const ClientOptions options{.operation_timeout = 20s};
    const TlsOptions tls;
    const std::string where =
        "Endpoint=sb://127.0.0.1:" + std::to_string(front.port) + ";UseDevelopmentEmulator=true";
    const NamedKeyCredential key{"RootManageSharedAccessKey", "SAS_KEY_VALUE"};
    const NamedKeyCredential wrong{"RootManageSharedAccessKey", "wrong"};
    const std::string orders = ";EntityPath=orders"; // connect asks for the right to it
    CHECK(answer(async_connect(front.plain() + orders, options, tls, asio::use_future)) ==
          std::nullopt);
    CHECK(answer(async_connect(front.plain().c_str(), {}, {}, asio::use_future)) == std::nullopt);
    CHECK(answer(async_connect(where + orders, key, {}, {}, asio::use_future)) == std::nullopt);
    CHECK(answer(async_connect(where + orders, wrong, {}, {}, asio::use_future)) ==
          Errc::unauthorized);
    CHECK(answer(async_connect("Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=b",
                               options, {}, asio::use_future)) == Errc::connection_refused);
    const char* const null = nullptr;
    CHECK(code_of([&] { static_cast<void>(async_connect(null)); }) == Errc::invalid_argument);
    const std::shared_ptr<TokenCredential> none;
    CHECK(code_of([&] { static_cast<void>(async_connect(where, none)); }) ==
          Errc::invalid_argument);
    const ClientOptions lazily{.connect_lazily = true};
    CHECK(answer(async_connect(front.plain(), lazily, {}, asio::use_future)) == std::nullopt);
}

TEST_CASE("async_connect: a coroutine gets a client, and cancellation ends the attempt") {
    const Front front;
    asio::io_context context;
    bool connected = false;
    const auto body = [&]() -> asio::awaitable<void> {
        const Client client = co_await async_connect(front.plain());
        connected = client.options().receive_threads == 1;
    };
    asio::co_spawn(context, body(), asio::detached);
    context.run();
    CHECK(connected);

    std::optional<Errc> ended;
    asio::cancellation_signal signal;
    // Nobody accepts: the connection waits in the queue of the socket.
    asio::ip::tcp::acceptor silent{context, {asio::ip::address_v4::loopback(), 0}};
    context.restart();
    async_connect("Endpoint=sb://127.0.0.1:" + std::to_string(silent.local_endpoint().port()) +
                      ";SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true",
                  {}, {},
                  asio::bind_cancellation_slot(
                      signal.slot(), asio::bind_executor(context, [&](const std::exception_ptr& why,
                                                                      const Client&) {
                          ended = code_of([&] { std::rethrow_exception(why); });
                      })));
    signal.emit(asio::cancellation_type::terminal);
    context.run();
    CHECK(ended == Errc::cancelled);
}

TEST_CASE("Client::connect: a receiver takes a session, keeps state with it, renews and settles") {
    const Front front;
    const Client client = Client::connect(front.plain());
    Sender{client, "orders"}.send(Message::of("one").in_session("a"));
    SessionReceiver receiver = SessionReceiver::accept_next(client, "orders");
    CHECK(receiver.session_id() == "a");
    receiver.set_state("half way");
    CHECK(receiver.state() == "half way");
    static_cast<void>(receiver.renew_lock());
    auto message = receiver.receive_one(10s);
    REQUIRE(message);
    CHECK(message->text() == "one");
    message->complete();
    CHECK(code_of([&] { static_cast<void>(SessionReceiver::accept(client, "orders", "a")); }) ==
          Errc::session_locked_elsewhere);
    receiver.close();
    CHECK_FALSE(SessionReceiver::accept_next_if_any(client, "orders", 1ms));
    CHECK(list_sessions(client, "orders") == std::vector<std::string>{"a"}); // it has state
    Sender{client, "orders"}.send_all(
        std::vector<Message>(600, Message::of("two").in_session("a")));
    CHECK(purge(client, "orders") == 600);
}

TEST_CASE("Client::connect: TLS to a plain port, or the reverse, is named") {
    const test::TestCertificates certificates;
    const auto detail_of = [](const std::string& where) {
        try {
            static_cast<void>(Client::connect(where, {.operation_timeout = 20s}));
            return std::string{"connected"};
        } catch (const Error& error) {
            return error.failure().to_string();
        }
    };
    SUBCASE("the broker does not speak TLS") {
        const Front front;
        const std::string detail = detail_of(front.connection("127.0.0.1", "SAS_KEY_VALUE", ""));
        CHECK_MESSAGE(detail.find(std::to_string(front.port) + " does not speak TLS") !=
                          std::string::npos,
                      detail);
    }
    SUBCASE("the broker speaks TLS") {
        const Front front{
            amqp::make_tls(amqp::TlsServerSettings{.certificate_file = certificates.server(),
                                                   .key_file = certificates.server_key()})
                .value()};
        const std::string detail = detail_of(front.plain());
        CHECK_MESSAGE(detail.find("speaks TLS") != std::string::npos, detail);
    }
}

TEST_CASE(
    "Client::connect: a send is tried again if that is wanted, and an unknown entity is not") {
    const Front front;
    const Client client = Client::connect(front.plain());
    const Sender sender{client, "orders", {.max_attempts = 3, .backoff = {.min = 1ms, .max = 2ms}}};
    sender.send(Message::of("one").in_session("a"));
    MessageBatch batch = sender.create_batch();
    CHECK(batch.max_bytes() == 1U << 20U);
    CHECK(batch.add_if_fits(Message::of("two").in_session("a")));
    sender.send(std::move(batch));
    SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
    CHECK(receiver.receive(2, 10s).size() + receiver.receive(1, 100ms).size() == 2);
    CHECK(code_of([&] {
              const Sender nowhere{client, "nowhere", {.max_attempts = 3}};
              nowhere.send(Message::of("one").in_session("a"));
          }) == Errc::entity_not_found);
    CHECK(code_of([&] { Sender{client, "orders", {.max_attempts = 0}}; }) == Errc::invalid_option);
    CHECK(code_of([&] {
              Sender{client, "orders", {.backoff = {.min = 2s, .max = 1s}}};
          }) == Errc::invalid_option);
}

TEST_CASE("Client::connect: each way to fail is an error of its own, in time, without a secret") {
    const test::TestCertificates certificates;
    const Front front;
    const auto connect = [](const std::string& text, const TlsOptions& tls = {}) {
        return code_of(
            [&] { static_cast<void>(Client::connect(text, {.operation_timeout = 20s}, tls)); });
    };
    CHECK(connect("Endpoint=sb://h;Colour=SECRET") == Errc::invalid_argument);
    const char* unset = nullptr;
    CHECK(code_of([&] { static_cast<void>(Client::connect(unset)); }) == Errc::invalid_argument);
    CHECK(connect(
              "Endpoint=sb://no-such-host.invalid;SharedAccessKeyName=a;SharedAccessKey=SECRET") ==
          Errc::connection_refused);
    CHECK(connect("Endpoint=sb://"
                  "127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=SECRET;UseDevelopmentEmulator="
                  "true") == Errc::connection_refused);
    CHECK(connect(front.plain("SECRET") + ";EntityPath=orders") == Errc::unauthorized);
    CHECK(connect(front.plain(), {.ca_file = "/no/such/file"}) ==
          std::nullopt); // not looked at without TLS
    CHECK(connect(front.connection("127.0.0.1", "SECRET", "")) ==
          Errc::connection_refused); // TLS to who speaks none

    const Client client = Client::connect(front.plain());
    CHECK(code_of([&] {
              Sender{client, "nowhere"}.send(Message::of("x").in_session("a"));
          }) == Errc::entity_not_found);
    CHECK(code_of([&] { static_cast<void>(SessionReceiver::accept_next(client, "plain")); }) ==
          Errc::session_required);
    const Client wrong = Client::connect(front.plain("SECRET"));
    CHECK(code_of([&] {
              Sender{wrong, "orders"}.send(Message::of("x").in_session("a"));
          }) == Errc::unauthorized);

    const Front secure{
        amqp::make_tls(amqp::TlsServerSettings{.certificate_file = certificates.server(),
                                               .key_file = certificates.server_key()})
            .value()};
    CHECK(connect(secure.connection("localhost", "SECRET", "")) == Errc::peer_untrusted);
    const Front other{
        amqp::make_tls(amqp::TlsServerSettings{.certificate_file = certificates.elsewhere(),
                                               .key_file = certificates.elsewhere_key()})
            .value()};
    CHECK(connect(other.connection("localhost", "SECRET", ""), {.ca_file = certificates.ca()}) ==
          Errc::peer_untrusted);
}

TEST_CASE("Client::connect: a signature made elsewhere serves until it has expired, which is an "
          "error of its own") {
    const Front front;
    const auto with_signature = [&](WallTime expires) {
        return "Endpoint=sb://127.0.0.1:" + std::to_string(front.port) + ";SharedAccessSignature=" +
               detail::servicebus::make_shared_access_signature(
                   "sb://127.0.0.1/orders", "RootManageSharedAccessKey", "SAS_KEY_VALUE", expires) +
               ";EntityPath=orders;UseDevelopmentEmulator=true";
    };
    const WallTime now = front.host.now().wall;
    consume(Client::connect(with_signature(now + 1h)));
    try {
        static_cast<void>(Client::connect(with_signature(now - 1min), {.operation_timeout = 20s}));
        FAIL("an expired signature gave a client");
    } catch (const Error& error) {
        CHECK(error.failure().code == Errc::unauthorized);
        CHECK(error.failure().peer_text.find("xpired") != std::string::npos);
        CHECK(std::string{error.what()}.find("sig=") == std::string::npos);
    }
}

namespace {

/// Gives numbered tokens for as long as it is told to.
class FakeCredential final : public TokenCredential {
public:
    AccessToken get_token(const TokenRequest&) override {
        on_receive_thread = on_receive_thread || detail::client::ReceiveThread::on_any();
        if (signed_out) {
            throw std::runtime_error{"nobody is signed in"};
        }
        return {.token = "token-" + std::to_string(++given),
                .expires = core::system_clock().wall_now() + lasts};
    }

    std::atomic<int> given{0};
    std::atomic<bool> signed_out{false};
    std::atomic<bool> on_receive_thread{false};
    std::chrono::seconds lasts{3600};
};

} // namespace

TEST_CASE("Client::connect: a credential's tokens take the place of a key") {
    std::atomic<int> verified{0};
    const Front front{{}, {}, [&](std::string_view token, std::string_view, WallTime now) {
                          verified += token.starts_with("token-") ? 1 : 0;
                          return token.starts_with("token-") ? std::optional{now + 1h}
                                                             : std::nullopt;
                      }};
    const std::string where =
        "Endpoint=sb://127.0.0.1:" + std::to_string(front.port) + ";UseDevelopmentEmulator=true";
    const auto credential = std::make_shared<FakeCredential>();
    const Client client = Client::connect(where, credential);
    consume(client);
    CHECK(list_sessions(client, "orders").empty());
    CHECK(verified == 2);          // the entity and its $management
    CHECK(credential->given == 1); // one serves both
    CHECK_FALSE(credential->on_receive_thread);

    credential->signed_out = true;
    CHECK(code_of([&] {
              static_cast<void>(Client::connect(where + ";EntityPath=orders", credential,
                                                {.operation_timeout = 20s}));
          }) == Errc::unauthorized);
    CHECK(code_of([&] { static_cast<void>(Client::connect(front.plain(), credential)); }) ==
          Errc::invalid_argument); // a key too
    CHECK(code_of([&] {
              static_cast<void>(Client::connect(where, std::shared_ptr<TokenCredential>{}));
          }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(Client::connect("", credential)); }) ==
          Errc::invalid_argument);
    CHECK(code_of([&] {
              static_cast<void>(Client::connect("no-such-host.invalid:5671", credential));
          }) == Errc::connection_refused);
}

TEST_CASE("Client::connect: keys are rotated without a new client, and an entity may have one") {
    Front front;
    const auto change_keys = [&](server::AccessKeys keys) {
        detail::client::run_on(front.thread, [&] { front.server->change_keys(std::move(keys)); });
    };
    const std::string where =
        "Endpoint=sb://127.0.0.1:" + std::to_string(front.port) + ";UseDevelopmentEmulator=true";
    const NamedKeyCredential credential{"RootManageSharedAccessKey", "SAS_KEY_VALUE"};
    const Client client = Client::connect(where, credential);
    Sender orders{client, "orders"};
    orders.send(Message::of("before").in_session("a"));

    server::AccessKey of_plain{"3"};
    of_plain.entity = "plain";
    change_keys({{"next", "2"}, {"of-plain", of_plain}});
    orders.send(Message::of("by the token of the old key").in_session("a"));
    CHECK(code_of([&] { Sender{client, "plain"}.send(Message{}); }) == Errc::unauthorized);
    credential.update("next", "2");
    SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
    CHECK(receiver.receive_one(20s).has_value());
    CHECK(list_sessions(client, "orders").size() == 1); // a node that has no token yet

    change_keys({{"of-plain", of_plain}});
    credential.update_entity("PLAIN", "of-plain", "3");
    Sender{client, "plain"}.send(Message{});

    CHECK(code_of([] { const NamedKeyCredential nameless{"", "1"}; }) == Errc::invalid_argument);
    CHECK(code_of([&] { credential.update("next", ""); }) == Errc::invalid_argument);
    CHECK(code_of([&] { credential.update_entity("", "n", "k"); }) == Errc::invalid_argument);
    CHECK(code_of([&] { static_cast<void>(Client::connect(front.plain(), credential)); }) ==
          Errc::invalid_argument); // a key too
}

TEST_CASE("Client::connect: a transport that the connection string contradicts, or the broker does "
          "not have, is refused before anything is sent") {
    const auto complaint = [](const std::string& where, Transport transport) {
        try {
            static_cast<void>(Client::connect(where, {.transport = transport}));
        } catch (const Error& error) {
            CHECK(error.failure().code == Errc::invalid_option);
            return error.failure().detail;
        }
        return std::string{};
    };
    CHECK(complaint("Endpoint=sb://127.0.0.1:1;TransportType=AmqpWebSockets", Transport::tcp)
              .find("ClientOptions::transport") == 0);
    CHECK(complaint("amqp://127.0.0.1:1", Transport::web_sockets) ==
          "ClientOptions::transport: message groups have tcp only");
    CHECK(code_of([] {
              static_cast<void>(
                  Client::connect("amqp://127.0.0.1:1?dialect=artemis",
                                  {.operation_timeout = 20s, .transport = Transport::tcp}));
          }) == Errc::connection_refused); // which says that it was tried
    const auto credential = std::make_shared<FakeCredential>();
    CHECK(code_of([&] {
              static_cast<void>(Client::connect("TransportType=Amqp;Endpoint=sb://127.0.0.1:1",
                                                credential, {.transport = Transport::web_sockets}));
          }) == Errc::invalid_option);
    const LocalBroker broker;
    CHECK(Client::in_process(broker, {.transport = Transport::web_sockets}).options().transport ==
          Transport::web_sockets); // without effect
}

TEST_CASE("Client::connect: a credential is asked again before its token expires, and a session "
          "held goes on") {
    std::atomic<int> last{0};
    const Front front{
        {},
        {},
        [&](std::string_view token, std::string_view, WallTime now) -> std::optional<WallTime> {
            last = std::stoi(std::string{token.substr(6)});
            return now + 2s;
        }};
    const auto credential = std::make_shared<FakeCredential>();
    credential->lasts = 2s;
    const Client client = Client::connect("Endpoint=sb://127.0.0.1:" + std::to_string(front.port) +
                                              ";UseDevelopmentEmulator=true",
                                          credential);
    SessionReceiver receiver = SessionReceiver::accept(client, "orders", "a");
    for (int i = 0; i < 200 && last < 3; ++i) { // the first of them is no good any more by then
        CHECK_FALSE(receiver.receive_one(100ms));
    }
    CHECK(last >= 3);
    CHECK_FALSE(receiver.loss());
    Sender{client, "orders"}.send(Message::of("still here").in_session("a"));
    auto message = receiver.receive_one(20s);
    REQUIRE(message);
    message->complete();
}

TEST_CASE("Client::connect: the application is told that a connection is idle, sending and then "
          "receiving") {
    Front front;
    std::promise<ConnectionIdleness> nothing_sent;
    std::promise<ConnectionIdleness> nothing_received;
    std::atomic<int> writes{0};
    std::atomic<bool> on_caller{false};
    const auto caller = std::this_thread::get_id();
    std::promise<void> go_on;
    {
        const Client client = Client::connect(
            front.plain(), {.connection_idle_timeout = 4s,
                            .connection_write_idle_timeout = 1s,
                            .on_connection_idle = [&](const ConnectionIdleness& idleness) {
                                on_caller = on_caller || std::this_thread::get_id() == caller ||
                                            detail::client::ReceiveThread::on_any();
                                if (idleness.direction == IdleDirection::read) {
                                    nothing_received.set_value(idleness); // once: it ends then
                                } else if (writes.fetch_add(1) == 0) {
                                    nothing_sent.set_value(idleness);
                                }
                            }});
        auto sending = nothing_sent.get_future();
        REQUIRE(sending.wait_for(30s) == std::future_status::ready);
        const ConnectionIdleness sent = sending.get();
        CHECK(sent.broker == "127.0.0.1:" + std::to_string(front.port));
        CHECK(sent.idle >= 1s);
        // The broker goes silent, and does not close.
        front.thread.post([silent = go_on.get_future().share()] { silent.wait(); });
        auto receiving = nothing_received.get_future();
        const bool told = receiving.wait_for(30s) == std::future_status::ready;
        go_on.set_value();
        REQUIRE(told);
        const ConnectionIdleness received = receiving.get();
        CHECK(received.broker == sent.broker);
        CHECK(received.idle >= 4s);
        Sender{client, "orders"}.send(Message::of("on a new connection").in_session("a"));
    }
    CHECK_FALSE(on_caller);
    CHECK(writes > 1);
}

TEST_CASE("Client::connect: a processor outlives the loss of its connection") {
    auto front = std::make_unique<Front>();
    const Client client = Client::connect(front->plain());
    std::atomic<int> handled{0};
    std::promise<void> first;
    std::promise<void> second;
    SessionProcessor processor{
        client,
        "orders",
        {.session_idle_timeout = 10ms, .error_backoff = {.min = 10ms, .max = 100ms}}};
    processor.on_message(
        [&](MessageContext&) { (handled.fetch_add(1) == 0 ? first : second).set_value(); });
    processor.start();
    const auto send = [&] {
        static_cast<void>(
            front->host.broker()
                .find("orders")
                .value()
                ->send(std::vector<Message>{Message::of("x").in_session("a")}, front->host.now())
                .value());
    };
    send();
    REQUIRE(first.get_future().wait_for(30s) == std::future_status::ready);
    const Metrics before = client.metrics();
    CHECK(before.value("sessionq.connection.count") == 1);
    CHECK(before.value("sessionq.connection.opened") == 1);
    CHECK(before.value("sessionq.connection.lost") == 0);
    CHECK(before.value("sessionq.network.io", {{"network.io.direction", "receive"}}) > 100);
    CHECK(before.value("sessionq.network.io", {{"network.io.direction", "transmit"}}) > 100);
    detail::client::run_on(
        front->thread, [&] { // every connection is dropped, and the port is open again
            const std::uint16_t port = front->port;
            front->server.reset();
            front->server = std::make_unique<server::Server>(
                front->host.broker(), front->thread, front->thread.io_context(),
                server::AccessPolicy{.keys = {{"RootManageSharedAccessKey", "SAS_KEY_VALUE"}}});
            REQUIRE(front->server->listen({.port = port}).ok());
        });
    send();
    CHECK(second.get_future().wait_for(30s) == std::future_status::ready);
    processor.stop(10s);
    const Metrics after = client.metrics();
    CHECK(after.value("sessionq.connection.count") == 1);
    CHECK(after.value("sessionq.connection.lost") == 1);
    CHECK(after.value("sessionq.connection.opened") == 2);
    CHECK(after.value("sessionq.connection.reopened") == 1);
    CHECK(after.find("sessionq.connection.lost")->points.front().attributes ==
          MetricAttributes{{"messaging.system", "servicebus"}});
}

TEST_CASE(
    "Client::connect: more sessions than a connection has channels for are held over several") {
    const Front front{{}, {.channel_max = 4}};
    const Client client = Client::connect(front.plain());
    constexpr int sessions = 100;
    std::vector<Message> messages;
    for (int i = 0; i < sessions; ++i) {
        messages.push_back(Message::of("x").in_session("s" + std::to_string(i)));
    }
    Sender{client, "orders"}.send_all(std::move(messages));
    std::atomic<int> left{sessions};
    std::promise<void> done;
    SessionProcessor processor{client,
                               "orders",
                               {.max_concurrent_sessions = sessions,
                                .session_idle_timeout = Duration::max(),
                                .error_backoff = {.min = 1ms, .max = 10ms}}};
    processor.on_message([&](MessageContext&) {
        if (left.fetch_sub(1) == 1) {
            done.set_value();
        }
    });
    processor.start();
    CHECK(done.get_future().wait_for(30s) ==
          std::future_status::ready); // all at once: none is left
    CHECK(processor.describe().slots.size() == sessions);
    CHECK(processor.stop(10s).complete);
}

TEST_CASE("Client: one that connects lazily is there before its broker") {
    std::uint16_t port = 0;
    std::string connection;
    {
        const Front front;
        port = front.port;
        connection = front.plain();
    }
    const Client client = Client::connect(
        connection, {.connect_lazily = true, .reconnect_backoff = {.min = 10ms, .max = 100ms}});
    const Sender sender{client, "orders"};
    CHECK(code_of([&] { sender.send(Message::of("too early").in_session("a")); }) ==
          Errc::connection_refused);
    SessionProcessor processor{client, "orders", {.health = {.not_connected = 1s}}};
    std::promise<std::string> handled;
    processor.on_message([&handled](MessageContext& context) {
        handled.set_value(std::string{context.message().text()});
    });
    std::promise<void> told;
    std::atomic<bool> is_told{false};
    processor.on_health_changed([&](const Health& health) {
        for (const HealthReason& reason : health.reasons) {
            if (reason.cause == HealthCause::not_connected && !is_told.exchange(true)) {
                told.set_value();
            }
        }
    });
    processor.start();
    REQUIRE(told.get_future().wait_for(30s) == std::future_status::ready);
    const Front front{{}, {}, {}, port};
    auto text = handled.get_future();
    for (bool is_sent = false; !is_sent;) { // a connection that was refused is tried again later
        is_sent = !code_of([&] { sender.send(Message::of("in time").in_session("a")); });
    }
    REQUIRE(text.wait_for(30s) == std::future_status::ready);
    CHECK(text.get() == "in time");
    CHECK(processor.stop(10s).complete);
}

TEST_CASE("Client: message groups connect lazily if the URL names the dialect") {
    CHECK(code_of([] {
              static_cast<void>(Client::connect("amqp://127.0.0.1:1", {.connect_lazily = true}));
          }) == Errc::invalid_option);
    CHECK_FALSE(code_of([] {
        static_cast<void>(
            Client::connect("amqp://127.0.0.1:1?dialect=artemis", {.connect_lazily = true}));
    }));
}

// SPDX-License-Identifier: MIT
// Messages between a client's and a server's engine in one process, without sockets and over
// loopback. Measures framing, links and settling. In one round the server sends one credit's worth,
// the client reads and accepts each message, and the server answers and settles.
#include <benchmark/benchmark.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "amqp/acceptor.hpp"
#include "amqp/connection.hpp"
#include "amqp/connector.hpp"
#include "client/threads/receive_thread.hpp"

using namespace sessionq::amqp;

namespace {

struct Peer : ConnectionListener, SessionListener, LinkListener {
    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override {
        made->set_listener(this);
        sessions.push_back(std::move(made));
    }
    void on_closed(const Condition&) override {}
    void on_sender(SenderLinkPtr link) override {
        sender = std::move(link);
        sender->set_listener(this);
        sender->open(sender->remote());
    }
    void on_receiver(ReceiverLinkPtr) override {}
    void on_session_ended(const Condition&) override {}
    void on_link_closed(const Condition&, bool) override {}
    void on_link_gone(const Condition&) override {}
    void on_delivery(DeliveryHandle delivery, std::string_view encoded) override {
        buffer.assign(encoded);
        delivery.update(accepted);
        ++received;
    }
    void on_disposition(DeliveryHandle delivery) override {
        delivery.settle(accepted); // says nothing where the peer has settled
        ++settled;
    }

    const Outcome accepted{.kind = OutcomeKind::accepted};
    SenderLinkPtr sender{};
    ReceiverLinkPtr receiver{};
    std::vector<SessionPtr> sessions{};
    std::string buffer{};
    std::size_t received{0};
    std::size_t settled{0};
};

void carry(Engine& from, Engine& to, std::string& bytes) {
    from.take(bytes);
    to.input(bytes);
    to.process();
}

/// Argument: the size of a message in bytes.
void peek_lock_round(benchmark::State& state) {
    constexpr std::uint32_t credit = 64;
    Peer near;
    Peer far;
    Engine client{{.open = {.container = "client", .max_frame_size = 65536}}, near};
    Engine server{{.is_server = true, .open = {.container = "server", .max_frame_size = 65536}},
                  far};
    std::string bytes;
    const auto run = [&] {
        for (int i = 0; i < 3; ++i) {
            carry(client, server, bytes);
            carry(server, client, bytes);
        }
    };
    run();
    SessionPtr session = client.begin_session();
    near.receiver = session->make_receiver("link");
    near.receiver->set_listener(&near);
    near.receiver->open({.source = {.address = "orders"},
                         .sender_mode = SenderSettleMode::unsettled,
                         .receiver_mode = ReceiverSettleMode::second});
    run();
    const std::string message(static_cast<std::size_t>(state.range(0)), 'x');
    const std::string tag = "0123456789abcdef";
    for (auto _ : state) {
        near.receiver->add_credit(credit);
        carry(client, server, bytes);
        for (std::uint32_t i = 0; i < credit; ++i) {
            far.sender->send(tag, message, false);
        }
        carry(server, client, bytes);
        carry(client, server, bytes);
        carry(server, client, bytes);
    }
    if (near.settled != near.received ||
        near.received != static_cast<std::size_t>(state.iterations()) * credit) {
        state.SkipWithError("messages were lost");
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(near.received));
    near.receiver.reset();
    far.sender.reset();
}
BENCHMARK(peek_lock_round)->Arg(256)->Arg(4096);

/// The server's end of a connection over loopback. Sends whenever there is credit.
struct Feeding final : ConnectionOwner, Peer {
    Feeding(ConnectionHost& host, StreamPtr stream, std::string payload)
        : message{std::move(payload)} {
        ConnectionOptions options;
        options.engine = {.is_server = true,
                          .open = {.container = "server", .max_frame_size = 65536}};
        connection =
            std::make_unique<Connection>(host, std::move(stream), std::move(options), *this);
    }
    ~Feeding() override {
        sender.reset();
        sessions.clear();
    }
    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override { Peer::on_session(std::move(made)); }
    void on_closed(const Condition&) override {}
    void on_writable() override { on_flow(); }
    void on_flow() override {
        while (sender && sender->credit() != 0 && !connection->is_congested()) {
            sender->send("0123456789abcdef", message, false);
        }
    }

    const std::string message;
    std::unique_ptr<Connection> connection{};
};

/// The client's end. Refills its credit and counts to `wanted`.
struct Reading final : ConnectionOwner, Peer {
    static constexpr std::uint32_t credit = 1000;

    Reading(ConnectionHost& host, StreamPtr stream, std::size_t count, std::promise<void>& all)
        : wanted{count}, done{all} {
        ConnectionOptions options;
        options.engine = {.open = {.container = "client", .max_frame_size = 65536}};
        connection =
            std::make_unique<Connection>(host, std::move(stream), std::move(options), *this);
    }
    ~Reading() override {
        receiver.reset();
        sessions.clear();
    }
    void on_open(const Open&) override {
        sessions.push_back(connection->engine().begin_session());
        receiver = sessions.back()->make_receiver("link");
        receiver->set_listener(this);
        receiver->open({.source = {.address = "orders"},
                        .sender_mode = SenderSettleMode::unsettled,
                        .receiver_mode = ReceiverSettleMode::second});
        receiver->add_credit(credit);
    }
    void on_session(SessionPtr) override {}
    void on_closed(const Condition&) override {}
    void on_disposition(DeliveryHandle delivery) override {
        Peer::on_disposition(delivery);
        if (settled % (credit / 2) == 0) {
            receiver->add_credit(credit / 2);
        }
        if (settled == wanted) {
            done.set_value();
        }
    }

    const std::size_t wanted;
    std::promise<void>& done;
    std::unique_ptr<Connection> connection{};
};

void run_on(sessionq::detail::client::ReceiveThread& thread, const std::function<void()>& work) {
    std::promise<void> done;
    thread.post([&] {
        work();
        done.set_value();
    });
    done.get_future().wait();
}

/// The same over loopback, with a receive thread for each side.
void peek_lock_over_tcp(benchmark::State& state) {
    const std::string message(static_cast<std::size_t>(state.range(0)), 'x');
    constexpr std::size_t count = 100'000;
    for (auto _ : state) {
        sessionq::detail::client::ReceiveThread far;
        sessionq::detail::client::ReceiveThread near;
        std::unique_ptr<ConnectionHost> far_host;
        std::unique_ptr<ConnectionHost> near_host;
        Admission admission;
        std::unique_ptr<Acceptor> acceptor;
        std::unique_ptr<Connector> connector;
        std::unique_ptr<Feeding> feeding;
        std::unique_ptr<Reading> reading;
        std::promise<void> all;
        std::uint16_t port = 0;
        run_on(far, [&] {
            far_host = std::make_unique<ConnectionHost>(far, far.io_context());
            acceptor = std::make_unique<Acceptor>(*far_host, admission, [&](StreamPtr stream) {
                feeding = std::make_unique<Feeding>(*far_host, std::move(stream), message);
            });
            port = std::move(acceptor->listen({.port = 0})).take_or_throw();
        });
        run_on(near, [&] {
            near_host = std::make_unique<ConnectionHost>(near, near.io_context());
            connector = std::make_unique<Connector>(
                *near_host, Target{.host = "127.0.0.1", .port = port},
                near.now() + std::chrono::seconds{10},
                [&](sessionq::core::Result<StreamPtr> stream) {
                    reading = std::make_unique<Reading>(
                        *near_host, std::move(stream).take_or_throw(), count, all);
                });
        });
        all.get_future().wait();
        run_on(near, [&] {
            reading.reset();
            connector.reset();
            near_host.reset();
        });
        run_on(far, [&] {
            feeding.reset();
            acceptor.reset();
            far_host.reset();
        });
    }
    state.SetItemsProcessed(
        static_cast<std::int64_t>(static_cast<std::size_t>(state.iterations()) * count));
}
BENCHMARK(peek_lock_over_tcp)->Arg(256)->Arg(4096)->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace

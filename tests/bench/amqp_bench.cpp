// Messages between a client's and a server's engine in one process, without sockets: what framing, links and settling cost. One round: the server sends a credit's
// worth, the client reads and accepts each, the server answers and settles.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "amqp/engine.hpp"

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
    void on_delivery(DeliveryHandle delivery) override {
        buffer.resize(receiver->size(delivery));
        receiver->read(delivery, buffer.data());
        delivery.update(accepted);
        ++received;
    }
    void on_disposition(DeliveryHandle delivery) override {
        if (receiver == nullptr) {
            delivery.update(accepted);
        }
        delivery.settle();
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

/// Argument: bytes a message has.
void peek_lock_round(benchmark::State& state) {
    constexpr std::uint32_t credit = 64;
    Peer near;
    Peer far;
    Engine client{{.open = {.container = "client", .max_frame_size = 65536}}, near};
    Engine server{{.is_server = true, .open = {.container = "server", .max_frame_size = 65536}, .read_message_formats = true}, far};
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
    near.receiver->open({.source = {.address = "orders"}, .sender_mode = SenderSettleMode::unsettled, .receiver_mode = ReceiverSettleMode::second});
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
    if (near.settled != near.received || near.received != static_cast<std::size_t>(state.iterations()) * credit) {
        state.SkipWithError("messages were lost");
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(near.received));
    near.receiver.reset();
    far.sender.reset();
}
BENCHMARK(peek_lock_round)->Arg(256)->Arg(4096);

} // namespace

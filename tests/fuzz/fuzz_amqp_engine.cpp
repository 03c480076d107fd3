// SPDX-License-Identifier: MIT
// Bytes from a peer for an engine that takes part in everything: opens what the peer opens, sends
// within its credit, reads, answers and settles. The first byte chooses the side and whether SASL
// precedes; the second chooses the pieces of the rest.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/engine/engine.hpp"

using namespace sessionq::amqp;

namespace {

constexpr std::size_t most_sent = 4; // per link, so that a huge credit does not make a huge run

struct OneLink final : LinkListener {
    ~OneLink() override = default;

    void start(SenderLinkPtr link) {
        sender = std::move(link);
        sender->set_listener(this);
        sender->open(sender->remote());
    }
    void start(ReceiverLinkPtr link) {
        receiver = std::move(link);
        receiver->set_listener(this);
        Attach answer = receiver->remote();
        answer.max_message_size = 4096;
        receiver->open(answer);
        receiver->add_credit(10);
    }

    void on_link_closed(const Condition& condition, bool) override {
        if (sender) {
            sender->close(condition);
        } else {
            receiver->close(condition);
        }
    }
    void on_link_gone(const Condition&) override {
        sender.reset();
        receiver.reset();
    }
    void on_flow() override {
        while (sender && sender->credit() != 0 && sent < most_sent) {
            sender->send("0123456789abcdef", "payload", ++sent == most_sent, 0x80013700);
        }
        if (sender && sender->is_draining()) {
            sender->drained();
        }
    }
    void on_delivery(DeliveryHandle delivery, std::string_view encoded) override {
        static_cast<void>(delivery.tag());
        static_cast<void>(delivery.message_format());
        delivery.settle({.kind = OutcomeKind::rejected,
                         .error = {.name = "amqp:internal-error", .text = std::string{encoded}}});
        receiver->drain();
        receiver->session().engine().hold();
    }
    void on_disposition(DeliveryHandle delivery) override {
        delivery.settle(delivery.remote_outcome());
    }

    SenderLinkPtr sender{};
    ReceiverLinkPtr receiver{};
    std::size_t sent{0};
};

struct OneSession final : SessionListener {
    ~OneSession() override {
        links.clear();
        session.reset();
    }
    void on_sender(SenderLinkPtr link) override {
        links.emplace_back(std::make_unique<OneLink>())->start(std::move(link));
    }
    void on_receiver(ReceiverLinkPtr link) override {
        links.emplace_back(std::make_unique<OneLink>())->start(std::move(link));
    }
    void on_session_ended(const Condition&) override {}

    SessionPtr session{};
    std::vector<std::unique_ptr<OneLink>> links{};
};

struct Everything final : ConnectionListener {
    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override {
        auto& one = *sessions.emplace_back(std::make_unique<OneSession>());
        made->set_listener(&one);
        one.session = std::move(made);
    }
    void on_closed(const Condition&) override { ++closed; }

    std::vector<std::unique_ptr<OneSession>> sessions{};
    int closed{0};
};

/// Tells all that was put off until another turn.
void go_on(Engine& engine) {
    do {
        while (engine.is_held()) {
            engine.let_go();
        }
        engine.go_on();
    } while (engine.is_busy() || engine.is_held());
}

/// A client's part: one session with a link of each kind.
void begin(Engine& engine, Everything& everything) {
    auto& one = *everything.sessions.emplace_back(std::make_unique<OneSession>());
    one.session = engine.begin_session();
    one.session->set_listener(&one);
    auto& sending = *one.links.emplace_back(std::make_unique<OneLink>());
    sending.sender = one.session->make_sender("s");
    sending.sender->set_listener(&sending);
    sending.sender->open({.target = {.address = "orders"}});
    auto& receiving = *one.links.emplace_back(std::make_unique<OneLink>());
    receiving.receiver = one.session->make_receiver("r");
    receiving.receiver->set_listener(&receiving);
    receiving.receiver->open({.source = {.address = "orders"}, .max_message_size = 4096});
    receiving.receiver->add_credit(5);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const bool is_server = (data[0] & 1U) != 0;
    const bool with_sasl = (data[0] & 2U) != 0;
    const std::size_t step = data[1] == 0 ? size : data[1];
    std::string_view bytes{reinterpret_cast<const char*>(data) + 2, size - 2};

    Everything everything;
    EngineOptions options;
    options.is_server = is_server;
    options.most_at_once = (data[0] & 4U) != 0 ? 1 : 1000;
    options.open = {.container = "fuzz", .idle_time_out = 30000, .max_frame_size = 4096};
    if (with_sasl) {
        options.sasl = is_server ? make_sasl_server({}) : make_sasl_client({});
    }
    {
        Engine engine{std::move(options), everything};
        if (!is_server) {
            begin(engine, everything);
        }
        std::string output;
        engine.take(output);
        while (!bytes.empty()) {
            engine.input(bytes.substr(0, step));
            bytes.remove_prefix(std::min(step, bytes.size()));
            engine.process();
            go_on(engine);
            engine.take(output);
        }
        engine.input_closed({.name = "amqp:connection:forced", .text = "the end"});
        engine.process();
        go_on(engine);
        engine.take(output);
        if (everything.closed != 1) {
            __builtin_trap(); // told once for any input
        }
    }
    return 0;
}

// SPDX-License-Identifier: MIT
// Two engines joined, both driven by a script that the input holds. The input also says which bytes
// between them are flipped, dropped or inserted. Its first byte chooses the frame size and whether
// owners drop their links from within the events.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/engine/engine.hpp"

using namespace sessionq::amqp;

namespace {

constexpr std::size_t most_operations = 300; // so that one input does not take long
constexpr std::size_t most_rounds = 64;
constexpr std::size_t most_objects = 16;

class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : data_{data}, left_{size} {}
    [[nodiscard]] bool is_at_end() const { return left_ == 0; }
    std::uint8_t next() {
        if (left_ == 0) {
            return 0;
        }
        --left_;
        return *data_++;
    }

private:
    const std::uint8_t* data_;
    std::size_t left_;
};

struct OneLink final : LinkListener {
    ~OneLink() override = default;

    void on_link_open() override { static_cast<void>(get()->remote()); }
    void on_link_closed(const Condition&, bool) override {
        if (drops_at_once) {
            drop();
        }
    }
    void on_link_gone(const Condition&) override { drop(); }
    void on_delivery(DeliveryHandle delivery, std::string_view) override {
        if (delivery.remote_settled()) {
            delivery.settle();
        } else {
            deliveries.push_back(delivery);
        }
    }
    void on_disposition(DeliveryHandle delivery) override {
        static_cast<void>(delivery.remote_outcome());
        if (drops_at_once && delivery.remote_settled()) {
            std::erase(deliveries, delivery);
            delivery.settle();
        }
    }

    [[nodiscard]] Link* get() const {
        return sender ? static_cast<Link*>(sender.get()) : receiver.get();
    }
    void drop() {
        deliveries.clear();
        sender.reset();
        receiver.reset();
    }
    void use(std::uint8_t operation, std::uint8_t value);
    void settle(std::uint8_t value, bool is_final);

    SenderLinkPtr sender{};
    ReceiverLinkPtr receiver{};
    std::vector<DeliveryHandle> deliveries{};
    bool drops_at_once{false};
};

void OneLink::settle(std::uint8_t value, bool is_final) {
    if (deliveries.empty() || get()->is_gone()) {
        return;
    }
    const auto chosen = deliveries.begin() + static_cast<std::ptrdiff_t>(value % deliveries.size());
    const Outcome outcome{.kind = static_cast<OutcomeKind>(0x23 + value % 6),
                          .error = {.name = "amqp:not-found", .text = std::string(value, 'e')},
                          .delivery_failed = value > 100};
    if (!is_final) {
        chosen->update(outcome);
        return;
    }
    if (value % 7 == 0) {
        chosen->settle();
    } else {
        chosen->settle(outcome);
    }
    deliveries.erase(chosen);
}

void OneLink::use(std::uint8_t operation, std::uint8_t value) {
    const std::string text(value, 'x');
    switch (operation) {
    case 3:
        get()->open({.source = {.present = value % 8 != 0, .address = text},
                     .target = {.dynamic = value % 9 == 0, .address = "to"},
                     .max_message_size = value % 4 == 0 ? 64U : 0U});
        break;
    case 4: get()->refuse({.name = "amqp:not-found", .text = text}); break;
    case 5:
        if (receiver) {
            receiver->add_credit(value);
        }
        break;
    case 6:
        if (receiver) {
            static_cast<void>(receiver->drain());
        }
        break;
    case 7:
        if (sender) {
            sender->drained();
        }
        break;
    case 8:
        if (sender && deliveries.size() < most_objects) {
            const std::string bytes(std::size_t{value} * value / 4, 'm');
            const auto sent = sender->send(text.substr(0, 31) + 't', bytes, value % 5 == 0, value);
            if (sent) {
                deliveries.push_back(sent);
            }
        }
        break;
    case 9: settle(value, false); break;
    case 10: settle(value, true); break;
    case 11: get()->close({.name = value % 2 == 0 ? "" : "amqp:not-allowed", .text = text}); break;
    default: drop(); break;
    }
}

struct OneSession final : SessionListener {
    ~OneSession() override { drop(); }
    void on_sender(SenderLinkPtr link) override {
        add().sender = std::move(link);
        listen();
    }
    void on_receiver(ReceiverLinkPtr link) override {
        add().receiver = std::move(link);
        listen();
    }
    void on_session_ended(const Condition&) override {}

    OneLink& add() {
        auto& link = *links.emplace_back(std::make_unique<OneLink>());
        link.drops_at_once = drops_at_once;
        return link;
    }
    void listen() {
        if (Link* const link = links.back()->get()) {
            link->set_listener(links.back().get());
        } else {
            links.pop_back();
        }
    }
    void drop() {
        links.clear();
        session.reset();
    }

    SessionPtr session{};
    std::vector<std::unique_ptr<OneLink>> links{};
    bool drops_at_once{false};
};

/// An engine, its owner, and the bytes on their way to it.
struct Side final : ConnectionListener {
    Side(bool is_server, std::uint32_t frame_size, bool drops)
        : engine{{.is_server = is_server,
                  .open = {.container = "pair",
                           .max_frame_size = frame_size,
                           .channel_max = is_server ? std::uint16_t{7} : std::uint16_t{65535}}},
                 *this},
          drops_at_once{drops} {}
    ~Side() override { sessions.clear(); }

    void on_open(const Open&) override {}
    void on_session(SessionPtr made) override { add(std::move(made)); }
    void on_closed(const Condition&) override {
        if (++closed != 1) {
            __builtin_trap(); // told once
        }
    }

    void add(SessionPtr made) {
        if (made == nullptr || sessions.size() >= most_objects) {
            return; // which ends it
        }
        auto& one = *sessions.emplace_back(std::make_unique<OneSession>());
        one.drops_at_once = drops_at_once;
        made->set_listener(&one);
        one.session = std::move(made);
    }
    void use(std::uint8_t operation, std::uint8_t value);

    Engine engine;
    std::vector<std::unique_ptr<OneSession>> sessions{};
    const bool drops_at_once;
    int closed{0};
};

void Side::use(std::uint8_t operation, std::uint8_t value) {
    if (operation == 0) {
        add(engine.begin_session());
    } else if (operation == 14) {
        engine.close({.name = value % 2 == 0 ? "" : "amqp:internal-error"});
    }
    if (sessions.empty() || operation == 0 || operation == 14) {
        return;
    }
    OneSession& session = *sessions[value % sessions.size()];
    if (session.session == nullptr) {
        return;
    }
    if (operation == 13 && value % 3 == 0) {
        session.drop();
    } else if (operation == 13) {
        session.session->end({.name = value % 2 == 0 ? "" : "amqp:internal-error"});
    } else if (operation < 3 && session.links.size() < most_objects) {
        const std::string name(1, static_cast<char>('a' + value % 4));
        OneLink& link = session.add();
        if (operation == 1) {
            link.sender = session.session->make_sender(name);
        } else {
            link.receiver = session.session->make_receiver(name);
        }
        session.listen();
    } else if (!session.links.empty()) {
        OneLink& link = *session.links[value / 16 % session.links.size()];
        if (link.get() != nullptr) {
            link.use(operation, value);
        }
    }
}

/// What becomes of the bytes that are carried next.
struct Damage {
    enum class Kind : std::uint8_t { none, flip, drop, insert };

    void apply(std::string& bytes) {
        if (bytes.empty() || kind == Kind::none) {
            return;
        }
        const std::size_t at = position % bytes.size();
        switch (kind) {
        case Kind::flip:
            bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ value);
            break;
        case Kind::drop: bytes.erase(at, value); break;
        default: bytes.insert(at, std::size_t{1} + value % 16, static_cast<char>(value)); break;
        }
        kind = Kind::none;
    }

    Kind kind{Kind::none};
    std::size_t position{0};
    std::uint8_t value{0};
};

bool carry(Side& from, Side& to, Damage& damage, std::size_t step) {
    std::string bytes;
    from.engine.process();
    from.engine.take(bytes);
    damage.apply(bytes);
    for (std::string_view rest = bytes; !rest.empty();) {
        to.engine.input(rest.substr(0, step));
        to.engine.process();
        rest.remove_prefix(std::min(step, rest.size()));
    }
    return !bytes.empty();
}

void run(Input& input, Side& client, Side& server) {
    std::array<Damage, 2> damages;
    std::size_t step = 4096;
    for (std::size_t count = 0; count < most_operations && !input.is_at_end(); ++count) {
        const std::uint8_t code = input.next();
        const std::uint8_t value = input.next();
        const bool by_server = (code & 0x80U) != 0;
        if ((code & 0xfU) == 15) {
            Damage& damage = damages[by_server ? 1 : 0];
            damage.kind = static_cast<Damage::Kind>(code >> 4U & 3U);
            damage.value = value;
            damage.position = static_cast<std::size_t>(input.next()) << 8U | input.next();
            continue;
        }
        (by_server ? server : client).use(code & 0xfU, value);
        if ((code & 0x20U) != 0) {
            step = std::size_t{1} + value;
        }
        if ((code & 0x40U) == 0) {
            continue;
        }
        for (std::size_t round = 0; round < most_rounds; ++round) {
            const bool there = carry(client, server, damages[0], step);
            const bool back = carry(server, client, damages[1], step);
            if (!there && !back) {
                break;
            }
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input{data, size};
    const std::uint8_t options = input.next();
    const std::uint32_t frame_size = (options & 1U) != 0 ? 512 : 4096;
    Side client{false, frame_size, (options & 2U) != 0};
    Side server{true, frame_size, (options & 4U) != 0};
    run(input, client, server);
    for (Side* const side : {&client, &server}) {
        side->engine.input_closed({.name = "amqp:connection:forced", .text = "the end"});
        side->engine.process();
        if (side->closed != 1) {
            __builtin_trap(); // told for any input
        }
    }
    return 0;
}

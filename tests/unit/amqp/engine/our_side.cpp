// SPDX-License-Identifier: MIT
#include "our_side.hpp"

namespace sessionq::test {

using namespace amqp;

struct OurSide::OneLink final : LinkListener {
    OneLink(OurSide& of, std::string with) : side{of}, key{std::move(with)} {}

    void on_link_open() override { side.tell("answered " + key + " " + text_of(get()->remote())); }
    void on_link_closed(const Condition& condition, bool closed) override {
        side.tell("detached " + key + (closed ? " closed " : " ") + text_of(condition));
        is_left_by_peer = true;
        if (is_left) {
            drop();
        }
    }
    void on_link_gone(const Condition& condition) override {
        if (!is_left_by_peer) { // Proton tells nothing more of a link that was detached
            side.tell("gone " + key + " " + text_of(condition));
        }
        drop();
    }
    void on_flow() override { watch.told = true; }
    void on_drained() override { side.tell("drained " + key); }
    void on_delivery(DeliveryHandle delivery, std::string_view encoded) override {
        const std::string tag{delivery.tag()};
        side.tell_message(key, tag, delivery.message_format(), encoded, delivery.remote_settled());
        if (delivery.remote_settled()) {
            delivery.settle();
        } else {
            deliveries[tag] = delivery;
        }
    }
    void on_disposition(DeliveryHandle delivery) override {
        side.tell("disposition " + key + " " + std::string{delivery.tag()} + " " +
                  text_of(delivery.remote_outcome()) +
                  (delivery.remote_settled() ? " settled" : ""));
    }

    [[nodiscard]] Link* get() const {
        return sender ? static_cast<Link*>(sender.get()) : receiver.get();
    }
    void drop() {
        deliveries.clear();
        sender.reset();
        receiver.reset();
    }

    OurSide& side;
    const std::string key;
    SenderLinkPtr sender{};
    ReceiverLinkPtr receiver{};
    std::map<std::string, DeliveryHandle> deliveries{};
    FlowWatch watch{};
    bool is_left{false};
    bool is_left_by_peer{false};
};

struct OurSide::OneSession final : SessionListener {
    OneSession(OurSide& of, int with, SessionPtr begun)
        : side{of}, number{with}, session{std::move(begun)} {}

    void on_sender(SenderLinkPtr link) override {
        OneLink& added = side.add_link(side.key_of(link->name(), true));
        link->set_listener(&added);
        added.sender = std::move(link);
        side.tell("attached " + added.key + " " + text_of(added.sender->remote()));
    }
    void on_receiver(ReceiverLinkPtr link) override {
        OneLink& added = side.add_link(side.key_of(link->name(), false));
        link->set_listener(&added);
        added.receiver = std::move(link);
        side.tell("attached " + added.key + " " + text_of(added.receiver->remote()));
    }
    void on_session_ended(const Condition& condition) override {
        side.tell("ended " + std::to_string(number) + " " + text_of(condition));
    }

    OurSide& side;
    const int number;
    SessionPtr session;
};

OurSide::OurSide(const SideOptions& options)
    : EngineSide{options.is_server},
      engine_{{.is_server = options.is_server,
               .open = {.container = options.is_server ? "server" : "client",
                        .hostname = options.is_server ? "" : "host",
                        .idle_time_out = options.is_server ? 30000U : 60000U,
                        .max_frame_size = options.max_frame_size,
                        .channel_max = 100}},
              *this} {}

OurSide::~OurSide() {
    links_.clear();
    sessions_.clear();
}

void OurSide::input(std::string_view bytes) {
    engine_.input(bytes);
    engine_.process();
}

std::string OurSide::take() {
    engine_.process();
    std::string bytes;
    engine_.take(bytes);
    return bytes;
}

void OurSide::lose_input() {
    engine_.input_closed({.name = "test:lost", .text = "the stream is at its end"});
    engine_.process();
}

void OurSide::on_open(const Open& peer) { tell("open " + text_of(peer)); }

void OurSide::on_session(SessionPtr session) {
    const int number = expected_session();
    tell("begun " + std::to_string(number));
    add_session(number, std::move(session));
}

void OurSide::on_closed(const Condition& condition) { tell("closed " + text_of(condition)); }

OurSide::OneSession& OurSide::add_session(int number, SessionPtr session) {
    auto& added =
        *(sessions_[number] = std::make_unique<OneSession>(*this, number, std::move(session)));
    added.session->set_listener(&added);
    return added;
}

OurSide::OneLink& OurSide::add_link(const std::string& key) {
    return *(links_[key] = std::make_unique<OneLink>(*this, key));
}

void OurSide::attach(const Operation& operation) {
    Session& session = *sessions_.at(operation.session)->session;
    OneLink& link = add_link(operation.link);
    if (is_sender(operation.link)) {
        link.sender = session.make_sender(name_of(operation.link));
    } else {
        link.receiver = session.make_receiver(name_of(operation.link));
    }
    link.get()->set_listener(&link);
    link.get()->open(operation.attach);
}

void OurSide::settle(OneLink& link, const Operation& operation) {
    DeliveryHandle delivery = link.deliveries.at(operation.tag);
    if (operation.outcome.kind == OutcomeKind::none) {
        delivery.settle();
    } else {
        delivery.settle(operation.outcome);
    }
    link.deliveries.erase(operation.tag);
}

void OurSide::detach(OneLink& link, const Condition& condition) {
    link.is_left = true;
    if (!link.is_left_by_peer) {
        link.get()->close(condition);
        return;
    }
    if (!condition.empty()) {
        link.get()->close(condition);
    }
    link.drop();
}

void OurSide::apply(const Operation& operation) {
    switch (operation.kind) {
    case Operation::Kind::begin: add_session(operation.session, engine_.begin_session()); break;
    case Operation::Kind::end:
        sessions_.at(operation.session)->session->end(operation.condition);
        break;
    case Operation::Kind::attach: attach(operation); break;
    case Operation::Kind::close: engine_.close(operation.condition); break;
    default: use(*links_.at(operation.link), operation); break;
    }
}

void OurSide::use(OneLink& link, const Operation& operation) {
    switch (operation.kind) {
    case Operation::Kind::answer: link.get()->open(operation.attach); break;
    case Operation::Kind::refuse:
        link.get()->refuse(operation.condition);
        link.is_left = true;
        if (link.is_left_by_peer) {
            link.drop();
        }
        break;
    case Operation::Kind::add_credit: link.receiver->add_credit(operation.credit); break;
    case Operation::Kind::drain: static_cast<void>(link.receiver->drain()); break;
    case Operation::Kind::drained: link.sender->drained(); break;
    case Operation::Kind::send:
        if (const auto delivery =
                link.sender->send(operation.tag, operation.bytes, operation.settled)) {
            link.deliveries[operation.tag] = delivery;
        }
        break;
    case Operation::Kind::update:
        link.deliveries.at(operation.tag).update(operation.outcome);
        break;
    case Operation::Kind::settle: settle(link, operation); break;
    case Operation::Kind::detach: detach(link, operation.condition); break;
    default: break;
    }
    if (link.sender) {
        link.watch.credit = link.sender->credit();
    } else if (link.receiver) {
        link.watch.credit = link.receiver->credit();
    }
}

void OurSide::report_flows() {
    for (const auto& [key, link] : links_) {
        if (link->is_left || link->is_left_by_peer || link->get() == nullptr) {
            continue;
        }
        if (link->sender && link->watch.told &&
            link->watch.changes(link->sender->credit(), link->sender->is_draining())) {
            tell("flow " + key + " credit " + std::to_string(link->watch.credit) +
                 (link->watch.drain ? " drain" : ""));
        } else if (link->receiver && link->watch.changes(link->receiver->credit(), false)) {
            tell("credit left " + key + " " + std::to_string(link->watch.credit));
        }
    }
}

} // namespace sessionq::test

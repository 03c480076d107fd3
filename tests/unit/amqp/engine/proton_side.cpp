// SPDX-License-Identifier: MIT
#include "proton_side.hpp"

#include <cstring>

#include <proton/connection.h>
#include <proton/session.h>
#include <proton/transport.h>

#include "core/byte_order.hpp"
#include "proton_values.hpp"

namespace sessionq::test {

using namespace amqp;
using namespace proton;

ProtonSide::ProtonSide(const SideOptions& options)
    : EngineSide{options.is_server},
      connection_{pn_connection()},
      transport_{pn_transport()},
      collector_{pn_collector()},
      capacity_{std::size_t{options.frames_of_window} * options.max_frame_size} {
    if (options.is_server) {
        pn_transport_set_server(transport_);
    }
    pn_transport_set_max_frame(transport_, options.max_frame_size);
    pn_transport_set_channel_max(transport_, 100);
    // It announces half of what it is told.
    pn_transport_set_idle_timeout(transport_, options.is_server ? 60000 : 120000);
    pn_connection_collect(connection_, collector_);
    pn_connection_set_container(connection_, options.is_server ? "server" : "client");
    if (!options.is_server) {
        pn_connection_set_hostname(connection_, "host");
    }
    pn_transport_bind(transport_, connection_);
    if (!options.is_server) {
        pn_connection_open(connection_);
    }
}

ProtonSide::~ProtonSide() {
    pn_transport_unbind(transport_);
    pn_transport_free(transport_);
    pn_connection_free(connection_);
    pn_collector_release(collector_);
    pn_collector_free(collector_);
}

// Proton joins two events of the same delivery or link if nobody asks between them. So it is asked
// after each frame.
void ProtonSide::input(std::string_view bytes) {
    input_.append(bytes);
    std::string_view rest = input_;
    constexpr std::size_t header = 8;
    while (rest.size() >= header) {
        const std::size_t size =
            header_seen_ ? static_cast<std::size_t>(core::number_at<4>(rest.data())) : header;
        if (rest.size() < size) {
            break;
        }
        header_seen_ = true;
        push(rest.substr(0, size));
        rest.remove_prefix(size);
        handle_events();
    }
    input_.erase(0, input_.size() - rest.size());
}

void ProtonSide::push(std::string_view frame) {
    while (!frame.empty()) {
        const ssize_t capacity = pn_transport_capacity(transport_);
        if (capacity <= 0) {
            return;
        }
        const std::size_t count = std::min(static_cast<std::size_t>(capacity), frame.size());
        std::memcpy(pn_transport_tail(transport_), frame.data(), count);
        if (pn_transport_process(transport_, count) < 0) {
            return;
        }
        frame.remove_prefix(count);
    }
}

std::string ProtonSide::take() {
    handle_events();
    std::string bytes;
    for (ssize_t pending = pn_transport_pending(transport_); pending > 0;
         pending = pn_transport_pending(transport_)) {
        bytes.append(pn_transport_head(transport_), static_cast<std::size_t>(pending));
        pn_transport_pop(transport_, static_cast<std::size_t>(pending));
    }
    bury();
    return bytes;
}

// Freeing a link settles its deliveries. So it waits until its end was told.
void ProtonSide::bury() {
    for (pn_link_t* const link : std::exchange(dead_links_, {})) {
        pn_link_free(link);
    }
    for (pn_session_t* const session : std::exchange(dead_sessions_, {})) {
        pn_session_free(session);
    }
}

// What it is told to do

void ProtonSide::begin(int number, pn_session_t* session) {
    auto& added = *(sessions_[number] = std::make_unique<OneSession>());
    added.number = number;
    added.session = session;
    pn_session_set_context(session, &added);
    pn_session_set_incoming_capacity(session, capacity_);
    pn_session_open(session);
}

ProtonSide::OneLink& ProtonSide::add_link(const std::string& key, int session, pn_link_t* link) {
    auto& added = *(links_[key] = std::make_unique<OneLink>());
    added.key = key;
    added.session = session;
    added.link = link;
    pn_link_set_context(link, &added);
    return added;
}

void ProtonSide::open(OneLink& link, const Attach& attach) {
    set(pn_link_source(link.link), attach.source, PN_SOURCE);
    set(pn_link_target(link.link), attach.target, PN_TARGET);
    pn_link_set_snd_settle_mode(link.link, static_cast<pn_snd_settle_mode_t>(attach.sender_mode));
    pn_link_set_rcv_settle_mode(link.link, static_cast<pn_rcv_settle_mode_t>(attach.receiver_mode));
    set(pn_link_properties(link.link), attach.properties);
    pn_link_set_max_message_size(link.link, attach.max_message_size);
    pn_link_open(link.link);
}

void ProtonSide::detach(OneLink& link, const Condition& condition) {
    link.is_left = true;
    set(pn_link_condition(link.link), condition);
    pn_link_close(link.link);
    if (link.is_left_by_peer) {
        dead_links_.push_back(std::exchange(link.link, nullptr));
        pn_link_set_context(dead_links_.back(), nullptr);
    }
}

void ProtonSide::send(OneLink& link, const Operation& operation) {
    pn_delivery_t* const delivery =
        pn_delivery(link.link, pn_dtag(operation.tag.data(), operation.tag.size()));
    pn_link_send(link.link, operation.bytes.data(), operation.bytes.size());
    if (operation.settled) {
        pn_delivery_settle(delivery); // advances too
    } else {
        pn_link_advance(link.link);
        link.deliveries[operation.tag] = delivery;
    }
}

void ProtonSide::update(OneLink& link, const Operation& operation) {
    pn_delivery_t* const delivery = link.deliveries.at(operation.tag);
    const Outcome& outcome = operation.outcome;
    pn_disposition_t* const local = pn_delivery_local(delivery);
    if (outcome.kind == OutcomeKind::rejected) {
        set(pn_disposition_condition(local), outcome.error);
    } else if (outcome.kind == OutcomeKind::modified) {
        pn_disposition_set_failed(local, outcome.delivery_failed);
        pn_disposition_set_undeliverable(local, outcome.undeliverable_here);
        set(pn_disposition_annotations(local), outcome.annotations);
    }
    if (outcome.kind != OutcomeKind::none) {
        pn_delivery_update(delivery, static_cast<std::uint64_t>(outcome.kind));
    }
    if (operation.kind == Operation::Kind::settle) {
        link.deliveries.erase(operation.tag);
        pn_delivery_settle(delivery);
    }
}

void ProtonSide::apply(const Operation& operation) {
    switch (operation.kind) {
    case Operation::Kind::begin: begin(operation.session, pn_session(connection_)); break;
    case Operation::Kind::end: {
        OneSession& session = *sessions_.at(operation.session);
        session.is_left = true;
        set(pn_session_condition(session.session), operation.condition);
        pn_session_close(session.session);
        break;
    }
    case Operation::Kind::attach: {
        pn_session_t* const session = sessions_.at(operation.session)->session;
        const std::string name = name_of(operation.link);
        open(add_link(operation.link, operation.session,
                      is_sender(operation.link) ? pn_sender(session, name.c_str())
                                                : pn_receiver(session, name.c_str())),
             operation.attach);
        break;
    }
    case Operation::Kind::close:
        is_closing_ = true;
        set(pn_connection_condition(connection_), operation.condition);
        pn_connection_close(connection_);
        break;
    default: use(*links_.at(operation.link), operation); break;
    }
}

void ProtonSide::use(OneLink& link, const Operation& operation) {
    switch (operation.kind) {
    case Operation::Kind::answer: open(link, operation.attach); break;
    case Operation::Kind::refuse: {
        Attach without = read(link.link);
        without.source = without.target = {.present = false};
        without.properties.clear();
        without.max_message_size = 0;
        open(link, without);
        detach(link, operation.condition);
        return;
    }
    case Operation::Kind::add_credit:
        pn_link_set_drain(link.link, false);
        pn_link_flow(link.link, static_cast<int>(operation.credit));
        break;
    case Operation::Kind::drain:
        link.is_draining = true;
        pn_link_drain(link.link, 0);
        break;
    case Operation::Kind::drained: pn_link_drained(link.link); break;
    case Operation::Kind::send: send(link, operation); break;
    case Operation::Kind::update:
    case Operation::Kind::settle: update(link, operation); break;
    default: detach(link, operation.condition); return;
    }
    link.watch.credit = static_cast<std::uint32_t>(std::max(0, pn_link_credit(link.link)));
}

} // namespace sessionq::test

// SPDX-License-Identifier: MIT
// What Proton has noticed, told as our engine tells it.
#include <algorithm>

#include <proton/connection.h>
#include <proton/session.h>
#include <proton/transport.h>

#include "proton_side.hpp"
#include "proton_values.hpp"

namespace sessionq::test {

using namespace amqp;
using namespace proton;

void ProtonSide::handle_events() {
    while (pn_event_t* const event = pn_collector_peek(collector_)) {
        handle(event);
        pn_collector_pop(collector_);
    }
}

// Who has ended a connection or a session ignores what the peer still says there, which Proton
// leaves to its user.
bool ProtonSide::hears(const OneLink* link) const {
    const auto session = link != nullptr ? sessions_.find(link->session) : sessions_.end();
    return session != sessions_.end() && !session->second->is_left && !link->is_left_by_peer;
}

void ProtonSide::handle(pn_event_t* event) {
    const pn_event_type_t type = pn_event_type(event);
    if (is_closed_ ||
        (is_closing_ && type != PN_CONNECTION_REMOTE_CLOSE && type != PN_TRANSPORT_ERROR)) {
        return;
    }
    pn_link_t* const link = pn_event_link(event);
    auto* const owner =
        link != nullptr ? static_cast<OneLink*>(pn_link_get_context(link)) : nullptr;
    switch (type) {
    case PN_CONNECTION_REMOTE_OPEN: on_remote_open(); break;
    case PN_CONNECTION_REMOTE_CLOSE: on_remote_close(); break;
    case PN_SESSION_REMOTE_OPEN: on_session_open(pn_event_session(event)); break;
    case PN_SESSION_REMOTE_CLOSE: {
        pn_session_t* const session = pn_event_session(event);
        if (auto* const ended = static_cast<OneSession*>(pn_session_get_context(session))) {
            pn_session_close(session);
            dead_sessions_.push_back(session);
            on_session_close(*ended, read(pn_session_remote_condition(session)));
        }
        break;
    }
    case PN_LINK_REMOTE_OPEN: on_link_open(link); break;
    case PN_LINK_REMOTE_DETACH:
    case PN_LINK_REMOTE_CLOSE:
        if (hears(owner)) {
            on_link_close(*owner, type == PN_LINK_REMOTE_CLOSE);
        }
        break;
    case PN_LINK_FLOW: // also of this side's own sending: what has changed is reported
        if (hears(owner)) {
            owner->watch.told = true;
            look_drained(*owner);
        }
        break;
    case PN_DELIVERY: on_delivery(pn_event_delivery(event)); break;
    case PN_TRANSPORT_ERROR:
        tell("transport error " + text_of(read(pn_transport_condition(transport_))));
        break;
    default: break;
    }
}

void ProtonSide::on_remote_open() {
    if (is_server()) {
        pn_connection_open(connection_);
    }
    tell("open " + text_of(Open{.container = text(pn_connection_remote_container(connection_)),
                                .hostname = text(pn_connection_remote_hostname(connection_)),
                                .properties = encoded(pn_connection_remote_properties(connection_)),
                                .idle_time_out = pn_transport_get_remote_idle_timeout(transport_),
                                .max_frame_size = pn_transport_get_remote_max_frame(transport_),
                                .channel_max = pn_transport_remote_channel_max(transport_)}));
}

void ProtonSide::on_remote_close() {
    const Condition why = read(pn_connection_remote_condition(connection_));
    pn_connection_close(connection_);
    while (!sessions_.empty()) {
        on_session_close(*sessions_.begin()->second, why);
    }
    is_closed_ = true;
    tell("closed " + text_of(why));
}

void ProtonSide::on_session_open(pn_session_t* session) {
    if (pn_session_get_context(session) == nullptr) {
        const int number = expected_session();
        tell("begun " + std::to_string(number));
        begin(number, session);
    }
}

// Proton tells the end of the session alone.
void ProtonSide::on_session_close(OneSession& session, const Condition& condition) {
    const int number = session.number;
    std::erase_if(links_, [&](const auto& each) {
        OneLink& link = *each.second;
        if (link.session != number) {
            return false;
        }
        if (link.link != nullptr) {
            pn_link_set_context(link.link, nullptr);
            if (!link.is_left_by_peer) {
                tell("gone " + link.key + " " + text_of(condition));
            }
        }
        return true;
    });
    tell("ended " + std::to_string(number) + " " + text_of(condition));
    pn_session_set_context(session.session, nullptr);
    sessions_.erase(number);
}

void ProtonSide::on_link_open(pn_link_t* link) {
    auto* owner = static_cast<OneLink*>(pn_link_get_context(link));
    if (owner != nullptr) {
        if (hears(owner) && !owner->is_left) {
            tell("answered " + owner->key + " " + text_of(read(link)));
        }
        return;
    }
    const auto* const session =
        static_cast<const OneSession*>(pn_session_get_context(pn_link_session(link)));
    if (session != nullptr && !session->is_left) {
        owner =
            &add_link(key_of(pn_link_name(link), pn_link_is_sender(link)), session->number, link);
        tell("attached " + owner->key + " " + text_of(read(link)));
    }
}

void ProtonSide::on_link_close(OneLink& link, bool closed) {
    tell("detached " + link.key + (closed ? " closed " : " ") +
         text_of(read(pn_link_remote_condition(link.link))));
    link.is_left_by_peer = true;
    if (link.is_left) {
        dead_links_.push_back(std::exchange(link.link, nullptr));
        pn_link_set_context(dead_links_.back(), nullptr);
    }
}

void ProtonSide::on_delivery(pn_delivery_t* delivery) {
    auto* const link = static_cast<OneLink*>(pn_link_get_context(pn_delivery_link(delivery)));
    if (link == nullptr) {
        return;
    }
    if (!is_sender(link->key)) {
        receive(*link);
    }
    const auto known = std::ranges::find_if(
        link->deliveries, [&](const auto& each) { return each.second == delivery; });
    if (hears(link) && known != link->deliveries.end() && pn_delivery_updated(delivery)) {
        pn_delivery_clear(delivery);
        tell("disposition " + link->key + " " + known->first + " " + text_of(read(delivery)) +
             (pn_delivery_settled(delivery) ? " settled" : ""));
    }
}

// Also what has not arrived in whole is read, or a session of little capacity would stand still;
// and what comes on a link that this side has left is read and forgotten.
void ProtonSide::receive(OneLink& link) {
    while (pn_delivery_t* const current = pn_link_current(link.link)) {
        const std::size_t had = link.partial.size();
        link.partial.resize(had + pn_delivery_pending(current));
        pn_link_recv(link.link, link.partial.data() + had, link.partial.size() - had);
        if (pn_delivery_partial(current)) {
            return;
        }
        const bool settled = pn_delivery_settled(current);
        const std::string tag = tag_of(current);
        if (hears(&link) && !link.is_left) {
            tell_message(link.key, tag, 0, link.partial, settled);
        }
        link.partial.clear();
        pn_link_advance(link.link);
        pn_delivery_clear(current);
        if (settled) {
            pn_delivery_settle(current);
        } else {
            link.deliveries[tag] = current;
        }
    }
    look_drained(link);
}

void ProtonSide::look_drained(OneLink& link) {
    if (link.is_draining && hears(&link) && !link.is_left && pn_link_credit(link.link) <= 0) {
        link.is_draining = false;
        pn_link_set_drain(link.link, false);
        tell("drained " + link.key);
    }
}

void ProtonSide::report_flows() {
    for (const auto& [key, link] : links_) {
        if (link->link == nullptr || link->is_left || !hears(link.get())) {
            continue;
        }
        const auto credit = static_cast<std::uint32_t>(std::max(0, pn_link_credit(link->link)));
        if (!is_sender(key)) {
            if (link->watch.changes(credit, false)) {
                tell("credit left " + key + " " + std::to_string(credit));
            }
        } else if (link->watch.told && link->watch.changes(credit, pn_link_get_drain(link->link))) {
            tell("flow " + key + " credit " + std::to_string(credit) +
                 (link->watch.drain ? " drain" : ""));
        }
    }
}

} // namespace sessionq::test

// What the engine below has noticed, told to whom it concerns.
#include "amqp/engine.hpp"

#include <algorithm>
#include <utility>

#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/session.h>
#include <proton/transport.h>

#include "amqp/proton.hpp"

namespace sessionq::amqp {

void Engine::handle(pn_event_t* event) {
    switch (pn_event_type(event)) {
    case PN_CONNECTION_REMOTE_OPEN: on_remote_open(); break;
    case PN_CONNECTION_REMOTE_CLOSE: {
        const Condition why = proton::read(pn_connection_remote_condition(connection_));
        pn_connection_close(connection_);
        finish(why);
        break;
    }
    case PN_SESSION_REMOTE_OPEN: on_session_event(pn_event_session(event), true); break;
    case PN_SESSION_REMOTE_CLOSE: on_session_event(pn_event_session(event), false); break;
    case PN_LINK_REMOTE_OPEN: on_link_event(pn_event_link(event), true, false); break;
    case PN_LINK_REMOTE_DETACH: on_link_event(pn_event_link(event), false, false); break;
    case PN_LINK_REMOTE_CLOSE: on_link_event(pn_event_link(event), false, true); break;
    case PN_LINK_FLOW: {
        auto* link = static_cast<Link*>(pn_link_get_context(pn_event_link(event)));
        if (link != nullptr && link->listener_ != nullptr) {
            on_flow(*link);
        }
        break;
    }
    case PN_DELIVERY: on_delivery(pn_event_delivery(event)); break;
    case PN_TRANSPORT_ERROR:
        if (failure_.empty()) {
            failure_ = proton::read(pn_transport_condition(transport_));
            failure_.found = Errc::protocol_error;
        }
        break;
    case PN_TRANSPORT_TAIL_CLOSED: failed_ = true; break;
    default: break;
    }
}

void Engine::on_remote_open() {
    open_ = (pn_connection_state(connection_) & PN_LOCAL_CLOSED) == 0;
    if (is_server_) {
        pn_connection_open(connection_);
    }
    Open peer;
    peer.container = proton::text(pn_connection_remote_container(connection_));
    peer.hostname = proton::text(pn_connection_remote_hostname(connection_));
    peer.properties = proton::encoded(pn_connection_remote_properties(connection_));
    peer.idle_time_out = pn_transport_get_remote_idle_timeout(transport_);
    peer.max_frame_size = pn_transport_get_remote_max_frame(transport_);
    peer.channel_max = pn_transport_remote_channel_max(transport_);
    listener_.on_open(peer);
}

void Engine::on_session_event(pn_session_t* session, bool opened) {
    auto* owner = static_cast<Session*>(pn_session_get_context(session));
    if (opened) {
        if (owner == nullptr && (pn_session_state(session) & PN_LOCAL_UNINIT) != 0 && !closed_) {
            auto begun = std::make_unique<Session>(*this, session);
            begun->open();
            listener_.on_session(std::move(begun));
        } else if (owner == nullptr ||
                   owner->ended_) { // the end waited for the answer to its begin
            pn_session_close(session);
        }
        return;
    }
    if (owner == nullptr) { // its owner left before
        if (std::find(dead_sessions_.begin(), dead_sessions_.end(), session) ==
            dead_sessions_.end()) {
            dead_sessions_.push_back(session);
        }
        return;
    }
    const Condition why = proton::read(pn_session_remote_condition(session));
    lose_links(*owner, why);
    owner->end();
    std::erase(sessions_, owner);
    pn_session_set_context(session, nullptr);
    owner->session_ = nullptr;
    dead_sessions_.push_back(session);
    if (owner->listener_ != nullptr) {
        owner->listener_->on_session_ended(why);
    }
}

// Proton's links go with their session.
void Engine::forget_links(Session& session) noexcept {
    for (Link* link : session.links_) {
        pn_link_set_context(link->link_, nullptr);
        link->link_ = nullptr;
    }
    session.links_.clear();
}

// Each may take others with it when it is told.
void Engine::lose_links(Session& session, const Condition& why) {
    for (Link* link : session.links_) {
        link->being_lost_ = true;
        lost_links_.push_back(link);
    }
    forget_links(session);
    while (!lost_links_.empty()) {
        Link* link = lost_links_.back();
        lost_links_.pop_back();
        link->being_lost_ = false;
        if (link->listener_ != nullptr) {
            link->listener_->on_link_gone(why);
        }
    }
}

void Engine::on_link_event(pn_link_t* link, bool opened, bool closed) {
    auto* owner = static_cast<Link*>(pn_link_get_context(link));
    if (opened && owner == nullptr && (pn_link_state(link) & PN_LOCAL_UNINIT) != 0) {
        auto* session = static_cast<Session*>(pn_session_get_context(pn_link_session(link)));
        if (session == nullptr || session->listener_ == nullptr) {
            return;
        }
        if (pn_link_is_sender(link)) {
            session->listener_->on_sender(std::make_unique<SenderLink>(*session, link));
        } else {
            session->listener_->on_receiver(std::make_unique<ReceiverLink>(*session, link));
        }
        return;
    }
    if (owner == nullptr) {
        if (!opened && std::find(dead_links_.begin(), dead_links_.end(), link) ==
                           dead_links_.end()) { // its owner left before
            dead_links_.push_back(link);
        }
        return;
    }
    if (owner->listener_ == nullptr) {
        return;
    }
    if (opened) {
        owner->listener_->on_link_open();
    } else {
        owner->listener_->on_link_closed(proton::read(pn_link_remote_condition(link)), closed);
    }
}

void Engine::on_flow(Link& link) {
    if (link.is_sender()) {
        link.listener_->on_flow();
        return;
    }
    look_drained(static_cast<ReceiverLink&>(link));
}

// Credit that was used up needs no answer; what has not arrived in whole still holds its own.
void Engine::look_drained(ReceiverLink& link) {
    if (link.draining_ && pn_link_credit(link.link_) <= 0) {
        link.draining_ = false;
        pn_link_drained(link.link_);
        pn_link_set_drain(link.link_, false);
        link.listener_->on_drained();
    }
}

// Before it has taken what the peer was told not to send.
bool Engine::is_too_large(Link& link, pn_delivery_t* delivery) {
    if (link.max_message_size_ == 0 || pn_delivery_pending(delivery) <= link.max_message_size_ ||
        link.closed_) {
        return false;
    }
    const Condition why{.name = "amqp:link:message-size-exceeded",
                        .text = "a message is larger than the link's max-message-size",
                        .found = Errc::message_too_large};
    link.close(why);
    link.listener_->on_link_closed(why, true);
    return true;
}

void Engine::on_delivery(pn_delivery_t* delivery) {
    pn_link_t* link = pn_delivery_link(delivery);
    auto* owner = static_cast<Link*>(pn_link_get_context(link));
    if (owner == nullptr || owner->listener_ == nullptr) {
        return;
    }
    if (pn_link_is_receiver(link)) {
        // Several may have arrived before the first is told. Each is read and passed in turn.
        while (pn_link_get_context(link) == owner) {
            pn_delivery_t* current = pn_link_current(link);
            if (current == nullptr || owner->closed_ || is_too_large(*owner, current) ||
                !pn_delivery_readable(current) || pn_delivery_partial(current)) {
                break;
            }
            if (pn_delivery_aborted(current)) {
                pn_delivery_settle(current);
                continue;
            }
            pn_delivery_clear(current);
            owner->listener_->on_delivery(DeliveryHandle{current});
            if (pn_link_get_context(link) == owner && pn_link_current(link) == current) {
                pn_link_advance(link);
            }
        }
        if (pn_link_get_context(link) == owner && owner->listener_ != nullptr) {
            look_drained(static_cast<ReceiverLink&>(*owner));
        }
    }
    // What has not arrived in whole may be settled by its sender already; nobody knows of it yet.
    if (pn_link_get_context(link) == owner && pn_delivery_updated(delivery) &&
        !pn_delivery_partial(delivery) && owner->listener_ != nullptr) {
        pn_delivery_clear(delivery);
        owner->listener_->on_disposition(DeliveryHandle{delivery});
    }
}

void Engine::finish(const Condition& why) {
    if (closed_) {
        return;
    }
    closed_ = true;
    while (!sessions_.empty()) {
        Session* session = sessions_.back();
        sessions_.pop_back();
        lose_links(*session, why);
        pn_session_set_context(session->session_, nullptr);
        session->session_ = nullptr;
        if (session->listener_ != nullptr) {
            session->listener_->on_session_ended(why);
        }
    }
    listener_.on_closed(why);
}

} // namespace sessionq::amqp

#include "amqp/engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/event.h>
#include <proton/link.h>
#include <proton/object.h>
#include <proton/session.h>
#include <proton/transport.h>

#include "amqp/proton.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::string_view empty_frame{"\0\0\0\x08\x02\0\0\0", 8};

} // namespace

Engine::Engine(EngineOptions options, ConnectionListener& listener)
    : listener_{listener},
      sasl_{std::move(options.sasl)},
      is_server_{options.is_server},
      reads_message_formats_{options.read_message_formats},
      connection_{pn_connection()},
      transport_{pn_transport()},
      collector_{pn_collector()},
      shim_{options.read_message_formats, options.open.max_frame_size} {
    if (is_server_) {
        pn_transport_set_server(transport_);
    }
    const Open& open = options.open;
    pn_transport_set_max_frame(transport_, open.max_frame_size);
    pn_transport_set_channel_max(transport_, open.channel_max);
    pn_transport_set_idle_timeout(transport_, open.idle_time_out * 2); // it announces half of what it is told
    pn_connection_collect(connection_, collector_);
    pn_connection_set_container(connection_, open.container.c_str());
    if (!open.hostname.empty()) {
        pn_connection_set_hostname(connection_, open.hostname.c_str());
    }
    if (!open.properties.empty()) {
        proton::set(pn_connection_properties(connection_), open.properties);
    }
    pn_transport_bind(transport_, connection_);
    if (!is_server_) {
        pn_connection_open(connection_);
    }
    if (sasl_) {
        sasl_->begin(output_);
    }
}

Engine::~Engine() {
    for (Session* session : sessions_) {
        forget_links(*session);
        pn_session_set_context(session->session_, nullptr);
        session->session_ = nullptr;
    }
    pn_transport_unbind(transport_);
    pn_transport_free(transport_);
    pn_connection_free(connection_);
    pn_collector_release(collector_);
    pn_collector_free(collector_);
}

void Engine::input(std::string_view bytes) {
    if (failed_ || closed_) {
        return;
    }
    if (sasl_) {
        feed_sasl(bytes);
    }
    if (sasl_ == nullptr && !bytes.empty() && !failed_) {
        feed_transport(bytes);
    }
}

// What a SASL exchange leaves of the bytes belongs to the AMQP stream. Frames cut in two wait here.
void Engine::feed_sasl(std::string_view& bytes) {
    sasl_input_.append(bytes);
    bytes = {};
    std::string_view rest = sasl_input_;
    switch (sasl_->feed(rest, output_)) {
    case SaslExchange::State::going_on: sasl_input_.erase(0, sasl_input_.size() - rest.size()); return;
    case SaslExchange::State::failed:
        failure_ = sasl_->failure();
        failed_ = broken_ = true;
        return;
    case SaslExchange::State::done: break;
    }
    sasl_.reset();
    const std::string left{rest};
    sasl_input_.clear();
    if (!left.empty()) {
        feed_transport(left);
    }
}

// What must be answered before more is heard is: an open by its kind, a begin because the engine forgets, with the peer's end, whom the answer was for.
void Engine::feed_transport(std::string_view bytes) {
    const std::size_t passing = shim_.passing(bytes);
    push(bytes.substr(0, passing));
    bytes.remove_prefix(passing);
    while (!bytes.empty() && !failed_ && !closed_) {
        rewritten_.clear();
        if (!shim_.inbound(bytes, rewritten_)) {
            break_off(Errc::protocol_error, "amqp:connection:framing-error", "what the peer sent are no frames, or not of a size to work with");
            return;
        }
        push(rewritten_);
        if (!bytes.empty()) {
            process();
            collect_output();
        }
    }
}

void Engine::push(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t capacity = pn_transport_capacity(transport_);
        if (capacity <= 0) {
            return; // it has seen an error or the end; its events say so
        }
        const std::size_t count = std::min(static_cast<std::size_t>(capacity), bytes.size());
        std::memcpy(pn_transport_tail(transport_), bytes.data(), count);
        if (pn_transport_process(transport_, count) < 0) {
            return;
        }
        bytes.remove_prefix(count);
    }
}

// What the peer said last cannot be gone on from: it is told so, and nothing more is heard.
void Engine::break_off(Errc found, std::string_view name, std::string text) {
    failure_ = {.name = std::string{name}, .text = std::move(text), .found = found};
    failed_ = true;
    close(failure_);
}

void Engine::input_closed(const Condition& why) {
    if (!closed_) {
        if (!failed_ && !why.empty()) {
            failure_ = why;
        }
        failed_ = true;
    }
}

void Engine::process() {
    if (processing_ || closed_) {
        return;
    }
    processing_ = true;
    while (pn_event_t* event = pn_collector_peek(collector_)) {
        handle(event);
        pn_collector_pop(collector_);
    }
    processing_ = false;
    if (failed_ && !closed_) {
        finish(failure_);
    }
}

void Engine::take(std::string& to) {
    if (sasl_ == nullptr && !broken_) {
        collect_output();
    }
    to.clear();
    to.swap(output_);
    unsent_ = 0;
    touched_ = false;
}

void Engine::collect_output() {
    for (;;) {
        const ssize_t pending = pn_transport_pending(transport_);
        if (pending <= 0) {
            break;
        }
        const std::string_view bytes{pn_transport_head(transport_), static_cast<std::size_t>(pending)};
        if (!shim_.outbound(bytes, output_)) {
            failure_ = {.name = "amqp:internal-error", .text = "the engine wrote what are no frames", .found = Errc::internal_error};
            failed_ = broken_ = true;
            return;
        }
        pn_transport_pop(transport_, bytes.size());
    }
    bury();
}

// What is freed has its deliveries settled; hence not before the end was said that settles them as well.
void Engine::bury() {
    for (pn_link_t* link : std::exchange(dead_links_, {})) {
        pn_link_free(link);
    }
    for (pn_session_t* session : std::exchange(dead_sessions_, {})) {
        pn_session_free(session);
        --channels_;
    }
}

void Engine::heartbeat() {
    if (sasl_ != nullptr || broken_ || closed_) {
        return;
    }
    collect_output();
    if (output_.empty() && shim_.is_outbound_aligned()) {
        output_.append(empty_frame);
    }
    touch();
}

SessionPtr Engine::begin_session() {
    if (closed_ || sessions_left() == 0) {
        return nullptr;
    }
    auto session = std::make_unique<Session>(*this, pn_session(connection_));
    session->open();
    return session;
}

std::size_t Engine::sessions_left() const noexcept {
    const std::size_t most = std::size_t{std::min(pn_transport_get_channel_max(transport_), pn_transport_remote_channel_max(transport_))} + 1;
    return most > channels_ ? most - channels_ : 0;
}

void Engine::close(const Condition& condition) {
    if (closed_ || (pn_connection_state(connection_) & PN_LOCAL_CLOSED) != 0) {
        return;
    }
    if (is_server_ && (pn_connection_state(connection_) & PN_LOCAL_UNINIT) != 0) {
        pn_connection_open(connection_);
    }
    proton::set(pn_connection_condition(connection_), condition);
    pn_connection_close(connection_);
    touch();
}

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
    opened_ = true;
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
        } else if (owner == nullptr || owner->ended_) { // the end waited for the answer to its begin
            pn_session_close(session);
        }
        return;
    }
    if (owner == nullptr) { // its owner left before
        if (std::find(dead_sessions_.begin(), dead_sessions_.end(), session) == dead_sessions_.end()) {
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
        if (!opened && std::find(dead_links_.begin(), dead_links_.end(), link) == dead_links_.end()) { // its owner left before
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
    if (link.max_message_size_ == 0 || pn_delivery_pending(delivery) <= link.max_message_size_ || link.closed_) {
        return false;
    }
    const Condition why{
        .name = "amqp:link:message-size-exceeded", .text = "a message is larger than the link's max-message-size", .found = Errc::message_too_large};
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
        // Several may have arrived in whole before the first is told; each is read and advanced over in turn.
        while (pn_link_get_context(link) == owner) {
            pn_delivery_t* current = pn_link_current(link);
            if (current == nullptr || owner->closed_ || is_too_large(*owner, current) || !pn_delivery_readable(current) ||
                pn_delivery_partial(current)) {
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
    if (pn_link_get_context(link) == owner && pn_delivery_updated(delivery) && !pn_delivery_partial(delivery) && owner->listener_ != nullptr) {
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

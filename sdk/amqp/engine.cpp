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

#include "amqp/idleness.hpp"
#include "amqp/proton.hpp"

namespace sessionq::amqp {

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
    pn_transport_set_idle_timeout(transport_,
                                  open.idle_time_out * 2); // it announces half of what it is told
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
    case SaslExchange::State::going_on:
        sasl_input_.erase(0, sasl_input_.size() - rest.size());
        return;
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

// Input stops where an answer must come first: an open is answered by its kind, and a begin before
// the peer's end makes the engine forget whom the answer was for.
void Engine::feed_transport(std::string_view bytes) {
    while (!bytes.empty() && !failed_ && !closed_) {
        const std::size_t passing = shim_.passing(bytes);
        push(bytes.substr(0, passing));
        bytes.remove_prefix(passing);
        rewritten_.clear();
        if (!shim_.inbound(bytes, rewritten_)) {
            break_off(Errc::protocol_error, "amqp:connection:framing-error",
                      "what the peer sent are no frames, or not of a size to work with");
            return;
        }
        push(rewritten_);
        if (is_server_ && !bytes.empty()) {
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
    if (!closed_ && !std::exchange(failed_, true) && !why.empty()) {
        failure_ = why;
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

// What the transport below holds for thousands of attaches at once it would hold for ever.
void Engine::attached() {
    constexpr std::size_t portion = 32;
    touch();
    if (++unwritten_attaches_ >= portion) {
        commit();
    }
}

void Engine::take(std::string& to) {
    if (sasl_ == nullptr && !broken_) {
        collect_output();
    }
    to.clear();
    to.swap(output_);
    release_memory_of_rush(to.size());
    unsent_ = 0;
    touched_ = false;
}

// A server keeps the output's memory after a rush for as long as it uses it now and then, so that
// it does not grow from nothing each time. A client's rush is its attaches. It ends with them.
void Engine::release_memory_of_rush(std::size_t used) {
    constexpr std::size_t usual = std::size_t{64} << 10U;
    const unsigned patience = is_server_ ? 32 : 1;
    const bool is_rush_over = output_.capacity() > usual && used < output_.capacity() / 8;
    idle_takes_ = is_rush_over ? idle_takes_ + 1 : 0;
    if (idle_takes_ == patience) {
        idle_takes_ = 0;
        std::string{}.swap(output_);
    }
}

void Engine::commit() {
    if (sasl_ == nullptr && !broken_) {
        collect_output();
    }
}

void Engine::collect_output() {
    unwritten_attaches_ = 0;
    for (;;) {
        const ssize_t pending = pn_transport_pending(transport_);
        if (pending <= 0) {
            break;
        }
        const std::string_view bytes{pn_transport_head(transport_),
                                     static_cast<std::size_t>(pending)};
        if (!shim_.outbound(bytes, output_)) {
            failure_ = {.name = "amqp:internal-error",
                        .text = "the engine wrote what are no frames",
                        .found = Errc::internal_error};
            failed_ = broken_ = true;
            return;
        }
        pn_transport_pop(transport_, bytes.size());
    }
    bury();
}

// Freeing a link settles its deliveries. So it waits until the end, which settles them too, was
// told.
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
    const std::size_t most = std::size_t{std::min(pn_transport_get_channel_max(transport_),
                                                  pn_transport_remote_channel_max(transport_))} +
                             1;
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
    open_ = false;
    touch();
}

} // namespace sessionq::amqp

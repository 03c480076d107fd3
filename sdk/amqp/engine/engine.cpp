// SPDX-License-Identifier: MIT
#include "amqp/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {
namespace {

constexpr std::size_t most_cached_deliveries = 4096;

} // namespace

Engine::Engine(EngineOptions options, ConnectionListener& listener)
    : listener_{listener},
      is_server_{options.is_server},
      accepts_links_{options.accepts_links},
      most_at_once_{options.most_at_once},
      local_{std::move(options.open)},
      sasl_{std::move(options.sasl)},
      reader_{local_.max_frame_size},
      output_{!sasl_.is_over(), is_server_ ? 32U : 1U},
      deliveries_{sizeof(Delivery), most_cached_deliveries} {
    if (!is_server_) {
        open();
    }
    sasl_.begin(output_.sasl());
}

Engine::~Engine() {
    while (Session* const session = channels_.first_left()) {
        static_cast<void>(session->lose_link()); // once there is none, the session goes
    }
}

// Input

void Engine::input(std::string_view bytes) {
    if (failed_ || closed_) {
        return;
    }
    processing_ = true;
    sasl_.is_over() ? feed(bytes) : feed_sasl(bytes);
    processing_ = false;
}

void Engine::feed_sasl(std::string_view bytes) {
    std::string rest;
    const SaslExchange::State state = sasl_.feed(bytes, output_.sasl(), rest);
    if (state == SaslExchange::State::failed) {
        failure_ = sasl_.failure();
        failed_ = true;
        output_.close();
    } else if (state == SaslExchange::State::done) {
        output_.sasl_is_over();
        feed(rest);
    }
}

void Engine::feed(std::string_view bytes) {
    while (!failed_ && !closed_) {
        if (waiting_input_.has_to_wait()) {
            waiting_input_.keep(bytes);
            return;
        }
        switch (reader_.next(bytes)) {
        case FrameReader::Found::more: return;
        case FrameReader::Found::header: write_header(); break;
        case FrameReader::Found::frame: on_frame(reader_.frame()); break;
        case FrameReader::Found::fault:
            break_off("amqp:connection:framing-error", reader_.fault());
            break;
        }
    }
}

void Engine::on_frame(const Frame& frame) {
    if (frame.body.empty()) {
        return;
    }
    std::string fault;
    const auto fields = Fields::read(frame.body, fault);
    if (!fields) {
        break_off("amqp:decode-error", std::move(fault));
        return;
    }
    const std::uint8_t code = fields->code();
    if (code == Performative::close) {
        close();
        finish(read_condition(fields->raw(0)));
    } else if (!refusal_.empty() || open_seen_ == (code == Performative::open)) {
        break_off("amqp:connection:framing-error", open_seen_ && refusal_.empty()
                                                       ? "the peer opened twice"
                                                       : "the peer did not open first");
    } else if (code == Performative::open) {
        on_open(*fields);
    } else if (close_sent_) {
        return;
    } else if (frame.channel > local_.channel_max) {
        break_off("amqp:connection:framing-error", "a channel is beyond the channel-max");
    } else if (code == Performative::begin) {
        on_begin(frame.channel, *fields);
    } else if (code == Performative::end) {
        on_end(frame.channel, *fields);
    } else if (code == Performative::disposition) {
        if (Session* const session = session_of(frame.channel)) {
            const bool is_sender = fields->is_true(disposition_field::role);
            waiting_input_.disposition.begin(frame.channel, *fields, session->table(is_sender));
            tell_disposition();
        }
    } else {
        on_session_frame(frame.channel, *fields, frame.body);
    }
}

void Engine::on_open(const Fields& open) {
    Open peer = Open::read(open);
    refusal_ = peer.find_refusal();
    if (!refusal_.empty()) {
        if (is_server_) {
            break_off("amqp:connection:framing-error", std::string{refusal_});
        }
        return;
    }
    open_seen_ = true;
    remote_max_frame_size_ = peer.max_frame_size;
    remote_channel_max_ = peer.channel_max;
    this->open();
    open_ = !close_sent_;
    listener_.on_open(peer);
}

void Engine::on_begin(std::uint16_t channel, const Fields& begin) {
    if (channels_.local_of(channel)) {
        break_off("amqp:not-allowed", "the peer began a session on a channel that is in use");
        return;
    }
    if (begin.has(begin_field::remote_channel)) {
        const auto local = static_cast<std::uint16_t>(begin.number(begin_field::remote_channel));
        if (!channels_.is_used(local) || channels_.at(local).is_begun) {
            break_off("amqp:not-allowed", "the peer answered a begin that was not sent");
            return;
        }
        channels_.connect(local, channel);
        if (channels_.at(local).session != nullptr) {
            channels_.at(local).session->on_begin(begin);
        }
        if (channels_.at(local).end_awaited) { // the end has waited for this answer
            write_end(local, {});
        }
        return;
    }
    if (sessions_left() == 0) {
        break_off("amqp:resource-limit-exceeded",
                  "the peer began more sessions than its own channel-max allows");
        return;
    }
    const std::uint16_t local = channels_.take();
    auto session = std::make_unique<Session>(*this, local);
    channels_.at(local).session = session.get();
    channels_.connect(local, channel);
    session->on_begin(begin);
    session->write_begin(&channel);
    listener_.on_session(std::move(session));
}

void Engine::on_end(std::uint16_t channel, const Fields& end) {
    const auto local = channels_.local_of(channel);
    if (!local) {
        return; // the peer has ended this session before
    }
    channels_.disconnect(channel);
    Session* const session = channels_.at(*local).session;
    if (!channels_.at(*local).end_awaited) {
        write_end(*local, {});
    }
    channels_.free(*local);
    if (session != nullptr) {
        lose(*session, read_condition(end.raw(0)));
    }
}

Session* Engine::session_of(std::uint16_t remote_channel) noexcept {
    const auto local = channels_.local_of(remote_channel);
    Session* const session = local ? channels_.at(*local).session : nullptr;
    return session != nullptr && !session->ended_ ? session : nullptr;
}

// Frames for a session that either side has left are dropped.
void Engine::on_session_frame(std::uint16_t channel, const Fields& fields, std::string_view body) {
    Session* const session = session_of(channel);
    if (session == nullptr) {
        return;
    }
    Condition fault;
    std::uint32_t handle = handle_max + 1;
    switch (fields.code()) {
    case Performative::attach:
        if (fields.number(attach_field::handle) > handle_max) {
            break_off("amqp:connection:framing-error", "a handle is beyond the handle-max");
            return;
        }
        fault = session->on_attach(fields, body);
        break;
    case Performative::flow:
        session->on_flow(fields);
        handle = fields.has(flow_field::handle) ? fields.number(flow_field::handle) : handle;
        break;
    case Performative::transfer:
        fault = session->on_transfer(fields);
        handle = fields.number(transfer_field::handle);
        break;
    case Performative::detach: session->on_detach(fields); break;
    default: break_off("amqp:not-allowed", "the peer sent a type that is no performative"); return;
    }
    if (!fault.empty()) {
        session->end(fault);
        lose(*session, fault);
        return;
    }
    // A listener may have taken session and link with it.
    Session* const left = session_of(channel);
    const Handles::Handle* const end = left != nullptr ? left->handles_.of_remote(handle) : nullptr;
    if (end != nullptr && end->link != nullptr) {
        end->link->tell_flow();
    }
}

// Listeners may settle, and take links and sessions with them.
void Engine::tell_disposition() {
    waiting_input_.disposition.tell(most_at_once_, [this](std::uint16_t channel, bool is_sender) {
        Session* const session = session_of(channel);
        return session != nullptr ? &session->table(is_sender) : nullptr;
    });
}

void Engine::tell_open(std::uint16_t channel, std::uint32_t remote, Link& link,
                       std::string_view body) {
    link.attach_ = body;
    link.listener_->on_link_open();
    Session* const session = channels_.at(channel).session;
    const Handles::Handle* const end =
        session != nullptr ? session->handles_.of_remote(remote) : nullptr;
    if (end != nullptr && end->link == &link) {
        link.attach_ = {};
    }
}

// The end

// The connection cannot go on after the peer's error. The peer is told why, and the bytes that it
// sends from now on are dropped.
void Engine::break_off(std::string_view name, std::string text) {
    failure_ = {.name = std::string{name}, .text = std::move(text), .found = Errc::protocol_error};
    failed_ = true;
    close(failure_);
}

void Engine::input_closed(const Condition& why) {
    if (!closed_ && !std::exchange(failed_, true) && !why.empty()) {
        failure_ = why;
    }
}

void Engine::process() {
    if (processing_ || closed_ || (!failed_ && unattached_.empty())) {
        return;
    }
    processing_ = true;
    failed_ ? finish(failure_) : unattached_.tell();
    processing_ = false;
}

void Engine::let_go() {
    waiting_input_.let_go();
    if (driver_ != nullptr && !processing_) {
        driver_->on_output();
    }
}

void Engine::go_on() {
    if (processing_ || !is_busy()) {
        return;
    }
    processing_ = true;
    if (is_ending_) {
        tell_end();
    } else {
        tell_disposition();
        feed(waiting_input_.has_to_wait() ? std::string{} : waiting_input_.take());
    }
    processing_ = false;
}

void Engine::forget(Session& session) noexcept {
    if (session.is_due_) {
        std::erase(due_, &session);
    }
    channels_.at(session.channel_).session = nullptr;
}

void Engine::lose(Session& session, const Condition& why) {
    while (Link* const link = session.lose_link()) {
        lost_links_.push_back(*link);
    }
    while (Link* const link = lost_links_.pop_front()) {
        link->tell_gone(why);
    }
    session.tell_ended(why);
}

void Engine::finish(const Condition& why) {
    closed_ = true;
    is_ending_ = true;
    end_ = why;
    output_.close();
    if (most_at_once_ == EngineOptions::all_at_once || channels_.first_left() == nullptr) {
        tell_end(); // no turn is needed
    }
}

// A link is let go of when it is told, not before: until then its owner may use it and its
// deliveries. The frames that this use writes go nowhere.
void Engine::tell_end() {
    for (std::size_t told = 0; told < most_at_once_; ++told) {
        Session* const session = channels_.first_left();
        if (session == nullptr) {
            is_ending_ = false;
            listener_.on_closed(end_);
            return;
        }
        Link* const link = session->lose_link();
        link != nullptr ? link->tell_gone(end_) : session->tell_ended(end_);
    }
}

} // namespace sessionq::amqp

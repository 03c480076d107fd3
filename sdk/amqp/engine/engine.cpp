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
    channels_.visit_sessions([](Session& session) {
        session.drop_links([](Link&) {});
        session.gone_ = true;
    });
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
    switch (sasl_.feed(bytes, output_.sasl(), rest)) {
    case SaslExchange::State::going_on: return;
    case SaslExchange::State::failed:
        failure_ = sasl_.failure();
        failed_ = true;
        output_.close();
        return;
    case SaslExchange::State::done: break;
    }
    output_.sasl_is_over();
    feed(rest);
}

void Engine::feed(std::string_view bytes) {
    while (!failed_ && !closed_) {
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
        on_close(*fields);
    } else if (is_refused_ || open_seen_ == (code == Performative::open)) {
        break_off("amqp:connection:framing-error", open_seen_ && !is_refused_
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
        on_disposition(frame.channel, *fields);
    } else {
        on_session_frame(frame.channel, *fields, frame.body);
    }
}

void Engine::on_open(const Fields& open) {
    Open peer = Open::read(open);
    if (peer.max_frame_size < smallest_max_frame_size) {
        is_refused_ = !is_server_;
        if (is_server_) {
            break_off("amqp:connection:framing-error",
                      "the peer named a max-frame-size of less than 512");
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

void Engine::on_close(const Fields& close) {
    const Condition why = read_condition(close.raw(0));
    this->close();
    finish(why);
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
        channels_.at(session->channel_).session = nullptr;
        lose(*session, fault);
        return;
    }
    // A listener may have taken session and link with it.
    Session* const left = session_of(channel);
    const Handles::Handle* const end = left != nullptr ? left->handles_.of_remote(handle) : nullptr;
    if (end == nullptr || end->link == nullptr) {
        return;
    }
    if (!end->is_sender) {
        static_cast<ReceiverLink*>(end->link)->look_drained();
    } else if (end->link->listening() != nullptr && !end->link->closed_) {
        end->link->listener_->on_flow();
    }
}

// Listeners may settle, and take links and sessions with them.
void Engine::on_disposition(std::uint16_t channel, const Fields& disposition) {
    const bool is_sender = disposition.is_true(disposition_field::role); // the peer receives
    const std::uint32_t first = disposition.number(disposition_field::first);
    const std::uint32_t last = disposition.has(disposition_field::last)
                                   ? disposition.number(disposition_field::last)
                                   : first;
    const std::string_view state = disposition.raw(disposition_field::state);
    const OutcomeKind kind = Outcome::kind_of(state);
    const bool has_details = kind == OutcomeKind::rejected || kind == OutcomeKind::modified;
    Session* session = session_of(channel);
    ids_.clear();
    if (session != nullptr) {
        session->table(is_sender).find_range(first, last, ids_);
    }
    for (const std::uint32_t id : ids_) {
        session = session_of(channel);
        Delivery* const delivery =
            session != nullptr ? session->table(is_sender).find(id) : nullptr;
        if (delivery == nullptr) {
            continue;
        }
        if (kind != OutcomeKind::none) {
            delivery->remote_kind = kind;
            delivery->remote_state = has_details ? std::make_unique<std::string>(state) : nullptr;
        }
        delivery->remote_settled =
            delivery->remote_settled || disposition.is_true(disposition_field::settled);
        if (delivery->link->listening() != nullptr) {
            delivery->link->listener_->on_disposition(DeliveryHandle{delivery});
        }
    }
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

// The connection cannot go on after what the peer sent. The peer is told why, and what it sends
// from now on is dropped.
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
    if (processing_ || !failed_ || closed_) {
        return;
    }
    processing_ = true;
    finish(failure_);
    processing_ = false;
}

void Engine::forget(Session& session) noexcept {
    if (session.is_due_) {
        std::erase(due_, &session);
    }
    channels_.at(session.channel_).session = nullptr;
}

// Each link may take others with it when it is told.
void Engine::lose(Session& session, const Condition& why) {
    session.drop_links([this](Link& link) {
        link.being_lost_ = true;
        lost_links_.push_back(&link);
    });
    if (session.is_due_) {
        std::erase(due_, &session);
    }
    session.gone_ = true;
    while (!lost_links_.empty()) {
        Link* const link = lost_links_.back();
        lost_links_.pop_back();
        link->being_lost_ = false;
        if (link->listener_ != nullptr) {
            link->listener_->on_link_gone(why);
        }
    }
    if (session.listener_ != nullptr) {
        session.listener_->on_session_ended(why);
    }
}

void Engine::finish(const Condition& why) {
    if (closed_) {
        return;
    }
    closed_ = true;
    channels_.visit_sessions([&](Session& session) { lose(session, why); });
    listener_.on_closed(why);
}

} // namespace sessionq::amqp

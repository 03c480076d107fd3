// SPDX-License-Identifier: MIT
// The frames that a session writes.
#include <utility>

#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/engine.hpp"
#include "amqp/engine/frame.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

std::string& Session::out() noexcept {
    return ended_ ? engine_->output_.nowhere() : engine_->out();
}

void Session::write_begin(const std::uint16_t* remote_channel) {
    std::string& to = out();
    write_frame(to, channel_, engine_->remote_max_frame_size_, [&] {
        CompositeWriter writer{to, Performative::begin};
        if (remote_channel != nullptr) {
            writer.ushort(begin_field::remote_channel, *remote_channel);
        }
        writer.number(begin_field::next_outgoing_id, window_.next_outgoing());
        writer.number(begin_field::incoming_window, window_.widen(handles_.used()));
        writer.number(begin_field::outgoing_window, TransferWindow::outgoing);
        writer.number(begin_field::handle_max, handle_max);
        writer.finish();
    });
    engine_->touch();
}

bool Session::write_attach(Link& link, const Attach& attach) {
    std::string& to = out();
    const bool fits = write_frame(to, channel_, engine_->remote_max_frame_size_, [&] {
        attach.write(to, link.name(), link.handle_, !link.is_sender());
    });
    handles_.at(link.handle_).awaits_attach = fits && !link.remote_open_;
    engine_->touch();
    return fits;
}

void Session::write_detach(Link& link, const Condition& condition) {
    write_dispositions();
    std::string& to = out();
    write_frame(to, channel_, engine_->remote_max_frame_size_, [&] {
        CompositeWriter writer{to, Performative::detach};
        writer.number(detach_field::handle, link.handle_);
        writer.boolean(detach_field::closed, true);
        writer.raw(detach_field::error, encode_condition(condition, engine_->most_of_condition()));
        writer.finish();
    });
    if (link.remote_closed_) {
        handles_.free(link.handle_);
    }
    engine_->touch();
}

bool Session::say(bool is_receiver, std::uint32_t id, const Outcome* outcome, bool settled) {
    if (outcome != nullptr && !outcome->is_plain()) {
        write_dispositions();
        std::string state;
        outcome->write(state);
        engine_->touch();
        return write_disposition(out(), channel_, engine_->remote_max_frame_size_, is_receiver,
                                 {.first = id, .last = id}, settled, state);
    }
    const OutcomeKind kind =
        outcome != nullptr && outcome->is_final() ? outcome->kind : OutcomeKind::none;
    if (!dispositions_.add(is_receiver, kind, settled, id)) {
        write_dispositions();
        static_cast<void>(dispositions_.add(is_receiver, kind, settled, id));
    }
    mark_due();
    return true;
}

void Session::write_dispositions() { dispositions_.write(out(), channel_); }

void Session::want_flow(Link& link) {
    if (!std::exchange(link.flow_due_, true)) {
        flows_due_.push_back(&link);
    }
    mark_due();
}

void Session::mark_due() {
    if (!std::exchange(is_due_, true)) {
        engine_->due_.push_back(this);
    }
    engine_->touch();
}

void Session::flush() {
    is_due_ = false;
    write_dispositions();
    std::size_t kept = 0;
    for (Link* const link : flows_due_) {
        if (!link->opened_) {
            flows_due_[kept++] = link; // it is not attached yet
            continue;
        }
        link->flow_due_ = false;
        if (link->may_speak() && !link->remote_closed_) {
            write_flow(link);
        }
    }
    flows_due_.resize(kept);
    if (window_due_) {
        write_flow(nullptr);
    }
}

void Session::write_flow(Link* link) {
    std::string& to = out();
    write_frame(to, channel_, engine_->remote_max_frame_size_, [&] {
        CompositeWriter writer{to, Performative::flow};
        writer.number(flow_field::next_incoming_id, window_.next_incoming());
        writer.number(flow_field::incoming_window, window_.widen(handles_.used()));
        writer.number(flow_field::next_outgoing_id, window_.next_outgoing());
        writer.number(flow_field::outgoing_window, TransferWindow::outgoing);
        if (link != nullptr) {
            writer.number(flow_field::handle, link->handle_);
            if (link->is_sender()) {
                static_cast<SenderLink*>(link)->credit_.write(writer);
            } else {
                static_cast<ReceiverLink*>(link)->credit_.write(writer);
            }
        }
        writer.finish();
    });
    window_due_ = false;
}

} // namespace sessionq::amqp

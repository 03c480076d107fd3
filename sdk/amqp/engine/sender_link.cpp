// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <utility>

#include "amqp/engine/composite_writer.hpp"
#include "amqp/engine/engine.hpp"
#include "amqp/engine/frame.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

std::uint32_t SenderLink::credit() const noexcept {
    const std::size_t waiting =
        waiting_ == nullptr ? 0 : waiting_->size() - (waiting_->front().message.begun ? 1 : 0);
    return waiting < credit_.left() ? credit_.left() - static_cast<std::uint32_t>(waiting) : 0;
}

void SenderLink::drained() {
    if (may_speak() && credit_.give_back(credit_.left() - credit())) {
        session_->want_flow(*this);
    }
}

std::uint32_t SenderLink::session_room() const noexcept {
    return gone_ ? 0 : session_->window_.room();
}

std::size_t SenderLink::buffered() const noexcept { return gone_ ? 0 : session_->waiting_bytes_; }

bool SenderLink::may_begin() const noexcept {
    return opened_ && remote_open_ && credit_.left() != 0 && session_->window_.room() != 0;
}

DeliveryHandle SenderLink::send(std::string_view tag, const Pieces& encoded, bool settled,
                                std::uint32_t message_format) {
    if (!may_speak() || remote_closed_) {
        return {};
    }
    Outgoing message{.delivery = settled ? nullptr : &make_delivery(tag, message_format),
                     .tag = tag,
                     .message_format = message_format,
                     .encoded = encoded};
    const DeliveryHandle handle{message.delivery};
    if (waiting_ == nullptr && may_begin() && write(message)) {
        return handle;
    }
    if (waiting_ == nullptr) {
        waiting_ = std::make_unique<std::deque<Waiting>>();
        session_->stalled_.push_back(this);
    }
    Waiting& kept =
        waiting_->emplace_back(Waiting{.tag = std::string{tag}, .message = std::move(message)});
    kept.bytes.reserve(encoded.size());
    kept.bytes.append(encoded.head).append(encoded.rest);
    kept.message.tag = kept.tag;
    kept.message.encoded = {kept.bytes, {}};
    session_->hold(1, kept.bytes.size());
    return handle;
}

void SenderLink::begin(Outgoing& message) {
    message.begun = true;
    message.id = session_->next_delivery_id_++;
    credit_.sent();
    if (message.delivery != nullptr) {
        message.delivery->id = message.id;
        message.delivery->is_numbered = true;
        session_->table(true).add(*message.delivery);
    }
}

bool SenderLink::write(Outgoing& message) {
    if (!message.begun) {
        begin(message);
    }
    std::string& to = session_->out();
    const std::size_t size = message.encoded.size();
    do {
        if (session_->window_.room() == 0) {
            return false;
        }
        const std::size_t begun = begin_frame(to, session_->channel_);
        CompositeWriter writer{to, Performative::transfer};
        writer.number(transfer_field::handle, handle_);
        writer.number(transfer_field::delivery_id, message.id);
        writer.binary(transfer_field::delivery_tag, message.tag);
        writer.number(transfer_field::message_format, message.message_format);
        writer.boolean(transfer_field::settled, message.delivery == nullptr);
        const std::size_t more_at = writer.position();
        writer.boolean(transfer_field::more, false);
        writer.finish();
        const std::size_t room = engine_->remote_max_frame_size_ - (to.size() - begun);
        if (size - message.sent > room) {
            to[more_at] = '\x41';
        }
        const std::size_t part = std::min(room, size - message.sent);
        message.encoded.copy(to, message.sent, part);
        message.sent += part;
        end_frame(to, begun);
        session_->window_.sent();
    } while (message.sent != size);
    engine_->touch();
    return true;
}

bool SenderLink::send_waiting() {
    while (waiting_ != nullptr) {
        Waiting& first = waiting_->front();
        if (!first.message.begun && !may_begin()) {
            return false;
        }
        if (!write(first.message)) {
            return false;
        }
        session_->hold(-1, first.bytes.size());
        waiting_->pop_front();
        if (waiting_->empty()) {
            waiting_.reset();
        }
    }
    return true;
}

// One that waits is sent as settled.
void SenderLink::settle(Delivery& delivery, const Outcome* outcome) {
    if (waiting_ != nullptr) {
        for (Waiting& each : *waiting_) {
            if (each.message.delivery == &delivery) {
                each.message.delivery = nullptr;
            }
        }
    }
    Link::settle(delivery, outcome);
}

void SenderLink::drop_bytes() noexcept {
    if (waiting_ == nullptr) {
        return;
    }
    if (!gone_) {
        for (const Waiting& each : *waiting_) {
            session_->hold(-1, each.bytes.size());
        }
        std::erase(session_->stalled_, this);
    }
    waiting_.reset();
}

} // namespace sessionq::amqp

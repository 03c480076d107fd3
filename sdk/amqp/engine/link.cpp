// SPDX-License-Identifier: MIT
#include "amqp/engine/link.hpp"

#include <algorithm>
#include <utility>

#include "amqp/engine/engine.hpp"
#include "amqp/engine/performative.hpp"

namespace sessionq::amqp {

Link::Link(Session& session, std::uint32_t handle, std::string name, bool is_sender)
    : engine_{&session.engine()},
      session_{&session},
      handle_{handle},
      is_sender_{is_sender},
      name_{std::move(name)} {
    session_->links_.push_back(*this);
}

void Link::leave() noexcept {
    drop_bytes();
    if (gone_) {
        return;
    }
    listener_ = nullptr;
    if (remote_open_ && !opened_) { // nobody has answered the peer's attach
        open_refused();
    }
    close();
    release_all();
    session_->forget(*this);
}

void Link::peer_attached(const Fields& attach) {
    remote_open_ = true;
    remote_max_message_size_ = attach.long_number(attach_field::max_message_size);
}

void Link::tell_closed(const Condition& why, bool closed) {
    LinkListener* const listener = listening();
    is_over_ = true;
    if (listener != nullptr) {
        listener->on_link_closed(why, closed);
    }
}

Attach Link::remote() const {
    std::string fault;
    const auto fields = Fields::read(attach_, fault);
    return fields ? Attach::read(*fields, fault).value_or(Attach{}) : Attach{};
}

void Link::open(const Attach& attach) {
    if (gone_ || opened_) {
        return;
    }
    if (!attach_as(attach)) {
        could_not_attach();
    }
}

bool Link::attach_as(const Attach& attach) {
    if (!session_->write_attach(*this, attach)) {
        return false;
    }
    opened_ = true;
    max_message_size_ = attach.max_message_size;
    attach_ = {};
    kept_attach_.reset();
    if (flow_due_) {
        session_->mark_due();
    }
    return true;
}

// The peer of a link awaits an answer. A refusal is shorter, unless the link's name is too long.
void Link::could_not_attach() {
    if (remote_open_ && attach_as(refusal())) {
        close(attach_too_large());
    } else if (remote_open_) {
        session_->end(attach_too_large());
    }
    closed_ = true;
    engine_->unattached_.add(*this);
    engine_->touch();
}

Condition Link::attach_too_large() const {
    return {.name = "amqp:link:message-size-exceeded",
            .text = "the attach of link '" + name_ + "' does not fit into a frame of the peer, " +
                    std::to_string(engine_->remote_max_frame_size_) + " bytes",
            .found = Errc::message_too_large};
}

void UnattachedLinks::tell() {
    while (!links_.empty()) {
        Link& link = *links_.back();
        links_.pop_back();
        link.tell_closed(link.attach_too_large(), true);
    }
}

Attach Link::refusal() const {
    Attach answer;
    if (!attach_.empty()) {
        const Attach asked = remote();
        answer.sender_mode = asked.sender_mode;
        answer.receiver_mode = asked.receiver_mode;
    }
    answer.source.present = false;
    answer.target.present = false;
    return answer;
}

void Link::open_refused() { open(refusal()); }

void Link::refuse(const Condition& condition) {
    open_refused();
    close(condition);
}

void Link::close(const Condition& condition) {
    if (gone_ || closed_ || !opened_) {
        return;
    }
    closed_ = true;
    drop_bytes();
    session_->write_detach(*this, condition);
}

Delivery& Link::make_delivery(std::string_view tag, std::uint32_t message_format) {
    auto& made = *::new (engine_->deliveries_.take()) Delivery;
    made.link = this;
    made.message_format = message_format;
    made.tag_size = static_cast<std::uint8_t>(tag.copy(made.tag.data(), made.tag.size()));
    deliveries_.push_back(made);
    return made;
}

void Link::release(Delivery& delivery) noexcept {
    if (delivery.is_numbered) {
        session_->table(is_sender_).remove(delivery);
    }
    delivery.~Delivery();
    engine_->deliveries_.give_back(&delivery);
}

void Link::release_all() noexcept {
    while (Delivery* each = deliveries_.front()) {
        release(*each);
    }
}

bool Link::update(Delivery& delivery, const Outcome& outcome) {
    return !may_speak() || !delivery.is_numbered || delivery.remote_settled ||
           session_->say(!is_sender_, delivery.id, &outcome, false);
}

void Link::settle(Delivery& delivery, const Outcome* outcome) {
    if (may_speak() && delivery.is_numbered && !delivery.remote_settled &&
        !session_->say(!is_sender_, delivery.id, outcome, true)) {
        const Outcome fitting = outcome->without_details(engine_->most_of_condition());
        static_cast<void>(session_->say(!is_sender_, delivery.id, &fitting, true));
    }
    release(delivery);
}

} // namespace sessionq::amqp

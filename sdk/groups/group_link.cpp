// SPDX-License-Identifier: MIT
#include "groups/group_link.hpp"

#include <algorithm>
#include <utility>

#include "groups/group_receiver.hpp"

namespace sessionq::groups {

using Phase = GroupLinkMachine::Phase;

GroupLink::GroupLink(core::EventLoop& loop, const Dialect& dialect, const ReceiverSettings& terms,
                     GroupReceiver& receiver)
    : PlainLink{loop, dialect},
      receiver_{&receiver},
      group_{terms.session_id ? &receiver.table().take(*terms.session_id, *this)
                              : &receiver.table().take_ready(*this)},
      id_{group_->id},
      mode_{terms.mode} {}

GroupLink::~GroupLink() {
    give_back();
    if (receiver_ != nullptr) {
        receiver_->leave(*this);
    }
}

void GroupLink::forget_receiver() noexcept {
    machine_.lose();
    receiver_ = nullptr;
    group_ = nullptr;
}

void GroupLink::give_back() {
    if (group_ != nullptr) {
        receiver_->table().give_back(*std::exchange(group_, nullptr));
    }
}

// Messages

void GroupLink::add_credit(std::uint32_t count) {
    machine_.add_credit(count);
    if (machine_.is_held()) {
        give_later();
        receiver_->top_up();
    }
}

std::uint32_t GroupLink::missing_credit(std::uint32_t outstanding) const noexcept {
    const auto covered = static_cast<std::uint32_t>(group_->waiting.size()) + outstanding;
    return machine_.credit() - std::min(machine_.credit(), covered);
}

void GroupLink::give_later() {
    if (machine_.may_give() && !group_->waiting.empty()) {
        replies_.push([this] { give(); });
    }
}

void GroupLink::give() {
    const auto self = anchor_.handle();
    while (self.get() != nullptr && events_ != nullptr && machine_.may_give()) {
        Held* const held = receiver_->table().next_for(*group_);
        if (held == nullptr) {
            return;
        }
        machine_.gave();
        ports::DeliveryPtr made = events_->new_delivery();
        made->message = held->message;
        made->bytes = held->bytes;
        made->port_tag = reinterpret_cast<std::uint64_t>(held);
        made->settled_by_sender = mode_ == ports::ReceiveMode::receive_and_delete;
        held->given = made.get();
        if (made->settled_by_sender) {
            static_cast<void>(receiver_->settle(*held, {}, amqp::OutcomeKind::accepted));
        }
        events_->on_delivery(std::move(made));
    }
}

void GroupLink::drain() {
    if (machine_.drain() && !receiver_->drain_for_link()) {
        replies_.push([this] { on_drained(); });
    }
}

void GroupLink::on_drained() {
    const auto self = anchor_.handle();
    if (machine_.is_draining()) {
        give(); // the messages that came before the answer
        if (self.get() != nullptr && machine_.drained()) {
            events_->on_drained();
        }
    }
}

// Settling

void GroupLink::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    settlements_.add(delivery);
    if (!machine_.is_held()) {
        answer(delivery,
               Failure{.code = Errc::lock_lost, .detail = "session '" + id_ + "' is not held"});
        return;
    }
    Held& held = *reinterpret_cast<Held*>(delivery.port_tag);
    const ports::Capabilities& capabilities = dialect_.capabilities;
    switch (settlement.outcome) {
    case ports::Outcome::complete:
        settle_at_broker(held, delivery, amqp::OutcomeKind::accepted);
        return;
    case ports::Outcome::release: // kept here: the broker could deliver it after later messages
        receiver_->table().undo(held);
        answer(delivery);
        give_later();
        return;
    case ports::Outcome::abandon: // answered once the message is back at the broker
        receiver_->table().fail(held, anchor_.handle());
        receiver_->want_drain();
        return;
    case ports::Outcome::dead_letter:
        if (capabilities.has(ports::Capability::dead_letter)) {
            settle_at_broker(held, delivery, amqp::OutcomeKind::rejected);
        } else {
            answer(delivery, capabilities.missing(ports::Capability::dead_letter));
        }
        return;
    case ports::Outcome::defer:
        answer(delivery, capabilities.missing(ports::Capability::defer));
        return;
    }
}

void GroupLink::settle_at_broker(Held& held, ports::Delivery& delivery, amqp::OutcomeKind kind) {
    if (receiver_->settle(held, anchor_.handle(), kind)) {
        answer(delivery);
    }
}

// The end

void GroupLink::close(DoneHandler handler) {
    if (!machine_.close()) {
        replies_.push([handler = std::move(handler)] { handler(core::Done{}); });
        return;
    }
    waiter_ = std::move(handler);
    give_back();
    replies_.push([this] { answered(); });
}

/// Leaves the receiver once the link is closed and every settlement is answered.
void GroupLink::answered() {
    if (machine_.leave(settlements_.empty())) {
        std::exchange(receiver_, nullptr)->leave(*this, anchor_.handle());
    }
}

void GroupLink::lose(const Failure& why) {
    const bool was_held = machine_.lose() == Phase::held;
    give_back();
    receiver_ = nullptr;
    tell_lost(why, was_held);
}

} // namespace sessionq::groups

#include "groups/group_link.hpp"

#include <utility>

#include "groups/group_receiver.hpp"

namespace sessionq::groups {

using Phase = GroupLinkMachine::Phase;

void GroupLink::begin(GroupReceiver& receiver, Group& group) {
    receiver_ = &receiver;
    group_ = &group;
    id_ = group.id;
}

GroupLink::~GroupLink() {
    for (Held* const each : settling_) {
        each->settler = nullptr;
    }
    if (group_ != nullptr) {
        receiver_->table().give_back(*group_);
    }
    if (receiver_ != nullptr) {
        receiver_->leave(*this, nullptr);
    }
}

void GroupLink::forget_receiver() noexcept {
    machine_.lose();
    receiver_ = nullptr;
    group_ = nullptr;
    settling_.clear();
    returning_.clear();
}

void GroupLink::set_events(ports::LinkEvents& events) {
    events_ = &events;
    if (untold_loss_) {
        replies_.push([this] { events_->on_lost(*untold_loss_); });
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
        made->settled_by_sender = receiver_->removes();
        held->given = made.get();
        if (made->settled_by_sender) {
            static_cast<void>(
                receiver_->settle(*held, *this, {.kind = amqp::OutcomeKind::accepted}));
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
        give(); // what came before the answer
        if (self.get() != nullptr && machine_.drained()) {
            events_->on_drained();
        }
    }
}

// Settling

void GroupLink::settle(ports::Delivery& delivery, ports::Settlement settlement) {
    machine_.settled();
    if (!machine_.is_held()) {
        answer(delivery,
               Failure{.code = Errc::lock_lost, .detail = "session '" + id_ + "' is not held"});
        return;
    }
    Held& held = *reinterpret_cast<Held*>(delivery.port_tag);
    switch (settlement.outcome) {
    case ports::Outcome::complete:
        settle_at_broker(held, delivery, amqp::OutcomeKind::accepted);
        return;
    case ports::Outcome::release: // kept here: the broker could deliver it behind later ones
        receiver_->table().undo(held);
        answer(delivery);
        give_later();
        return;
    case ports::Outcome::abandon:
        receiver_->table().fail(held);
        returning_.push_back(&delivery);
        receiver_->want_drain();
        return;
    case ports::Outcome::dead_letter:
        if (receiver_->capabilities().has(ports::Capability::dead_letter)) {
            settle_at_broker(held, delivery, amqp::OutcomeKind::rejected);
        } else {
            answer(delivery, not_supported(ports::Capability::dead_letter));
        }
        return;
    case ports::Outcome::defer: answer(delivery, not_supported(ports::Capability::defer)); return;
    }
}

void GroupLink::settle_at_broker(Held& held, ports::Delivery& delivery, amqp::OutcomeKind kind) {
    if (receiver_->settle(held, *this, {.kind = kind})) {
        answer(delivery);
    } else {
        settling_.push_back(&held);
    }
}

void GroupLink::answer(ports::Delivery& delivery, std::optional<Failure> failure) {
    if (failure) {
        replies_.push([this, &delivery, why = *std::move(failure)] { tell(delivery, &why); });
    } else {
        replies_.push([this, &delivery] { tell(delivery, nullptr); });
    }
}

void GroupLink::tell(ports::Delivery& delivery, const Failure* failure) {
    const auto self = anchor_.handle();
    machine_.answered();
    events_->on_settled(delivery, failure);
    if (self.get() != nullptr) {
        leave_if_answered();
    }
}

void GroupLink::on_settled(const Held& held, ports::Delivery& delivery) {
    std::erase(settling_, &held);
    tell(delivery, nullptr);
}

void GroupLink::on_returned() {
    for (ports::Delivery* const each : std::exchange(returning_, {})) {
        answer(*each);
    }
}

// The end

void GroupLink::close(DoneHandler handler) {
    if (!machine_.close()) {
        replies_.push([handler = std::move(handler)] { handler(core::Done{}); });
        return;
    }
    close_handler_ = std::move(handler);
    receiver_->table().give_back(*std::exchange(group_, nullptr));
    replies_.push([this] { leave_if_answered(); });
}

/// What was settled before is answered before.
void GroupLink::leave_if_answered() {
    if (machine_.leave()) {
        std::exchange(receiver_, nullptr)->leave(*this, [handle = anchor_.handle()] {
            if (GroupLink* const link = handle.get()) {
                std::exchange(link->close_handler_, nullptr)(core::Done{});
            }
        });
    }
}

void GroupLink::lose(const Failure& why) {
    const auto self = anchor_.handle();
    const Phase before = machine_.lose();
    receiver_ = nullptr;
    group_ = nullptr;
    if (events_ == nullptr && before == Phase::held) {
        untold_loss_ = std::make_unique<Failure>(why);
        return;
    }
    std::vector<ports::Delivery*> unanswered = std::exchange(returning_, {});
    for (const Held* const each : std::exchange(settling_, {})) {
        unanswered.push_back(each->given);
    }
    Failure unknown = why;
    unknown.outcome_unknown = true;
    replies_.flush();
    for (ports::Delivery* const each : unanswered) {
        if (self.get() != nullptr) {
            tell(*each, &unknown);
        }
    }
    if (self.get() == nullptr) {
        return;
    }
    if (before == Phase::closing) {
        std::exchange(close_handler_, nullptr)(core::Done{});
    } else if (before == Phase::held) {
        events_->on_lost(why);
    }
}

// Requests these brokers do not have

Failure GroupLink::not_supported(ports::Capability capability) const {
    const auto& capabilities =
        receiver_ != nullptr ? receiver_->capabilities() : common_capabilities();
    return {.code = Errc::not_supported,
            .detail =
                capabilities.broker() + " does not have: " + std::string{to_string(capability)}};
}

template <typename T>
ports::RequestId GroupLink::refuse(ports::Capability capability,
                                   std::function<void(core::Result<T>)> handler) {
    replies_.push(
        [handler = std::move(handler), why = not_supported(capability)] { handler(why); });
    return 0;
}

ports::RequestId GroupLink::renew_lock(Deadline, LockHandler handler) {
    return refuse<ports::LockGrant>(ports::Capability::lock_renewal, std::move(handler));
}
ports::RequestId GroupLink::get_state(Deadline, StateHandler handler) {
    return refuse<std::optional<std::string>>(ports::Capability::session_state, std::move(handler));
}
ports::RequestId GroupLink::set_state(std::optional<std::string>, Deadline, DoneHandler handler) {
    return refuse<core::Done>(ports::Capability::session_state, std::move(handler));
}
ports::RequestId GroupLink::receive_deferred(std::vector<std::int64_t>, Deadline,
                                             DeliveriesHandler handler) {
    return refuse<std::vector<ports::DeliveryPtr>>(ports::Capability::defer, std::move(handler));
}

} // namespace sessionq::groups

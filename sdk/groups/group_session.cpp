#include "groups/group_session.hpp"

#include <algorithm>
#include <utility>

#include "groups/receiver.hpp"

namespace sessionq::groups {
namespace {

Failure not_supported(const ports::Capabilities& capabilities, ports::Capability capability) {
    return {.code = Errc::not_supported,
            .detail =
                capabilities.broker() + " does not have: " + std::string{to_string(capability)}};
}

} // namespace

void GroupSession::begin(Group& group) {
    group_ = &group;
    id_ = group.id;
    phase_ = Phase::held;
}

void GroupSession::add_credit(std::uint32_t count) {
    if (phase_ == Phase::held) {
        credit_ += count;
        give_later();
        receiver_->touched(*this);
    }
}

void GroupSession::give_later() {
    if (credit_ != 0 && !group_->waiting.empty() && !std::exchange(give_posted_, true)) {
        receiver_->loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->give_posted_ = false;
                self->give();
            }
        });
    }
}

void GroupSession::give() {
    const auto self = shared_from_this();
    while (phase_ == Phase::held && events_ != nullptr && credit_ != 0) {
        Held* held = receiver_->table().next_for(*group_);
        if (held == nullptr) {
            return;
        }
        --credit_;
        ports::DeliveryPtr made = events_->new_delivery();
        made->message = held->message;
        made->bytes = held->bytes;
        made->port_tag = reinterpret_cast<std::uint64_t>(held);
        if (receiver_->removes()) {
            made->settled_by_sender = true;
            static_cast<void>(
                receiver_->settle(*held, *this, {.kind = amqp::OutcomeKind::accepted}));
        } else {
            held->given = made.get();
        }
        events_->on_delivery(std::move(made));
    }
}

void GroupSession::drain() {
    if (phase_ != Phase::held) {
        return;
    }
    draining_ = true;
    if (!receiver_->drain_for(*this)) {
        receiver_->loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->drained();
            }
        });
    }
}

void GroupSession::drained() {
    const auto self = shared_from_this();
    if (!draining_) {
        return;
    }
    give(); // what came before the answer
    if (phase_ == Phase::held && std::exchange(draining_, false)) {
        credit_ = 0;
        events_->on_drained();
    }
}

void GroupSession::settle(ports::Delivery& delivery, const ports::Settlement& settlement) {
    if (phase_ != Phase::held) {
        answer(delivery, Failure{.code = Errc::lock_lost, .detail = name() + " is held no more"});
        return;
    }
    Held& held = *reinterpret_cast<Held*>(delivery.port_tag);
    const auto settle_with = [&](amqp::OutcomeKind kind) {
        if (receiver_->settle(held, *this, {.kind = kind})) {
            answer(delivery);
        } else {
            settling_.push_back(&held);
        }
    };
    switch (settlement.outcome) {
    case ports::Outcome::complete: settle_with(amqp::OutcomeKind::accepted); return;
    case ports::Outcome::
        release: // it stays on this side: sent back, it could come again behind later ones
        receiver_->table().undo(held);
        answer(delivery);
        give_later();
        return;
    case ports::Outcome::abandon:
        receiver_->table().fail(held);
        returning_.push_back(&delivery);
        receiver_->return_failed();
        return;
    case ports::Outcome::dead_letter:
        if (receiver_->capabilities().has(ports::Capability::dead_letter)) {
            settle_with(amqp::OutcomeKind::rejected);
            return;
        }
        answer(delivery, not_supported(receiver_->capabilities(), ports::Capability::dead_letter));
        return;
    case ports::Outcome::defer:
        answer(delivery, not_supported(receiver_->capabilities(), ports::Capability::defer));
        return;
    }
}

void GroupSession::answer(ports::Delivery& delivery, std::optional<Failure> failure) {
    std::erase(returning_, &delivery);
    answers_.push_back({.delivery = &delivery, .failure = std::move(failure)});
    if (answers_.size() == 1) {
        receiver_->tell_later(*this);
    }
}

void GroupSession::answered(const Held& held, ports::Delivery& delivery) {
    const auto self = shared_from_this();
    std::erase(settling_, &held);
    events_->on_settled(delivery, nullptr);
    look_closed();
}

void GroupSession::returned() {
    for (ports::Delivery* each : std::vector{returning_}) {
        answer(*each);
    }
}

void GroupSession::tell_answers() {
    for (const Answer& each : std::exchange(answers_, {})) {
        if (events_ == nullptr) {
            return;
        }
        events_->on_settled(*each.delivery, each.failure ? &*each.failure : nullptr);
    }
    look_closed();
}

void GroupSession::lose(const Failure& why) {
    const auto self = shared_from_this();
    const Phase was = std::exchange(phase_, Phase::over);
    group_ = nullptr;
    if (events_ == nullptr) {
        if (const auto handler = std::exchange(close_handler_, nullptr)) {
            handler(core::Done{});
        }
        return;
    }
    tell_answers();
    for (ports::Delivery* each : std::exchange(returning_, {})) {
        if (events_ != nullptr) {
            events_->on_settled(*each, &why);
        }
    }
    for (Held* each : std::exchange(settling_, {})) {
        if (events_ != nullptr) {
            events_->on_settled(*each->given, &why);
        }
    }
    if (was == Phase::closing) {
        if (const auto handler = std::exchange(close_handler_, nullptr)) {
            handler(core::Done{});
        }
    } else if (was == Phase::held && events_ != nullptr) {
        events_->on_lost(why);
    }
}

void GroupSession::close(ports::SessionLink::DoneHandler handler) {
    if (phase_ != Phase::held) {
        receiver_->loop().post([handler = std::move(handler)] { handler(core::Done{}); });
        return;
    }
    phase_ = Phase::closing;
    close_handler_ = std::move(handler);
    receiver_->table().give_back(*std::exchange(group_, nullptr));
    receiver_->loop().post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->look_closed();
        }
    });
}

/// What was settled before is answered before.
void GroupSession::look_closed() {
    if (phase_ != Phase::closing || !answers_.empty() || !settling_.empty() ||
        !returning_.empty()) {
        return;
    }
    phase_ = Phase::over;
    receiver_->left(*this, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (const auto handler = self ? std::exchange(self->close_handler_, nullptr) : nullptr) {
            handler(core::Done{});
        }
    });
}

void GroupSession::destroy() noexcept {
    events_ = nullptr;
    close_handler_ = nullptr;
    for (Held* each : std::exchange(settling_, {})) {
        each->settler = nullptr;
    }
    returning_.clear();
    if (group_ != nullptr) {
        receiver_->table().give_back(*std::exchange(group_, nullptr));
    }
    if (const Phase was = std::exchange(phase_, Phase::over);
        was == Phase::held || was == Phase::closing) {
        receiver_->left(*this, nullptr);
    }
}

template <typename T>
ports::RequestId GroupSession::refuse(ports::Capability capability,
                                      std::function<void(core::Result<T>)> handler) {
    receiver_->loop().post([weak = weak_from_this(),
                            why = not_supported(receiver_->capabilities(), capability),
                            handler = std::move(handler)] {
        if (const auto self = weak.lock(); self && self->events_ != nullptr) {
            handler(why);
        }
    });
    return 0;
}

ports::RequestId GroupSessionLink::renew_lock(Deadline, LockHandler handler) {
    return session_->refuse<ports::LockGrant>(ports::Capability::lock_renewal, std::move(handler));
}
ports::RequestId GroupSessionLink::get_state(Deadline, StateHandler handler) {
    return session_->refuse<std::optional<std::string>>(ports::Capability::session_state,
                                                        std::move(handler));
}
ports::RequestId GroupSessionLink::set_state(std::optional<std::string>, Deadline,
                                             DoneHandler handler) {
    return session_->refuse<core::Done>(ports::Capability::session_state, std::move(handler));
}
ports::RequestId GroupSessionLink::receive_deferred(std::vector<std::int64_t>, Deadline,
                                                    DeliveriesHandler handler) {
    return session_->refuse<std::vector<ports::DeliveryPtr>>(ports::Capability::defer,
                                                             std::move(handler));
}

} // namespace sessionq::groups

// SPDX-License-Identifier: MIT
#include "servicebus/session_inbox.hpp"

#include <utility>

#include "amqp/codec/lock_token.hpp"

namespace sessionq::detail::servicebus {

ports::DeliveryPtr make_delivery(ports::LinkEvents& owner, amqp::ReceivedDelivery&& received,
                                 std::size_t bytes, std::uint64_t tag, bool settled) {
    ports::DeliveryPtr made = owner.new_delivery();
    if (const auto& token = received.lock_token; token && !settled) {
        received.facts.lock_token = LockToken{token->bytes};
    }
    made->message = ReceivedMessage{std::move(received.content), std::move(received.facts)};
    made->bytes = bytes;
    made->holder_lost = received.holder_lost;
    made->port_tag = tag;
    made->settled_by_sender = settled;
    return made;
}

void SessionInbox::put(Event&& event, LockedSessionMachine::Hearing when) {
    using Hearing = LockedSessionMachine::Hearing;
    switch (when) {
    case Hearing::never: return;
    case Hearing::later:
        if (kept_ == nullptr) {
            kept_ = std::make_unique<std::deque<Event>>();
        }
        if (share_ != nullptr && event.kind == Event::Kind::delivery) {
            share_->arrived(event.bytes);
        }
        kept_->push_back(std::move(event));
        return;
    case Hearing::now: tell(std::move(event)); return;
    }
}

void SessionInbox::count_off(const Event& event) noexcept {
    if (share_ != nullptr && event.kind == Event::Kind::delivery) {
        share_->gone(event.bytes);
    }
}

void SessionInbox::drop() noexcept {
    if (kept_ != nullptr) {
        for (const Event& each : *kept_) {
            count_off(each);
        }
        kept_.reset();
    }
}

void SessionInbox::tell_first() {
    Event first = std::move(kept_->front());
    kept_->pop_front();
    count_off(first);
    if (kept_->empty()) {
        kept_.reset();
    }
    tell(std::move(first));
}

void SessionInbox::tell(Event&& event) {
    switch (event.kind) {
    case Event::Kind::drained: owner_->on_drained(); return;
    case Event::Kind::lock_uncertain: owner_->on_lock_uncertain(); return;
    case Event::Kind::delivery: break;
    }
    amqp::DeliveryHandle delivery = event.delivery;
    const bool settled = delivery.remote_settled();
    if (!settled) { // the tag is the token
        event.received.lock_token = amqp::token_of(delivery.tag());
    }
    ports::DeliveryPtr made =
        make_delivery(*owner_, std::move(event.received), event.bytes, tag_of(delivery), settled);
    made->lock = event.lock;
    if (settled) {
        delivery.settle();
    } else {
        delivery.set_context(made.get());
    }
    owner_->on_delivery(std::move(made));
}

} // namespace sessionq::detail::servicebus

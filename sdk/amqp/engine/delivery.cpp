// SPDX-License-Identifier: MIT
#include "amqp/engine/delivery.hpp"

#include "amqp/engine/link.hpp"

namespace sessionq::amqp {

Outcome DeliveryHandle::remote_outcome() const {
    return delivery_->remote_state != nullptr ? Outcome::read(*delivery_->remote_state)
                                              : Outcome{.kind = delivery_->remote_kind};
}

bool DeliveryHandle::update(const Outcome& outcome) {
    return delivery_->link->update(*delivery_, outcome);
}

void DeliveryHandle::settle() {
    delivery_->link->settle(*delivery_, nullptr);
    delivery_ = nullptr;
}

void DeliveryHandle::settle(const Outcome& outcome) {
    delivery_->link->settle(*delivery_, &outcome);
    delivery_ = nullptr;
}

} // namespace sessionq::amqp

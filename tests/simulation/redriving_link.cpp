// SPDX-License-Identifier: MIT
#include "simulation/redriving_link.hpp"

namespace sessionq::simulation {

RedrivingLink::RedrivingLink(Environment& environment, core::EventLoop& loop,
                             ports::SessionLinkPtr link, Owner owner)
    : environment_{&environment}, loop_{&loop}, owner_{std::move(owner)}, link_{std::move(link)} {
    link_->set_events(*this);
    if (const auto length = link_->initial_lock().length) {
        renew_after(*length / 3);
    }
}

void RedrivingLink::ask_for(std::uint32_t messages) {
    if (messages > credit_) {
        link_->add_credit(messages - std::exchange(credit_, messages));
    }
}

void RedrivingLink::complete(ports::Delivery& delivery) {
    std::erase(locked_, delivery.port_tag);
    link_->settle(delivery, {.outcome = ports::Outcome::complete});
}

void RedrivingLink::on_delivery(ports::DeliveryPtr delivery) {
    --credit_;
    const Duration length = delivery->lock.value_or(seconds{30});
    arrived_.push_back(delivery.get());
    locked_.push_back(delivery->port_tag);
    all_.push_back(std::move(delivery));
    if (all_.size() == 1) {
        renew_after(length / 3);
    }
    owner_.arrived();
}

void RedrivingLink::on_settled(ports::Delivery& delivery, const Failure* failure) {
    owner_.settled(delivery.message.sequence_number(), failure);
}

void RedrivingLink::on_lost(const Failure& /*reason*/) {
    is_lost_ = true;
    owner_.arrived();
}

void RedrivingLink::renew_after(Duration pause) {
    environment_->scheduler.after(pause, [this, here = std::weak_ptr{here_}, pause] {
        if (here.expired()) {
            return;
        }
        loop_->post([this, here, pause] {
            if (!here.expired() && !is_lost_) {
                renew();
                renew_after(pause);
            }
        });
    });
}

void RedrivingLink::renew() {
    const TimePoint asked = environment_->scheduler.now();
    const Deadline deadline = Deadline::after(seconds{15}, asked);
    if (ports::MessageLocks* const locks = link_->message_locks()) {
        if (!locked_.empty()) {
            locks->renew(locked_, deadline, [](const auto&) {});
        }
    } else if (owner_.renews()) {
        link_->renew_lock(deadline, [environment = environment_, asked](const auto& answer) {
            if (answer.ok()) {
                environment->redrive_holds_until = asked + environment->lock_length;
            }
        });
    }
}

} // namespace sessionq::simulation

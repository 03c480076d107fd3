#include "server/message_intake.hpp"

#include "server/attach_decision.hpp"
#include "server/conditions.hpp"
#include "server/transfer.hpp"

namespace sessionq::server {

MessageIntake::MessageIntake(PeerLinkOwner& owner, Peer& peer, amqp::ReceiverLinkPtr link,
                             broker::QueuePtr queue, std::string entity)
    : PeerLink{owner, std::string{link->name()}, std::move(entity), Rights::send(), true},
      peer_{peer},
      link_{std::move(link)},
      queue_{std::move(queue)} {
    link_->set_listener(this);
}

void MessageIntake::start() {
    link_->open(echo_attach(link_->remote(), queue_->options().max_message_bytes));
    top_up();
}

void MessageIntake::top_up() {
    // unconfirmed messages use credit until they are forwarded and the store has them
    const std::uint32_t left = link_->credit() + unconfirmed_;
    if (left <= peer_.limits.send_credit / 2) {
        link_->add_credit(peer_.limits.send_credit - left);
    }
}

void MessageIntake::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    const amqp::Condition refused = take(encoded, delivery.message_format());
    if (!refused.empty()) {
        answer(delivery, refused);
    } else if (!confirm_when_forwarded(delivery)) {
        confirm(delivery);
    }
}

bool MessageIntake::confirm_when_forwarded(amqp::DeliveryHandle delivery) {
    const bool waits =
        queue_->when_forwarded([this, &loop = peer_.loop, self = std::weak_ptr{self_}, delivery] {
            loop.post([this, self, delivery] {
                if (!self.expired()) {
                    --unconfirmed_;
                    confirm(delivery);
                }
            });
        });
    if (waits) {
        ++unconfirmed_;
        delivery.set_context(this);
        top_up();
    }
    return waits;
}

void MessageIntake::confirm(amqp::DeliveryHandle delivery) {
    if (peer_.commits.is_always_open() || delivery.remote_settled()) {
        answer(delivery, {});
        return;
    }
    ++unconfirmed_;
    delivery.set_context(this);
    peer_.commits.when_durable([this, self = std::weak_ptr{self_}, delivery](const Failure* why) {
        if (!self.expired()) {
            --unconfirmed_;
            answer(delivery,
                   why == nullptr ? amqp::Condition{} : condition_of(*why, LockKind::message));
        }
    });
    top_up();
}

void MessageIntake::answer(amqp::DeliveryHandle delivery, const amqp::Condition& refused) {
    if (refused.empty()) {
        delivery.settle({.kind = amqp::OutcomeKind::accepted});
    } else {
        delivery.settle({.kind = amqp::OutcomeKind::rejected, .error = refused});
    }
    top_up();
}

void MessageIntake::on_disposition(amqp::DeliveryHandle delivery) {
    // otherwise the answer waits for a commit
    if (delivery.remote_settled() && delivery.context() == nullptr) {
        delivery.settle();
    }
}

amqp::Condition MessageIntake::take(std::string_view encoded, std::uint32_t message_format) {
    if (encoded.size() > queue_->options().max_message_bytes) {
        return make_condition(condition::message_size_exceeded,
                              "the message is too large for '" + entity() + "': the limit is " +
                                  std::to_string(queue_->options().max_message_bytes) + " bytes");
    }
    const broker::Instant now = peer_.now();
    auto messages = decode_transfer(encoded, message_format, now, peer_.limits);
    if (!messages) {
        return condition_of(messages.failure(), LockKind::message);
    }
    auto sent = queue_->send(std::move(messages).value(), now);
    if (sent) {
        return {};
    }
    if (sent.failure().code == Errc::session_required) {
        return make_condition(condition::not_allowed,
                              "The SessionId was not set on a message, and it cannot be sent to "
                              "the entity. Entities that "
                              "have session support enabled can only receive messages that have "
                              "the SessionId set to a valid value.");
    }
    return condition_of(sent.failure(), LockKind::message);
}

} // namespace sessionq::server

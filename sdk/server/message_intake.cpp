// SPDX-License-Identifier: MIT
#include "server/message_intake.hpp"

#include <utility>

#include "amqp/codec/batch.hpp"
#include "amqp/codec/encoder.hpp"
#include "amqp/engine/engine.hpp"
#include "server/attach_decision.hpp"
#include "server/conditions.hpp"

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
    amqp::Attach answer = echo_attach(link_->remote(), queue_->options().max_message_bytes);
    answer.properties = amqp::encode(amqp::Value::map(
        {{amqp::Value::symbol(amqp::max_batch_size),
          static_cast<std::int64_t>(broker::max_batch_bytes(queue_->options()))}}));
    link_->open(answer);
    top_up();
}

void MessageIntake::top_up() {
    // unconfirmed messages use credit until they are forwarded and the store has them
    const std::uint32_t left = link_->credit() + unconfirmed_;
    if (left <= peer_.limits.send_credit / 2 && !peer_.is_quiescing) {
        link_->add_credit(peer_.limits.send_credit - left);
    }
}

MessageIntake::~MessageIntake() {
    forget_waiting(unconfirmed_);
    if (batch_) {
        peer_.waiting_batch_bytes -= batch_->memory();
        link_->session().engine().let_go();
    }
}

void MessageIntake::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    if (delivery.remote_kind() == amqp::OutcomeKind::transactional) {
        answer(delivery, make_condition(condition::not_implemented, no_transactions));
        return;
    }
    if (amqp::Condition refused = refusal_of_size(encoded, delivery.message_format());
        !refused.empty()) {
        answer(delivery, refused);
        return;
    }
    switch (delivery.message_format()) {
    case 0: take_one(delivery, encoded); break;
    case amqp::batch_format: take_batch(delivery, encoded); break;
    default:
        take(delivery, Failure{.code = Errc::not_supported,
                               .detail = "unknown message format " +
                                         std::to_string(delivery.message_format())});
    }
}

void MessageIntake::take_one(amqp::DeliveryHandle delivery, std::string_view encoded) {
    auto message = decode_message(encoded, peer_.now(), peer_.limits);
    if (!message) {
        take(delivery, message.failure());
        return;
    }
    std::vector<MessageContentPtr> messages;
    messages.push_back(std::move(message).value());
    take(delivery, std::move(messages));
}

void MessageIntake::take_batch(amqp::DeliveryHandle delivery, std::string_view encoded) {
    BatchDecoder batch{encoded, peer_.limits};
    if (batch.left() > peer_.limits.decoded_at_once) {
        decode_in_turns(delivery, encoded);
        return;
    }
    batch.decode(peer_.limits.decoded_at_once, peer_.now());
    take(delivery, std::move(batch).take());
}

// The peer's next frame waits, so its messages stay in order, and it does not leave before.
void MessageIntake::decode_in_turns(amqp::DeliveryHandle delivery, std::string_view encoded) {
    batch_ = std::make_unique<Batch>(delivery, encoded, peer_.limits);
    peer_.waiting_batch_bytes += batch_->memory();
    link_->session().engine().hold();
    decode_more();
}

// Sending takes a turn of its own.
void MessageIntake::decode_more() {
    const bool is_whole = batch_->decoder.decode(peer_.limits.decoded_at_once, peer_.now());
    peer_.turns.add([this, is_whole, self = std::weak_ptr{self_}] {
        if (self.expired()) {
            return;
        }
        if (is_whole) {
            take_whole();
        } else {
            decode_more();
        }
    });
}

void MessageIntake::take_whole() {
    const auto whole = std::exchange(batch_, nullptr);
    peer_.waiting_batch_bytes -= whole->memory();
    amqp::Engine& engine = link_->session().engine();
    take(whole->delivery, std::move(whole->decoder).take());
    engine.let_go();
}

void MessageIntake::take(amqp::DeliveryHandle delivery,
                         core::Result<std::vector<MessageContentPtr>> messages) {
    const amqp::Condition refused = messages ? send(std::move(messages).value())
                                             : condition_of(messages.failure(), LockKind::message);
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
                    forget_waiting(1);
                    confirm(delivery);
                }
            });
        });
    if (waits) {
        keep_waiting(delivery);
    }
    return waits;
}

void MessageIntake::confirm(amqp::DeliveryHandle delivery) {
    if (peer_.commits.is_always_open() || delivery.remote_settled()) {
        answer(delivery, {});
        return;
    }
    peer_.commits.when_durable([this, self = std::weak_ptr{self_}, delivery](const Failure* why) {
        if (!self.expired()) {
            forget_waiting(1);
            answer(delivery,
                   why == nullptr ? amqp::Condition{} : condition_of(*why, LockKind::message));
        }
    });
    keep_waiting(delivery);
}

void MessageIntake::keep_waiting(amqp::DeliveryHandle delivery) {
    ++unconfirmed_;
    ++peer_.unconfirmed;
    delivery.set_context(this);
    top_up();
}

void MessageIntake::forget_waiting(std::uint32_t count) noexcept {
    unconfirmed_ -= count;
    peer_.unconfirmed -= count;
}

void MessageIntake::answer(amqp::DeliveryHandle delivery, const amqp::Condition& refused) {
    if (refused.empty()) {
        delivery.settle({.kind = amqp::OutcomeKind::accepted});
    } else {
        delivery.settle({.kind = amqp::OutcomeKind::rejected, .error = refused});
    }
    top_up();
}

// Azure's clients for JavaScript and Python need 31 and 3 seconds for a link in place of one that
// is closed when its message is rejected.
bool MessageIntake::on_message_too_large() {
    top_up();
    return true;
}

void MessageIntake::on_disposition(amqp::DeliveryHandle delivery) {
    // otherwise the answer waits for a commit
    if (delivery.remote_settled() && delivery.context() == nullptr) {
        delivery.settle();
    }
}

amqp::Condition MessageIntake::refusal_of_size(std::string_view encoded,
                                               std::uint32_t format) const {
    const bool is_batch = format == amqp::batch_format;
    const std::uint64_t most =
        is_batch ? broker::max_batch_bytes(queue_->options()) : queue_->options().max_message_bytes;
    return encoded.size() <= most
               ? amqp::Condition{}
               : make_condition(condition::message_size_exceeded,
                                std::string{is_batch ? "the batch" : "the message"} +
                                    " is too large for '" + entity() + "': the limit is " +
                                    std::to_string(most) + " bytes");
}

amqp::Condition MessageIntake::send(std::vector<MessageContentPtr> messages) {
    auto sent = queue_->send(std::move(messages), peer_.now());
    if (sent) {
        return {};
    }
    peer_.refused(sent.failure());
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

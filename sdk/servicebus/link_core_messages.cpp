// What becomes of a session's messages on its link: credit, deliveries, settlements.
#include "servicebus/link_core.hpp"

#include <algorithm>
#include <utility>

#include "amqp/codec/encoder.hpp"
#include "core/log.hpp"
#include "servicebus/conditions.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Map;
using amqp::OutcomeKind;
using amqp::Value;

/// A handle fits a port tag; tags of deferred messages are odd, which no pointer is.
std::uint64_t tag_of(amqp::DeliveryHandle delivery) {
    return reinterpret_cast<std::uint64_t>(delivery.raw());
}
amqp::DeliveryHandle handle_of(std::uint64_t tag) {
    return amqp::DeliveryHandle{reinterpret_cast<pn_delivery_t*>(tag)};
}
bool is_deferred(std::uint64_t tag) { return (tag & 1U) != 0; }

amqp::Outcome to_outcome(const ports::Settlement& settlement) {
    switch (settlement.outcome) {
    case ports::Outcome::complete: return {.kind = OutcomeKind::accepted};
    case ports::Outcome::release: return {.kind = OutcomeKind::released};
    case ports::Outcome::dead_letter: {
        Map info{{"DeadLetterReason", settlement.dead_letter.reason},
                 {"DeadLetterErrorDescription", settlement.dead_letter.description}};
        for (auto& entry : LinkCore::to_map(settlement.properties_to_modify)) {
            info.push_back(std::move(entry));
        }
        return {.kind = OutcomeKind::rejected,
                .error = {.name = "com.microsoft:dead-letter",
                          .info = amqp::encode(Value{std::move(info)})}};
    }
    case ports::Outcome::abandon:
    case ports::Outcome::defer: break;
    }
    Map annotations;
    for (auto& [name, value] : LinkCore::to_map(settlement.properties_to_modify)) {
        annotations.emplace_back(Value::symbol(name.text().value_or("")), value);
    }
    return {.kind = OutcomeKind::modified,
            .undeliverable_here = settlement.outcome == ports::Outcome::defer,
            .annotations =
                annotations.empty() ? std::string{} : amqp::encode(Value{std::move(annotations)})};
}

} // namespace

void LinkCore::add_credit(std::uint32_t count) {
    if (link_) {
        link_->add_credit(count);
    }
}

void LinkCore::drain() {
    if (link_ && !link_->drain()) {
        hub_->loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->on_drained();
            }
        });
    }
}

void LinkCore::on_drained() {
    if (phase_ == Phase::held && !dead_) {
        events_->on_drained();
    }
}

void LinkCore::on_delivery(amqp::DeliveryHandle delivery) {
    const auto self = shared_from_this();
    const bool settled = link_->is_settled_by_sender(delivery);
    amqp::EncodedContent::Blank bytes{link_->size(delivery)};
    link_->read(delivery, bytes.data());
    if (phase_ != Phase::held || dead_ || events_ == nullptr) {
        return; // the broker has it back with the link
    }
    const std::size_t size = bytes.size();
    const amqp::ClockReading at = hub_->reading();
    auto received = amqp::decode_delivery(std::move(bytes), at);
    if (!received.ok()) {
        core::log(LogLevel::error, "servicebus", received.failure().to_string());
        if (!settled) {
            delivery.update(
                {.kind = OutcomeKind::rejected,
                 .error = {.name = "amqp:decode-error", .text = "the message cannot be decoded"}});
        }
        delivery.settle();
        if (!link_->is_draining()) {
            link_->add_credit(1); // for what nobody is told of
        }
        return;
    }
    hub_->locks().has_passed(received.value().facts.enqueued_time, at);
    if (lessons_ != hub_->locks().lessons()) {
        lessons_ = hub_->locks().lessons();
        events_->on_lease_doubted();
    }
    ports::DeliveryPtr made =
        make_delivery(std::move(received).value(), size, tag_of(delivery), settled);
    if (settled) {
        delivery.settle();
    } else {
        delivery.set_context(made.get());
    }
    events_->on_delivery(std::move(made));
}

ports::DeliveryPtr LinkCore::make_delivery(amqp::ReceivedDelivery&& received, std::size_t bytes,
                                           std::uint64_t tag, bool settled) {
    ports::DeliveryPtr made = events_->new_delivery();
    made->message = ReceivedMessage{std::move(received.content), std::move(received.facts)};
    made->bytes = bytes;
    made->port_tag = tag;
    made->settled_by_sender = settled;
    return made;
}

void LinkCore::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    settling_.push_back(&delivery);
    if (phase_ != Phase::held) {
        hub_->loop().post([weak = weak_from_this()] {
            if (const auto self = weak.lock(); self && self->phase_ != Phase::held) {
                self->fail_settlements(
                    {.code = Errc::lock_lost,
                     .detail = "session '" + self->session_id_ + "' is held no more"});
            }
        });
        return;
    }
    if (is_deferred(delivery.port_tag)) {
        const core::Uuid token = deferred_.at(delivery.port_tag);
        deferred_.erase(delivery.port_tag);
        settle_deferred(delivery, token, settlement);
    } else {
        handle_of(delivery.port_tag).update(to_outcome(settlement));
    }
}

void LinkCore::on_disposition(amqp::DeliveryHandle delivery) {
    if (!delivery.remote_settled()) {
        return;
    }
    const auto self = shared_from_this();
    auto* told = static_cast<ports::Delivery*>(delivery.context());
    std::optional<Failure> why;
    if (delivery.remote_kind() == OutcomeKind::rejected) {
        if (const amqp::Outcome outcome = delivery.remote_outcome(); !outcome.error.empty()) {
            why = to_failure(outcome.error, "the settlement was refused");
        }
    }
    delivery.settle();
    if (told != nullptr && forget_settling(*told) && !dead_) {
        events_->on_settled(*told, why ? &*why : nullptr);
    }
}

// Answers come in order but for those to deferred messages: it is the first, as a rule.
bool LinkCore::forget_settling(const ports::Delivery& delivery) {
    const auto first = settling_.begin() + static_cast<std::ptrdiff_t>(first_settling_);
    const auto found = std::find(first, settling_.end(), &delivery);
    if (found == settling_.end()) {
        return false;
    }
    if (found != first) {
        settling_.erase(found);
        return true;
    }
    if (++first_settling_ * 2 >= settling_.size()) {
        settling_.erase(settling_.begin(),
                        settling_.begin() + static_cast<std::ptrdiff_t>(first_settling_));
        first_settling_ = 0;
    }
    return true;
}

void LinkCore::fail_settlements(const Failure& why) {
    while (first_settling_ < settling_.size() && !dead_) {
        ports::Delivery& delivery = *settling_[first_settling_];
        static_cast<void>(forget_settling(delivery));
        events_->on_settled(delivery, &why);
    }
}

} // namespace sessionq::servicebus

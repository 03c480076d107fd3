// SPDX-License-Identifier: MIT
#include "groups/entity_link.hpp"

#include <utility>

#include "groups/arrival.hpp"
#include "groups/conditions.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::groups {

using amqp::OutcomeKind;

namespace {

amqp::Outcome outcome_for(ports::Outcome outcome) {
    switch (outcome) {
    case ports::Outcome::dead_letter: return {.kind = OutcomeKind::rejected};
    case ports::Outcome::abandon: return {.kind = OutcomeKind::modified, .delivery_failed = true};
    case ports::Outcome::release: return {.kind = OutcomeKind::released};
    default: return {.kind = OutcomeKind::accepted};
    }
}

} // namespace

EntityLink::EntityLink(ReceiverContext& context, ReceiverSettings terms, DoneHandler attached)
    : PlainLink{context.loop, *context.connection.dialect(), std::move(attached)},
      loop_{context.loop},
      context_{&context},
      terms_{std::move(terms)} {}

EntityLink::~EntityLink() {
    if (machine_.is_attached()) {
        unsettled_.release(); // a detach may count the messages as delivered
    }
}

const std::string& EntityLink::session_id() const noexcept {
    static const std::string none;
    return none;
}

bool EntityLink::attach(amqp::Engine& engine) {
    channel_ = ReceiverChannel::attach(engine, dialect_, terms_, *this, context_->room);
    return channel_ != nullptr;
}

void EntityLink::forget_endpoint() noexcept {
    machine_.lose();
    channel_.reset();
    context_ = nullptr;
}

void EntityLink::on_attached() {
    machine_.attached();
    end_wait(core::Done{});
}

// Messages

void EntityLink::add_credit(std::uint32_t count) {
    if (machine_.add_credit(count)) {
        channel_->link().add_credit(count);
    }
}

void EntityLink::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    if (!machine_.gives()) {
        if (machine_.is_attached()) {
            delivery.settle({.kind = OutcomeKind::released});
        }
        return; // else the broker gets the message back with the link
    }
    if (auto arrival = take_arrival(*context_, delivery, encoded)) {
        give(delivery, std::move(arrival->received), encoded.size());
    } else {
        add_credit(1); // replaces the used credit: the owner never sees this message
    }
}

void EntityLink::give(amqp::DeliveryHandle delivery, amqp::ReceivedDelivery received,
                      std::size_t bytes) {
    received.facts.sequence_number = machine_.next_number();
    ports::DeliveryPtr made = events_->new_delivery();
    made->bytes = bytes;
    if (terms_.mode == ports::ReceiveMode::receive_and_delete) {
        made->settled_by_sender = true;
        context_->unanswered.settled(received.content->message_id());
        delivery.settle({.kind = OutcomeKind::accepted});
    } else {
        made->port_tag =
            reinterpret_cast<std::uint64_t>(&unsettled_.add(delivery, received.content));
    }
    made->message = ReceivedMessage{std::move(received.content), std::move(received.facts)};
    events_->on_delivery(std::move(made));
}

void EntityLink::drain() { perform(machine_.drain(loop_.now())); }

void EntityLink::on_drained() { perform(machine_.drained(settlements_.empty())); }

// Settling

void EntityLink::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    settlements_.add(delivery);
    if (!machine_.is_held()) {
        answer(delivery,
               Failure{.code = Errc::lock_lost, .detail = "'" + terms_.entity + "' is not held"});
        return;
    }
    const ports::Capabilities& capabilities = dialect_.capabilities;
    if (const auto needed = ports::capability_for(settlement.outcome);
        needed && !capabilities.has(*needed)) {
        answer(delivery, capabilities.missing(*needed));
        return;
    }
    auto& one = *reinterpret_cast<UnsettledMessages::One*>(delivery.port_tag);
    const amqp::Outcome outcome = outcome_for(settlement.outcome);
    const bool goes_back =
        outcome.kind == OutcomeKind::modified || outcome.kind == OutcomeKind::released;
    if (!goes_back && dialect_.settles_in_turn) {
        one.settling = &delivery;
        one.handle.update(outcome);
        return;
    }
    if (!goes_back) {
        context_->unanswered.settled(one.content->message_id());
    }
    unsettled_.settle(one, outcome);
    answer(delivery);
}

void EntityLink::on_settled_by_broker(amqp::DeliveryHandle delivery) {
    auto* const one = static_cast<UnsettledMessages::One*>(delivery.context());
    if (one == nullptr || one->settling == nullptr) {
        return; // no settlement waits for this answer
    }
    delivery.settle();
    ports::Delivery& settled = *one->settling;
    unsettled_.forget(*one);
    tell(settled, nullptr);
}

// The end

void EntityLink::perform(Action action) {
    switch (action) {
    case Action::none: break;
    case Action::drain:
        if (!channel_->link().drain()) { // there is no credit
            replies_.push([this] { on_drained(); });
        }
        break;
    case Action::repeat_drain: channel_->repeat_drain(); break;
    case Action::tell_drained:
        loop_.timers().cancel(timer_);
        events_->on_drained(); // may destroy the link
        return;
    case Action::detach:
        unsettled_.release(); // a detach may count the messages as delivered
        channel_->link().close();
        break;
    case Action::abandon: on_lost(unanswered_drain()); return;
    }
    loop_.timers().set_due(timer_, machine_.due());
}

void EntityLink::close(DoneHandler handler) {
    if (!machine_.is_held()) {
        replies_.push([handler = std::move(handler)] { handler(core::Done{}); });
        return;
    }
    waiter_ = std::move(handler);
    perform(machine_.close(loop_.now()));
}

void EntityLink::on_lost(const amqp::Condition& condition) {
    const Phase before = machine_.lose();
    loop_.timers().cancel(timer_);
    const auto channel = std::exchange(channel_, nullptr);
    unsettled_.lose(context_->unanswered);
    if (before != Phase::closing) {
        context_->unanswered.lost();
    }
    if (before == Phase::attaching) {
        end_wait(to_failure(condition, "cannot receive from '" + terms_.entity + "'"));
        return;
    }
    tell_lost(loss_from(to_failure(condition, "the link to '" + terms_.entity + "' was lost")),
              before == Phase::held);
}

// Opening

void EntityOpening::start() {
    context_.connection.when_open(
        [handle = anchor_.handle()](const core::Result<amqp::Engine*>& engine) {
            if (EntityOpening* const opening = handle.get()) {
                opening->on_engine(engine);
            }
        });
}

void EntityOpening::on_engine(const core::Result<amqp::Engine*>& engine) {
    if (!engine.ok()) {
        context_.accepts.answer(id_, engine.failure());
        return;
    }
    link_ = std::make_unique<EntityLink>(
        context_, terms_, [this](const core::Result<core::Done>& attached) {
            if (attached.ok()) {
                context_.accepts.answer(id_, ports::SessionLinkPtr{std::move(link_)});
            } else {
                context_.accepts.answer(id_, attached.failure());
            }
        });
    links_.push_back(*link_);
    if (!link_->attach(*engine.value())) {
        context_.accepts.answer(id_, no_more_links(terms_.entity));
    }
}

} // namespace sessionq::groups

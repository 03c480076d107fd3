// SPDX-License-Identifier: MIT
#include "groups/group_receiver.hpp"

#include <utility>

#include "core/log.hpp"
#include "core/peer_words.hpp"
#include "groups/arrival.hpp"
#include "groups/conditions.hpp"
#include "groups/group_link.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::groups {
namespace {

using amqp::OutcomeKind;

/// A link is given up after all its groups have been idle for this long. Both brokers pin a group
/// to its link, so this lets the broker give the groups to other consumers. A busy link is kept. If
/// busy groups must move, the queue must be configured so at the broker (Artemis: rebalance with
/// pause dispatch; Broker-J: shared groups).
constexpr Duration longest_idle = std::chrono::seconds{1};

/// Gives a message back to the broker. `counted`: the broker counts the delivery.
void release(GroupTable& table, Held& held, bool counted) {
    held.handle.settle(counted
                           ? amqp::Outcome{.kind = OutcomeKind::modified, .delivery_failed = true}
                           : amqp::Outcome{.kind = OutcomeKind::released});
    table.remove(held);
}

} // namespace

using Action = ReceiverMachine::Action;

GroupReceiver::GroupReceiver(ReceiverContext& context, ReceiverSettings terms)
    : context_{context},
      terms_{std::move(terms)},
      accepts_{context.accepts,
               {.code = Errc::no_session_available,
                .detail = "'" + terms_.entity + "' has no group to give"},
               [this] { review_later(); }} {}

GroupReceiver::~GroupReceiver() {
    for (GroupLink* const each : links_) {
        each->forget_receiver();
    }
}

// Accepting

void GroupReceiver::accept(ports::RequestId id, const ports::AcceptRequest& request) {
    if (request.buffer_bytes != 0) {
        table_.window().set_budget(request.buffer_bytes);
    }
    const bool probes = !terms_.session_id && request.wait <= Duration::zero();
    if (probes) {
        accepts_.add_probe(id);
    } else if (terms_.session_id) {
        accepts_.add(id);
    } else {
        accepts_.add(id, Deadline::after(request.wait, context_.loop.now()));
    }
    serve();
    if (!accepts_.empty()) {
        perform(machine_.wanted());
    }
    if (probes && accepts_.has_probes()) {
        want_drain();
    }
}

/// Answers accepts that wait with groups that are ready.
void GroupReceiver::serve() {
    const auto& named = terms_.session_id;
    while (machine_.is_attached() && !accepts_.empty() &&
           (named ? table_.holder(*named) == nullptr : table_.has_ready())) {
        auto made = std::make_unique<GroupLink>(context_.loop, *context_.connection.dialect(),
                                                terms_, *this);
        links_.push_back(made.get());
        accepts_.answer_first(std::move(made));
    }
}

// The link

void GroupReceiver::perform(Action action) {
    switch (action) {
    case Action::none: break;
    case Action::connect:
        context_.connection.when_open(
            [handle = anchor_.handle()](const core::Result<amqp::Engine*>& engine) {
                if (GroupReceiver* const receiver = handle.get()) {
                    receiver->on_engine(engine);
                }
            });
        return; // the handler may have run already
    case Action::flow:
        top_up();
        perform(machine_.drain_again(context_.loop.now()));
        return;
    case Action::drain:
        accepts_.begin_probe();
        if (!channel_->link().drain()) { // there is no credit
            context_.replies.push([handle = anchor_.handle()] {
                if (GroupReceiver* const receiver = handle.get()) {
                    receiver->on_drained();
                }
            });
        }
        break;
    case Action::repeat_drain: channel_->repeat_drain(); break;
    case Action::close:
        for (Held* const each : table_.take_waiting()) { // a detach may count them as delivered
            release(table_, *each, false);
        }
        channel_->link().close();
        break;
    case Action::abandon: on_lost(unanswered_drain()); return;
    case Action::finish: context_.finished(terms_); return;
    }
    context_.loop.timers().set_due(timer_, machine_.due());
}

void GroupReceiver::on_time() { perform(machine_.on_time(use(), context_.loop.now())); }

void GroupReceiver::on_engine(const core::Result<amqp::Engine*>& engine) {
    machine_.connected();
    if (engine.ok()) {
        channel_ = ReceiverChannel::attach(*engine.value(), *context_.connection.dialect(), terms_,
                                           *this, context_.room);
    }
    if (channel_ == nullptr) {
        machine_.lost();
        accepts_.fail_all(engine.ok() ? no_more_links(terms_.entity) : engine.failure());
        review_later();
    }
}

void GroupReceiver::on_attached() {
    table_.window().set_share(channel_->share());
    machine_.attached(terms_.session_id ? Duration::zero() : longest_idle);
    serve();
    top_up();
    if (accepts_.has_probes()) {
        want_drain();
    }
    review();
}

void GroupReceiver::on_lost(const amqp::Condition& condition) {
    const ReceiverMachine::Phase before = machine_.phase();
    machine_.lost();
    context_.loop.timers().cancel(timer_);
    table_.visit_given(
        [this](const Held& held) { context_.unanswered.held(held.message.message_id()); });
    if (before != ReceiverMachine::Phase::closing) {
        context_.unanswered.lost();
    }
    const auto channel = std::exchange(channel_, nullptr);
    const Failure why = to_failure(condition, "the link to '" + terms_.entity + "' was lost");
    if (before == ReceiverMachine::Phase::attaching) {
        accepts_.fail_all(to_failure(condition, "cannot receive from '" + terms_.entity + "'"));
    } else if (before != ReceiverMachine::Phase::closing && links_.empty()) {
        core::log(LogLevel::warning, "groups", why.to_string()); // no session hears of it
    }
    while (!links_.empty()) {
        GroupLink* const link = links_.back();
        links_.pop_back();
        link->lose(loss_from(why));
    }
    table_.lose_all();
    review_later(); // the connection may be about to go as well
}

void GroupReceiver::top_up() {
    if (!machine_.may_flow()) {
        return;
    }
    amqp::ReceiverLink& link = channel_->link();
    std::uint32_t more = 0;
    if (!terms_.session_id) {
        more = table_.window().grant(link.credit());
    } else if (const GroupLink* const only = table_.holder(*terms_.session_id)) {
        more = only->missing_credit(link.credit());
    }
    if (more != 0) {
        link.add_credit(more);
    }
}

// Messages

void GroupReceiver::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    if (!machine_.is_attached()) {
        return; // the broker gets the message back with the link
    }
    auto arrival = take_arrival(context_, delivery, encoded);
    if (!arrival) {
        top_up();
        return;
    }
    DeliveryFacts& facts = arrival->received.facts;
    machine_.arrived(arrival->dealt_anew);
    facts.sequence_number = arrival->group_sequence.value_or(table_.next_sequence_number());
    // Another consumer may have had the group since its last message came here. So the session
    // ends, and this message opens the next session.
    if (GroupLink* const link = arrival->dealt_anew ? table_.resting(arrival->group) : nullptr) {
        std::erase(links_, link);
        link->lose({.code = Errc::lock_lost,
                    .detail = "the broker dealt group '" + core::peer_words(arrival->group) +
                              "' anew; another consumer may have had it"});
    }
    Held& held = table_.arrived(
        arrival->group, delivery,
        ReceivedMessage{std::move(arrival->received.content), std::move(facts)}, encoded.size());
    delivery.set_context(&held);
    if (GroupLink* const link = held.group->session) {
        link->give();
    } else {
        serve();
    }
    top_up();
}

bool GroupReceiver::settle(Held& held, core::WeakHandle<GroupLink> settler,
                           amqp::OutcomeKind kind) {
    if (channel_ == nullptr) {
        return false; // the link is about to hear that it is lost
    }
    const bool is_answered_later = context_.connection.dialect()->settles_in_turn &&
                                   terms_.mode == ports::ReceiveMode::peek_lock;
    if (is_answered_later) {
        held.handle.update({.kind = kind});
        table_.settle(held, std::move(settler));
    } else {
        context_.unanswered.settled(held.message.message_id());
        held.handle.settle({.kind = kind});
        table_.remove(held);
    }
    top_up();
    return !is_answered_later;
}

void GroupReceiver::on_settled_by_broker(amqp::DeliveryHandle delivery) {
    auto* const held = static_cast<Held*>(delivery.context());
    if (held == nullptr || held->place != Held::Place::settling) {
        return; // no settlement waits for this answer
    }
    delivery.settle();
    GroupLink* const settler = held->settler.get();
    ports::Delivery* const given = held->given;
    table_.remove(*held);
    if (settler != nullptr) {
        settler->tell(*given, nullptr);
    }
}

// Drains

void GroupReceiver::want_drain() { perform(machine_.want_drain(context_.loop.now())); }

bool GroupReceiver::drain_for_link() {
    if (!terms_.session_id || !machine_.is_attached()) {
        return false;
    }
    want_drain();
    return true;
}

/// The broker answered a drain. No message is under way now, so messages that go back come again in
/// order.
void GroupReceiver::on_drained() {
    if (machine_.phase() != ReceiverMachine::Phase::draining) {
        return;
    }
    for (Held* const each : table_.take_returning()) {
        if (GroupLink* const settler = each->settler.get()) {
            settler->answer(*each->given);
        }
        release(table_, *each, each->failed);
    }
    accepts_.end_probe();
    if (GroupLink* const link = terms_.session_id ? table_.holder(*terms_.session_id) : nullptr) {
        link->on_drained();
    }
    perform(machine_.drained(use()));
}

// Leaving

void GroupReceiver::leave(GroupLink& link, core::WeakHandle<GroupLink> waiting) {
    std::erase(links_, &link);
    leaving_.push_back(std::move(waiting));
    review_later(); // an accept may follow at once
}

void GroupReceiver::review_later() {
    context_.replies.push([handle = anchor_.handle()] {
        if (GroupReceiver* const receiver = handle.get()) {
            receiver->serve();
            receiver->top_up();
            receiver->review();
        }
    });
}

void GroupReceiver::review() {
    if (!accepts_.empty()) {
        perform(machine_.wanted());
    }
    if (machine_.has_left(use())) {
        for (const auto& each : std::exchange(leaving_, {})) {
            if (GroupLink* const link = each.get()) {
                link->on_left();
            }
        }
    }
    perform(machine_.use_changed(use(), context_.loop.now()));
}

ReceiverMachine::Use GroupReceiver::use() const noexcept {
    return {
        .waited_for = !accepts_.empty(), .held = !links_.empty(), .has_groups = !table_.is_empty()};
}

bool GroupReceiver::is_finished() const noexcept {
    return use().none() && machine_.phase() == ReceiverMachine::Phase::detached;
}

} // namespace sessionq::groups

// SPDX-License-Identifier: MIT
#include "servicebus/locked_session.hpp"

#include <utility>

#include "amqp/codec/lock_token.hpp"
#include "core/log.hpp"
#include "servicebus/conditions.hpp"
#include "servicebus/session_codec.hpp"

namespace sessionq::detail::servicebus {
namespace {

using amqp::OutcomeKind;
using Hearing = LockedSessionMachine::Hearing;

Failure not_held(const SessionAddress& address) {
    return {.code = Errc::lock_lost, .detail = address.title() + " is not held"};
}

void reject_undecodable(amqp::ReceiverLink& link, amqp::DeliveryHandle delivery,
                        const Failure& why) {
    core::log(LogLevel::error, "servicebus", why.to_string());
    delivery.settle({.kind = OutcomeKind::rejected,
                     .error = {.name = "amqp:decode-error", .text = why.detail}});
    if (!link.is_draining()) {
        link.add_credit(1); // the application hears nothing of this message
    }
}

void answer(ports::SettlementBook& settlements, ports::LinkEvents* events, ports::Delivery* told,
            const std::optional<Failure>& why) {
    if (told != nullptr && settlements.take(*told)) { // else the link's end answered it
        events->on_settled(*told, why ? &*why : nullptr);
    }
}

/// The length of the lock that a message has of its own.
std::optional<Duration> own_lock(BrokerConnection& connection, ports::Scope scope,
                                 ports::ReceiveMode mode, const amqp::ReceivedDelivery& received) {
    if (scope == ports::Scope::session || mode == ports::ReceiveMode::receive_and_delete) {
        return std::nullopt;
    }
    return received.locked_until
               ? connection.locks().length(*received.locked_until, connection.loop().now(),
                                           connection.reading())
               : LockClock::unknown_lock; // renewed soon, which shows it
}

} // namespace

LockedSession::LockedSession(std::unique_ptr<PooledLink> link, SessionAddress address, Terms terms,
                             std::optional<WallTime> locked_until)
    : loop_{link->connection().loop()},
      terms_{terms},
      link_{std::move(link)},
      requests_{*link_, std::move(address)},
      inbox_{link_->share()},
      replies_{loop_} {
    link_->link().set_listener(this);
    if (requests_.address().scope == ports::Scope::entity) {
        lock_.initial = {};
        lock_.lessons = link_->connection().locks().lessons();
    } else if (locked_until) { // the broker does not say when it granted the lock
        BrokerConnection& connection = link_->connection();
        lock_.initial =
            lock_.granted(connection.locks(), *locked_until, loop_.now(), connection.reading());
    }
}

ports::FirstCredit LockedSession::set_events(ports::LinkEvents& events) {
    inbox_.listen(events);
    if (machine_.listen(inbox_.keeps())) {
        replies_.push([this] { proceed(); });
    }
    return terms_.first;
}

// Messages

void LockedSession::add_credit(std::uint32_t count) {
    if (may_use()) {
        link_->link().add_credit(count);
    }
}

void LockedSession::drain() {
    if (may_use() && !link_->link().drain()) {
        replies_.push([this] { on_drained(); });
    }
}

void LockedSession::on_drained() {
    if (may_use()) {
        inbox_.put({}, machine_.hearing(inbox_.keeps()));
    }
}

void LockedSession::on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) {
    const Hearing hearing = machine_.hearing(inbox_.keeps());
    if (hearing == Hearing::never) {
        return;
    }
    BrokerConnection& connection = link_->connection();
    auto received = amqp::decode_delivery(encoded, connection.brokers_reading());
    if (!received.ok()) {
        reject_undecodable(link_->link(), delivery, received.failure());
        return;
    }
    if (lock_.has_passed(connection.locks(), received.value().facts.enqueued_time,
                         connection.reading())) {
        replies_.push([this] {
            if (may_use()) {
                inbox_.put({.kind = SessionInbox::Event::Kind::lock_uncertain},
                           machine_.hearing(inbox_.keeps()));
            }
        });
    }
    const auto lock =
        own_lock(connection, requests_.address().scope, terms_.mode, received.value());
    inbox_.put({.kind = SessionInbox::Event::Kind::delivery,
                .delivery = delivery,
                .lock = lock,
                .received = std::move(received).value(),
                .bytes = encoded.size()},
               hearing);
}

void LockedSession::settle(ports::Delivery& delivery, ports::Settlement&& settlement) {
    settlements_.add(delivery);
    if (!may_use()) {
        replies_.push([this] {
            static_cast<void>(settlements_.fail_all(inbox_.owner(), not_held(requests_.address())));
        });
        return;
    }
    std::optional<core::Uuid> token = deferred_.take(delivery.port_tag);
    amqp::DeliveryHandle handle; // of a message that came over the link
    if (!token) {
        handle = handle_of(delivery.port_tag);
        if (handle.update(to_outcome(settlement))) {
            return;
        }
        token = amqp::token_of(handle.tag()); // a disposition has one frame, a request many
    }
    requests_.ask("com.microsoft:update-disposition",
                  to_disposition(token.value_or(core::Uuid{}), settlement),
                  link_->connection().default_deadline(),
                  [this, told = &delivery, handle](const core::Result<Response>& result) mutable {
                      if (!settlements_.take(*told)) {
                          return; // the link's end, or the broker on the link, answered it
                      }
                      const auto why = settlement_failure(result);
                      if (!why && handle && may_use()) {
                          handle.settle(); // the link forgets it
                      }
                      inbox_.owner()->on_settled(*told, why ? &*why : nullptr);
                  });
}

void LockedSession::on_disposition(amqp::DeliveryHandle delivery) {
    if (!delivery.remote_settled()) {
        return;
    }
    auto* told = static_cast<ports::Delivery*>(delivery.context());
    std::optional<Failure> why;
    if (delivery.remote_kind() == OutcomeKind::rejected) {
        if (const amqp::Outcome outcome = delivery.remote_outcome(); !outcome.error.empty()) {
            why = to_failure(outcome.error, "the settlement was rejected");
        }
    }
    delivery.settle();
    answer(settlements_, inbox_.owner(), told, why);
}

// Requests

ports::RequestId LockedSession::ask(std::string operation, amqp::Map body, Deadline deadline,
                                    SessionRequests::Handler handler) {
    if (may_use()) {
        return requests_.ask(std::move(operation), std::move(body), deadline, std::move(handler));
    }
    replies_.push([this, handler = std::move(handler)] { handler(not_held(requests_.address())); });
    return 0;
}

ports::RequestId LockedSession::renew_lock(Deadline deadline, LockHandler handler) {
    return ask("com.microsoft:renew-session-lock", {}, deadline,
               reading(std::move(handler),
                       [this, asked = loop_.now()](
                           const Response& response) -> core::Result<ports::LockGrant> {
                           BrokerConnection& connection = link_->connection();
                           const auto until = read_expiration(response);
                           if (until.ok()) {
                               return lock_.granted(connection.locks(), until.value(), asked,
                                                    connection.reading());
                           }
                           if (until.failure().code == Errc::lock_lost) {
                               lock_.has_ended(connection.locks(), connection.reading());
                           }
                           return until.failure();
                       }));
}

ports::RequestId LockedSession::get_state(Deadline deadline, StateHandler handler) {
    return ask("com.microsoft:get-session-state", {}, deadline,
               reading(std::move(handler), read_state));
}

ports::RequestId LockedSession::set_state(std::optional<std::string> state, Deadline deadline,
                                          DoneHandler handler) {
    return ask("com.microsoft:set-session-state",
               {{"session-state", state ? amqp::Value::binary(*state) : amqp::Value{}}}, deadline,
               reading(std::move(handler), read_state_change));
}

ports::RequestId LockedSession::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                                 Deadline deadline, DeliveriesHandler handler) {
    const bool removes = terms_.mode == ports::ReceiveMode::receive_and_delete;
    using Deliveries = std::vector<ports::DeliveryPtr>;
    return ask(
        "com.microsoft:receive-by-sequence-number",
        {{"sequence-numbers", to_array(sequence_numbers)},
         {"receiver-settle-mode", std::uint32_t{removes ? 0U : 1U}}},
        deadline,
        reading(std::move(handler),
                [this, removes, wanted = sequence_numbers.size()](
                    const Response& response) -> core::Result<Deliveries> {
                    auto read =
                        read_deferred(response, wanted, link_->connection().brokers_reading());
                    if (!read.ok()) {
                        return read.failure();
                    }
                    Deliveries deliveries;
                    for (DeferredMessage& each : read.value()) {
                        const auto lock = own_lock(link_->connection(), requests_.address().scope,
                                                   terms_.mode, each.received);
                        deliveries.push_back(
                            make_delivery(*inbox_.owner(), std::move(each.received), each.bytes,
                                          deferred_.add(each.lock_token), removes));
                        deliveries.back()->lock = lock;
                    }
                    return deliveries;
                }));
}

// The end

void LockedSession::close(DoneHandler handler) {
    if (!machine_.close(link_->is_gone())) {
        replies_.push([handler = std::move(handler)] { handler(core::Done{}); });
        return;
    }
    close_handler_ = std::move(handler);
    inbox_.drop();
    link_->link().close();
}

void LockedSession::on_link_gone(const amqp::Condition& condition) {
    loss_ = std::make_unique<const Failure>(to_loss(condition, requests_.address().title()));
    link_->connection().failed(requests_.address().entity, *loss_);
    inbox_.drop();
    link_->drop();
    machine_.end(condition.name == "com.microsoft:session-lock-lost"
                     ? LockedSessionMachine::End::lock_over
                     : LockedSessionMachine::End::other);
    proceed();
}

/// Every event may destroy the session.
void LockedSession::proceed() {
    for (;;) {
        switch (machine_.next(inbox_.keeps())) {
        case LockedSessionMachine::Action::none: return;
        case LockedSessionMachine::Action::tell_kept:
            replies_.push([this] { proceed(); });
            inbox_.tell_first();
            return;
        case LockedSessionMachine::Action::note_lock_end:
            lock_.has_ended(link_->connection().locks(), link_->connection().reading());
            break;
        case LockedSessionMachine::Action::fail_settlements:
            if (!settlements_.fail_all(inbox_.owner(), Failure{*loss_})) {
                return;
            }
            break;
        case LockedSessionMachine::Action::tell_lost:
            inbox_.owner()->on_lost(Failure{*loss_});
            return;
        case LockedSessionMachine::Action::tell_closed:
            std::exchange(close_handler_, nullptr)(core::Done{});
            return;
        }
    }
}

} // namespace sessionq::detail::servicebus

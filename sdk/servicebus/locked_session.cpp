#include "servicebus/locked_session.hpp"

#include <utility>

#include "core/log.hpp"
#include "servicebus/conditions.hpp"
#include "servicebus/session_codec.hpp"

namespace sessionq::servicebus {
namespace {

using amqp::Map;
using amqp::OutcomeKind;
using amqp::Value;

// A port tag is the delivery's handle. Tags of deferred messages are odd, which no pointer is.
std::uint64_t tag_of(amqp::DeliveryHandle delivery) {
    return reinterpret_cast<std::uint64_t>(delivery.raw());
}
amqp::DeliveryHandle handle_of(std::uint64_t tag) {
    return amqp::DeliveryHandle{reinterpret_cast<pn_delivery_t*>(tag)};
}
bool is_deferred(std::uint64_t tag) { return (tag & 1U) != 0; }

/// Causes that a loss keeps. Every other end of a link is a loss of the connection.
bool is_cause_of_loss(Errc code) {
    return code == Errc::lock_lost || code == Errc::entity_not_found ||
           code == Errc::entity_disabled || code == Errc::unauthorized;
}

} // namespace

LockedSession::LockedSession(BrokerConnection& connection, Terms terms)
    : connection_{connection},
      alive_{connection.handle()},
      loop_{connection.loop()},
      entity_{std::move(terms.entity)},
      session_id_{std::move(terms.session_id)},
      mode_{terms.mode},
      link_{std::move(terms.link)},
      requests_{connection, entity_, session_id_, std::move(terms.link_name)} {
    connection.pool().enter();
    link_.link->set_listener(this);
    // The broker does not say when it granted the lock. An unknown lock is renewed at once.
    initial_lock_ = terms.locked_until ? take_lock(*terms.locked_until, loop_.now())
                                       : ports::LockGrant{.length = LockClock::shortest_lock};
}

LockedSession::~LockedSession() {
    if (alive_.get() != nullptr) {
        connection_.drop_link(link_);
        connection_.pool().leave();
    }
}

void LockedSession::set_events(ports::LinkEvents& events) {
    events_ = &events;
    if (untold_loss_) {
        later([](LockedSession& self) {
            if (self.phase_ == Phase::lost) {
                self.events_->on_lost(*self.untold_loss_);
            }
        });
    }
}

void LockedSession::later(std::function<void(LockedSession&)> action) {
    loop_.post([handle = anchor_.handle(), action = std::move(action)] {
        if (LockedSession* const self = handle.get()) {
            action(*self);
        }
    });
}

Failure LockedSession::not_held() const {
    return {.code = Errc::lock_lost, .detail = "session '" + session_id_ + "' is not locked"};
}

// Messages

void LockedSession::add_credit(std::uint32_t count) {
    if (is_held()) {
        link_.link->add_credit(count);
    }
}

void LockedSession::drain() {
    if (is_held() && !link_.link->drain()) {
        later([](LockedSession& self) { self.on_drained(); });
    }
}

void LockedSession::on_drained() {
    if (phase_ == Phase::held) {
        events_->on_drained();
    }
}

void LockedSession::on_delivery(amqp::DeliveryHandle delivery) {
    const bool settled = link_.link->is_settled_by_sender(delivery);
    amqp::EncodedContent::Blank bytes{link_.link->size(delivery)};
    link_.link->read(delivery, bytes.data());
    if (phase_ != Phase::held || events_ == nullptr) {
        return; // the broker takes it back with the link
    }
    const std::size_t size = bytes.size();
    const amqp::ClockReading at = connection_.reading();
    auto received = amqp::decode_delivery(std::move(bytes), at);
    if (!received.ok()) {
        reject_undecodable(delivery, settled, received.failure());
        return;
    }
    if (!learn(received.value().facts.enqueued_time, at)) {
        return;
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

void LockedSession::reject_undecodable(amqp::DeliveryHandle delivery, bool settled,
                                       const Failure& why) {
    core::log(LogLevel::error, "servicebus", why.to_string());
    if (!settled) {
        delivery.update(
            {.kind = OutcomeKind::rejected,
             .error = {.name = "amqp:decode-error", .text = "the message cannot be decoded"}});
    }
    delivery.settle();
    if (!link_.link->is_draining()) {
        link_.link->add_credit(1); // the application hears nothing of this message
    }
}

ports::DeliveryPtr LockedSession::make_delivery(amqp::ReceivedDelivery&& received,
                                                std::size_t bytes, std::uint64_t tag,
                                                bool settled) {
    ports::DeliveryPtr made = events_->new_delivery();
    made->message = ReceivedMessage{std::move(received.content), std::move(received.facts)};
    made->bytes = bytes;
    made->port_tag = tag;
    made->settled_by_sender = settled;
    return made;
}

void LockedSession::settle(ports::Delivery& delivery, ports::Settlement settlement) {
    settlements_.add(delivery);
    if (!is_held()) {
        later([](LockedSession& self) {
            static_cast<void>(self.settlements_.fail_all(self.events_, self.not_held()));
        });
        return;
    }
    if (!is_deferred(delivery.port_tag)) {
        handle_of(delivery.port_tag).update(to_outcome(settlement));
        return;
    }
    const auto token = deferred_.extract(delivery.port_tag);
    requests_.ask("com.microsoft:update-disposition", to_disposition(token.mapped(), settlement),
                  connection_.default_deadline(),
                  [this, told = &delivery](const core::Result<Response>& answer) {
                      if (settlements_.take(*told)) { // else the link's end answered it
                          const auto why = settlement_failure(answer);
                          events_->on_settled(*told, why ? &*why : nullptr);
                      }
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
    if (told != nullptr && settlements_.take(*told)) {
        events_->on_settled(*told, why ? &*why : nullptr);
    }
}

// The lock

ports::LockGrant LockedSession::take_lock(WallTime until, TimePoint asked) {
    LockClock& locks = connection_.locks();
    lock_ = {.until = until, .asked = asked, .lessons = locks.lessons()};
    return {.length = locks.length(until, asked, connection_.reading())};
}

/// The broker ended the lock, which shows where its clock is at least.
void LockedSession::note_lock_ended() {
    if (lock_.until) {
        connection_.locks().has_ended(*lock_.until, lock_.asked, connection_.reading());
    }
}

/// The time of a message has passed on the broker's clock. False: the event that tells what this
/// shows destroyed the session.
bool LockedSession::learn(WallTime enqueued, const amqp::ClockReading& at) {
    LockClock& locks = connection_.locks();
    locks.has_passed(enqueued, at);
    if (lock_.lessons == locks.lessons()) {
        return true;
    }
    lock_.lessons = locks.lessons();
    const auto handle = anchor_.handle();
    events_->on_lock_uncertain();
    return handle.get() != nullptr;
}

// Requests

template <typename T, typename Read>
ports::RequestId LockedSession::ask(std::string operation, Map body, Deadline deadline,
                                    std::function<void(core::Result<T>)> handler, Read read) {
    if (!is_held()) {
        later([handler = std::move(handler)](LockedSession& self) { handler(self.not_held()); });
        return 0;
    }
    return requests_.ask(
        std::move(operation), std::move(body), deadline,
        [handler = std::move(handler), read = std::move(read)](core::Result<Response> answer) {
            handler(answer.ok() ? read(answer.value()) : core::Result<T>{answer.failure()});
        });
}

ports::RequestId LockedSession::renew_lock(Deadline deadline, LockHandler handler) {
    return ask<ports::LockGrant>(
        "com.microsoft:renew-session-lock", {}, deadline, std::move(handler),
        [this, asked = loop_.now()](const Response& response) -> core::Result<ports::LockGrant> {
            const auto until = read_expiration(response);
            if (until.ok()) {
                return take_lock(until.value(), asked);
            }
            if (until.failure().code == Errc::lock_lost) {
                note_lock_ended();
            }
            return until.failure();
        });
}

ports::RequestId LockedSession::get_state(Deadline deadline, StateHandler handler) {
    return ask<std::optional<std::string>>("com.microsoft:get-session-state", {}, deadline,
                                           std::move(handler), read_state);
}

ports::RequestId LockedSession::set_state(std::optional<std::string> state, Deadline deadline,
                                          DoneHandler handler) {
    return ask<core::Done>("com.microsoft:set-session-state",
                           {{"session-state", state ? Value::binary(*state) : Value{}}}, deadline,
                           std::move(handler),
                           [](const Response& response) -> core::Result<core::Done> {
                               if (!response.is_success()) {
                                   return response.to_failure("the session state");
                               }
                               return core::Done{};
                           });
}

ports::RequestId LockedSession::receive_deferred(std::vector<std::int64_t> sequence_numbers,
                                                 Deadline deadline, DeliveriesHandler handler) {
    using Deliveries = std::vector<ports::DeliveryPtr>;
    const bool removes = mode_ == ports::ReceiveMode::receive_and_delete;
    amqp::Array numbers{.element = 0x81};
    numbers.items.assign(sequence_numbers.begin(), sequence_numbers.end());
    return ask<Deliveries>("com.microsoft:receive-by-sequence-number",
                           {{"sequence-numbers", std::move(numbers)},
                            {"receiver-settle-mode", std::uint32_t{removes ? 0U : 1U}}},
                           deadline, std::move(handler),
                           [this, removes, wanted = sequence_numbers.size()](
                               const Response& response) -> core::Result<Deliveries> {
                               auto read = read_deferred(response, wanted, connection_.reading());
                               if (!read.ok()) {
                                   return read.failure();
                               }
                               Deliveries deliveries;
                               for (DeferredMessage& each : read.value()) {
                                   const std::uint64_t tag = ++last_deferred_ << 1U | 1U;
                                   deferred_.emplace(tag, each.lock_token);
                                   deliveries.push_back(make_delivery(std::move(each.received),
                                                                      each.bytes, tag, removes));
                               }
                               return deliveries;
                           });
}

// The end

void LockedSession::close(DoneHandler handler) {
    if (!is_held()) {
        phase_ = Phase::closed;
        later([handler = std::move(handler)](LockedSession&) { handler(core::Done{}); });
        return;
    }
    phase_ = Phase::closing;
    close_handler_ = std::move(handler);
    link_.link->close();
    link_.link->session().engine().commit(); // an accept that follows finds the session free
}

void LockedSession::on_ended(const amqp::Condition& condition) {
    const Phase was = std::exchange(phase_, phase_ == Phase::closing ? Phase::closed : Phase::lost);
    Failure why = to_failure(condition, "session '" + session_id_ + "'");
    if (was == Phase::held && condition.name == "com.microsoft:session-lock-lost") {
        note_lock_ended();
    }
    if (why.code == Errc::unauthorized) {
        connection_.rejected(entity_);
    }
    connection_.drop_link(link_);
    why.code = is_cause_of_loss(why.code) ? why.code : Errc::connection_lost;
    if (!settlements_.fail_all(events_, why)) {
        return; // an answer destroyed the session
    }
    if (was == Phase::closing) {
        std::exchange(close_handler_, nullptr)(core::Done{});
    } else if (events_ == nullptr) {
        untold_loss_ = std::move(why);
    } else if (phase_ == Phase::lost) { // else an answer closed it
        events_->on_lost(why);
    }
}

} // namespace sessionq::servicebus

// SPDX-License-Identifier: MIT
#include "simulation/far_link.hpp"

#include "simulation/near_link.hpp"

namespace sessionq::simulation {

FarLink::FarLink(Environment& environment, LinkRecord& record, bool remove_on_transfer)
    : environment_{&environment}, record_{&record}, remove_on_transfer_{remove_on_transfer} {}

void FarLink::attach(std::weak_ptr<NearLink> near, BrokerSession& session) {
    near_ = std::move(near);
    session_ = &session;
    const TimePoint now = environment_->scheduler.now();
    environment_->broker.lock(session, record_->id,
                              environment_->lock_length > Duration::zero()
                                  ? now + environment_->lock_length
                                  : TimePoint::max());
    watch_lock();
}

void FarLink::watch_lock() {
    if (session_->locked_until == TimePoint::max()) {
        return;
    }
    environment_->scheduler.at(session_->locked_until, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self && self->attached() &&
            self->session_->locked_until <= self->environment_->scheduler.now()) {
            self->environment_->scheduler.trace("broker: lock of ", self->session_->id, " expired");
            self->detach(Errc::lock_lost, true);
        }
    });
}

void FarLink::excuse() {
    for (DeliveryRecord* delivery : record_->deliveries) {
        if (!delivery->answered) {
            delivery->message->excused = true;
        }
    }
    for (MessageRecord* message : sent_) { // it may be on its way
        message->holder_lost =
            message->holder_lost || (message->holder == record_->id && !message->done());
        const bool is_unanswered = message->holder == record_->id && !message->done();
        message->excused = message->excused || is_unanswered;
    }
}

void FarLink::let_go() {
    BrokerSession& session = *session_;
    session_ = nullptr;
    credit_ = 0;
    environment_->broker.unlock(session, environment_->scheduler.now());
    released();
}

void FarLink::flow(std::uint32_t count) {
    if (attached()) {
        credit_ += count;
        pump();
    }
}

void FarLink::pump() {
    const auto near = near_.lock();
    while (near && attached() && credit_ > 0) {
        MessageRecord* message = environment_->broker.take(*session_, remove_on_transfer_);
        if (message == nullptr) {
            return;
        }
        --credit_;
        sent_.push_back(message);
        near->send_transfer(*message, ++last_tag_);
        if (environment_->chance(environment_->faults.detach_on_transfer)) {
            detach(Errc::connection_lost, environment_->chance(50));
        }
    }
}

void FarLink::drain() {
    const auto near = near_.lock();
    if (!near || !attached() || environment_->chance(environment_->faults.drain_mute)) {
        return;
    }
    if (environment_->chance(
            environment_->faults
                .drain_slow)) { // until the broker sees the drain, the credit counts
        environment_->scheduler.after(environment_->scheduler.between(milliseconds{1}, seconds{3}),
                                      [weak = weak_from_this()] {
                                          const auto self = weak.lock();
                                          const auto other = self ? self->near_.lock() : nullptr;
                                          if (other && self->attached()) {
                                              self->pump();
                                              self->credit_ = 0;
                                              other->send_drained({});
                                          }
                                      });
        return;
    }
    pump();
    if (attached()) {
        credit_ = 0;
        near->send_drained({});
    }
}

void FarLink::settle(DeliveryRecord& delivery) {
    const auto near = near_.lock();
    if (!near || !attached()) {
        delivery.message->excused = true;
        return;
    }
    const Faults& faults = environment_->faults;
    if (environment_->chance(faults.detach_on_settle)) {
        detach(Errc::lock_lost, environment_->chance(70));
        return;
    }
    if (environment_->chance(faults.settle_refused)) {
        near->send_settled(delivery.tag,
                           Failure{.code = Errc::server_busy, .peer_condition = "server-busy"}, {});
        return;
    }
    const bool took = environment_->broker.settle(record_->id, *delivery.message, *delivery.asked);
    const Duration extra =
        environment_->chance(faults.settle_slow)
            ? environment_->scheduler.between(milliseconds{10}, milliseconds{2000})
            : Duration::zero();
    if (environment_->chance(faults.detach_after_settle)) {
        detach(Errc::connection_lost, environment_->chance(70));
        return;
    }
    near->send_settled(
        delivery.tag, took ? std::nullopt : std::optional{Failure{.code = Errc::lock_lost}}, extra);
    pump();
}

void FarLink::renew(std::uint64_t operation) {
    const auto near = near_.lock();
    if (!near || !attached()) {
        return;
    }
    const Faults& faults = environment_->faults;
    if (environment_->chance(faults.renew_refused)) {
        near->send_answer(
            operation, Failure{.code = Errc::lock_lost, .peer_condition = "session-lock-lost"}, {});
        detach(Errc::lock_lost, true);
        return;
    }
    if (environment_->chance(faults.renew_failed)) {
        near->send_answer(
            operation,
            Failure{.code = environment_->chance(50) ? Errc::server_busy : Errc::timeout}, {});
        return;
    }
    if (session_->locked_until != TimePoint::max()) {
        session_->locked_until = environment_->scheduler.now() + environment_->lock_length;
        watch_lock();
    }
    near->send_answer(
        operation, std::nullopt,
        environment_->chance(faults.renew_slow)
            ? environment_->scheduler.between(milliseconds{10}, environment_->lock_length)
            : Duration::zero());
}

void FarLink::close(std::uint64_t operation) {
    if (attached()) {
        let_go();
    }
    if (const auto near = near_.lock(); near && operation != 0) {
        near->send_answer(operation, std::nullopt,
                          environment_->chance(environment_->faults.close_slow)
                              ? environment_->scheduler.between(milliseconds{1}, seconds{5})
                              : Duration::zero());
    }
}

void FarLink::detach(Errc code, bool with_error) {
    if (!attached()) {
        return;
    }
    excuse();
    let_go();
    if (const auto near = near_.lock()) {
        const bool unnoticed = environment_->chance(environment_->faults.half_open);
        const Duration high = environment_->lock_length > Duration::zero()
                                  ? environment_->lock_length
                                  : Duration{seconds{30}};
        near->send_lost(Failure{.code = code, .peer_condition = with_error ? "detached" : ""},
                        unnoticed ? environment_->scheduler.between(milliseconds{0}, high)
                                  : Duration::zero());
    }
}

void FarLink::drop() {
    if (attached()) {
        excuse();
        let_go();
    }
}

} // namespace sessionq::simulation

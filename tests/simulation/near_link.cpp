#include "simulation/near_link.hpp"

#include <algorithm>

#include "simulation/far_link.hpp"

namespace sessionq::simulation {

NearLink::NearLink(Environment& environment, SimLoop& loop, LinkRecord& record, Channel& up, std::shared_ptr<FarLink> far)
    : environment_{&environment},
      loop_{&loop},
      record_{&record},
      up_{&up},
      far_{std::move(far)},
      down_{environment.scheduler, "down" + std::to_string(record.id)} {}

NearLink::~NearLink() = default;

bool NearLink::usable(const char* call) {
    if (!loop_->on_this_thread()) {
        environment_->broken(std::string{call} + " from outside the link's loop");
    }
    if (record_->closed || record_->lost) {
        environment_->broken(std::string{call} + " on a link that is " + (record_->lost ? "lost" : "closed"));
        return false;
    }
    return true;
}

void NearLink::add_credit(std::uint32_t count) {
    if (!usable("add_credit")) {
        return;
    }
    if (record_->draining) {
        environment_->broken("credit added while a drain is outstanding");
    }
    if (events_ == nullptr) {
        environment_->broken("credit before set_events");
    }
    record_->credit += count;
    environment_->scheduler.trace("link", record_->id, " credit +", count);
    environment_->tell(&Oracle::credit_added, *record_);
    up_->send(environment_->latency(), [far = far_, count] { far->flow(count); });
}

void NearLink::drain() {
    if (!usable("drain")) {
        return;
    }
    if (record_->draining) {
        environment_->broken("drain while one is outstanding");
    }
    record_->draining = environment_->scheduler.now();
    environment_->scheduler.trace("link", record_->id, " drain");
    up_->send(environment_->latency(), [far = far_] { far->drain(); });
}

void NearLink::settle(ports::Delivery& delivery, const ports::Settlement& settlement) {
    const auto found = unsettled_.find(delivery.port_tag);
    if (!usable("settle")) {
        return;
    }
    if (found == unsettled_.end() || found->second.record->asked) {
        environment_->broken("a delivery is settled twice");
        return;
    }
    DeliveryRecord& record = *found->second.record;
    record.asked = settlement.outcome;
    ++record_->settling;
    environment_->scheduler.trace("link", record_->id, " settle #", record.message->sequence, " ", ports::to_string(settlement.outcome));
    environment_->tell(&Oracle::settle_asked, record, settlement.outcome);
    up_->send(environment_->latency(), [far = far_, &record] { far->settle(record); });
}

void NearLink::renew(ports::SessionLink::LockHandler handler) {
    const TimePoint asked = environment_->scheduler.now();
    record_->renewal_asked = true;
    ask([](FarLink& far, std::uint64_t operation) { far.renew(operation); },
        [this, asked, handler = std::move(handler)](const Failure* failure) {
            if (failure != nullptr) {
                record_->lease_wavered = record_->lease_wavered || failure->code == Errc::lock_lost;
                handler(*failure);
                return;
            }
            ports::LockGrant grant;
            if (environment_->lock_length > Duration::zero()) {
                grant.length = environment_->lock_length;
                record_->lease_wavered = lease_ending(*record_, environment_->scheduler.now(), environment_->margin());
                record_->renewal_asked = false;
                record_->lease_until = asked + environment_->lock_length;
                record_->lease_doubt = Duration::zero();
            }
            handler(grant);
        });
}

void NearLink::ask(std::function<void(FarLink&, std::uint64_t)> request, Answer answer) {
    if (!usable("a request")) {
        return;
    }
    const std::uint64_t operation = ++last_operation_;
    operations_.emplace(operation, std::move(answer));
    up_->send(environment_->latency(), [far = far_, operation, request = std::move(request)] { request(*far, operation); });
}

void NearLink::close(ports::SessionLink::DoneHandler handler) {
    if (!usable("close")) {
        return;
    }
    environment_->scheduler.trace("link", record_->id, " close ", record_->session);
    environment_->tell(&Oracle::closing, *record_);
    record_->closed = true;
    end_holding();
    close_operation_ = ++last_operation_;
    operations_.emplace(close_operation_, [handler = std::move(handler)](const Failure* failure) {
        if (failure != nullptr) {
            handler(*failure);
        } else {
            handler(core::Done{});
        }
    });
    up_->send(environment_->latency(), [far = far_, operation = close_operation_] { far->close(operation); });
}

void NearLink::destroyed() {
    if (!record_->closed && !record_->lost) {
        environment_->tell(&Oracle::closing, *record_);
        record_->closed = true;
        end_holding();
        up_->send(environment_->latency(), [far = far_] { far->close(0); });
    }
    record_->exists = false;
    --environment_->live_links;
    events_ = nullptr;
    unsettled_.clear();
    operations_.clear();
}

void NearLink::unwanted() {
    up_->send(environment_->latency(), [far = far_] { far->close(0); });
}

void NearLink::end_holding() {
    record_->held = false;
    record_->ended = environment_->scheduler.now();
}

void NearLink::to_loop(Duration extra, std::function<void()> arrival) {
    down_.send(environment_->latency() + extra, [self = shared_from_this(), arrival = std::move(arrival)] {
        self->loop_->post([self, arrival] {
            if (self->record_->exists) {
                arrival();
            }
        });
    });
}

void NearLink::send_accepted(std::function<void()> arrival, Duration extra) {
    down_.send(environment_->latency() + extra, [self = shared_from_this(), arrival = std::move(arrival)] { self->loop_->post(arrival); });
}

void NearLink::send_transfer(MessageRecord& message, std::uint64_t tag) {
    to_loop({}, [this, &message, tag] { on_transfer(message, tag); });
}

void NearLink::send_settled(std::uint64_t tag, std::optional<Failure> failure, Duration extra) {
    to_loop(extra, [this, tag, failure = std::move(failure)] { on_settled(tag, failure ? &*failure : nullptr); });
}

void NearLink::send_drained(Duration extra) {
    to_loop(extra, [this] {
        if (record_->closed || record_->lost) {
            return;
        }
        record_->credit = 0;
        record_->draining.reset();
        record_->drained = environment_->scheduler.now();
        environment_->scheduler.trace("link", record_->id, " drained");
        environment_->tell(&Oracle::drain_answered, *record_);
        events_->on_drained();
    });
}

void NearLink::send_answer(std::uint64_t operation, std::optional<Failure> failure, Duration extra) {
    to_loop(extra, [this, operation, failure = std::move(failure)] { on_answer(operation, failure ? &*failure : nullptr); });
}

void NearLink::send_lost(Failure reason, Duration extra) {
    to_loop(extra, [this, reason = std::move(reason)] { on_lost(reason); });
}

void NearLink::on_transfer(MessageRecord& message, std::uint64_t tag) {
    if (record_->closed || record_->lost) {
        return; // the broker finds it unsettled when the link ends
    }
    Environment& environment = *environment_;
    --record_->credit;
    DeliveryRecord& record = environment.deliveries.emplace_back();
    record.link = record_;
    record.message = &message;
    record.tag = tag;
    record.arrived = environment.scheduler.now();
    record.starts_at_arrival = environment.handler_starts;
    record.present = true;
    record_->deliveries.push_back(&record);
    ++record_->in_flight;

    Message said;
    said.session_id = message.session;
    said.message_id = std::to_string(message.sequence);
    auto content = std::make_shared<SimMessage>(std::move(said));
    content->record = &record;
    content->buffered = &environment.buffered;
    ports::DeliveryPtr delivery = events_->new_delivery();
    record.bytes = environment.message_bytes;
    delivery->bytes = record.bytes;
    ++environment.buffered.messages;
    environment.buffered.bytes += record.bytes;
    delivery->port_tag = tag;
    delivery->settled_by_sender = message.state == MessageState::removed;
    delivery->message = ReceivedMessage{std::move(content), {.sequence_number = message.sequence, .delivery_count = message.delivery_count}};
    if (!delivery->settled_by_sender) {
        unsettled_.emplace(tag, Unsettled{delivery.get(), &record});
    }
    environment.scheduler.trace("link", record_->id, " transfer ", record_->session, " #", message.sequence);
    environment.tell(&Oracle::delivered, record);
    events_->on_delivery(std::move(delivery));
}

void NearLink::forget(DeliveryRecord& record) {
    --record_->in_flight;
    record_->idle_since = environment_->scheduler.now();
    record.answered = true;
}

void NearLink::on_settled(std::uint64_t tag, const Failure* failure) {
    const auto found = unsettled_.find(tag);
    if (found == unsettled_.end()) {
        return;
    }
    const Unsettled unsettled = found->second;
    unsettled_.erase(found);
    --record_->settling;
    unsettled.record->refused = failure != nullptr;
    if (failure != nullptr && failure->code == Errc::lock_lost) {
        record_->lease_wavered = true;
    }
    if (!unsettled.record->present) {
        environment_->broken("a delivery was destroyed before its settlement was answered");
        return;
    }
    forget(*unsettled.record);
    environment_->scheduler.trace("link", record_->id, " settled #", unsettled.record->message->sequence, failure != nullptr ? " failed" : "");
    environment_->tell(&Oracle::settle_answered, *unsettled.record, failure);
    events_->on_settled(*unsettled.delivery, failure);
}

void NearLink::on_answer(std::uint64_t operation, const Failure* failure) {
    const auto found = operations_.find(operation);
    if (found == operations_.end()) {
        return;
    }
    if (operation == close_operation_) {
        fail_settlements(Failure{.code = Errc::connection_lost, .detail = "closed before the answer"});
    }
    const Answer answer = std::move(found->second);
    operations_.erase(found);
    answer(failure);
}

void NearLink::fail_settlements(const Failure& reason) {
    const auto unanswered = [](const auto& entry) { return entry.second.record->asked.has_value(); };
    for (;;) { // an answer may make the consumer settle more
        const auto found = std::find_if(unsettled_.begin(), unsettled_.end(), unanswered);
        if (found == unsettled_.end()) {
            return;
        }
        on_settled(found->first, &reason);
    }
}

void NearLink::fail_operations(const Failure& reason) {
    auto operations = std::exchange(operations_, {});
    for (auto& [operation, answer] : operations) {
        answer(&reason);
    }
}

void NearLink::on_lost(const Failure& reason) {
    const auto self = shared_from_this(); // the consumer may destroy the link from its handlers
    if (record_->lost) {
        return;
    }
    environment_->scheduler.trace("link", record_->id, " lost ", record_->session, " ", to_string(reason.code));
    for (DeliveryRecord* delivery : record_->deliveries) {
        delivery->message->excused = true;
    }
    ending_ = true;
    fail_settlements(reason);
    if (!record_->closed && record_->exists) {
        record_->lost = true;
        end_holding();
        environment_->tell(&Oracle::lost, *record_);
        events_->on_lost(reason);
    }
    fail_operations(reason);
}

} // namespace sessionq::simulation

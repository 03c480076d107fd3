// SPDX-License-Identifier: MIT
#include "simulation/link_book.hpp"

namespace sessionq::simulation {

bool LinkBook::usable(const char* call) {
    if (!loop_->on_this_thread()) {
        environment_->broken(std::string{call} + " from outside the link's loop");
    }
    if (record_->closed || record_->lost) {
        environment_->broken(std::string{call} + " on a link that is " +
                             (record_->lost ? "lost" : "closed"));
        return false;
    }
    return true;
}

void LinkBook::accepted(TimePoint lease_until, Duration doubt, bool late) {
    record_->held = record_->exists = true;
    record_->accepted = environment_->scheduler.now();
    record_->idle_since = record_->accepted;
    record_->lease_until = lease_until;
    record_->lease_doubt = doubt;
    record_->late = late;
    ++environment_->live_links;
}

void LinkBook::given(ports::FirstCredit first) {
    record_->credit = first.count;
    if (first.drain) {
        record_->draining = environment_->scheduler.now();
    }
    environment_->scheduler.trace("link", record_->id, " begins with credit ", first.count,
                                  first.drain ? ", draining" : "");
    environment_->tell(&Oracle::credit_added, *record_);
}

bool LinkBook::credit_added(std::uint32_t count, bool has_listener) {
    if (!usable("add_credit")) {
        return false;
    }
    if (record_->draining) {
        environment_->broken("credit added while a drain is outstanding");
    }
    if (!has_listener) {
        environment_->broken("credit before set_events");
    }
    record_->credit += count;
    environment_->scheduler.trace("link", record_->id, " credit +", count);
    environment_->tell(&Oracle::credit_added, *record_);
    return true;
}

bool LinkBook::drain_asked() {
    if (!usable("drain")) {
        return false;
    }
    if (record_->draining) {
        environment_->broken("drain while one is outstanding");
    }
    record_->draining = environment_->scheduler.now();
    environment_->scheduler.trace("link", record_->id, " drain");
    return true;
}

bool LinkBook::settle_asked(DeliveryRecord* delivery, ports::Outcome outcome) {
    if (!usable("settle")) {
        return false;
    }
    if (delivery == nullptr || delivery->asked) {
        environment_->broken("a delivery is settled twice");
        return false;
    }
    delivery->asked = outcome;
    delivery->settle_asked = environment_->scheduler.now();
    ++record_->settling;
    record_->settle_asked = environment_->scheduler.now();
    environment_->scheduler.trace("link", record_->id, " settle #", delivery->message->sequence,
                                  " ", ports::to_string(outcome));
    environment_->tell(&Oracle::settle_asked, *delivery, outcome);
    return true;
}

void LinkBook::closing() {
    environment_->tell(&Oracle::closing, *record_);
    record_->closed = true;
    end_holding();
}

bool LinkBook::destroyed() {
    const bool closes = !record_->closed && !record_->lost;
    if (closes) {
        closing();
    }
    record_->exists = false;
    --environment_->live_links;
    return closes;
}

DeliveryRecord& LinkBook::arrived(MessageRecord& message, ports::Delivery& delivery, Message said,
                                  DeliveryFacts facts) {
    Environment& environment = *environment_;
    --record_->credit;
    record_->shown_empty = false;
    DeliveryRecord& record = environment.deliveries.emplace_back();
    record.link = record_;
    record.message = &message;
    record.tag = delivery.port_tag;
    record.arrived = environment.scheduler.now();
    record.starts_at_arrival = environment.handler_starts;
    record.present = true;
    record.bytes = delivery.bytes;
    record.delivery_count = facts.delivery_count;
    record_->deliveries.push_back(&record);
    ++record_->in_flight;
    const bool may_be_old = message.settled && sent_from(*record_) <= *message.settled;
    // The broker had ended this lock before its grant arrived, and another has the message.
    message.excused = message.excused || may_be_old || record_->overtaken;

    auto content = std::make_shared<SimMessage>(std::move(said));
    content->record = &record;
    content->buffered = &environment.buffered;
    ++environment.buffered.messages;
    environment.buffered.bytes += record.bytes;
    delivery.message = ReceivedMessage{std::move(content), std::move(facts)};
    environment.scheduler.trace("link", record_->id, " transfer ", record_->session, " #",
                                message.sequence);
    environment.tell(&Oracle::delivered, record);
    return record;
}

bool LinkBook::settled(DeliveryRecord& delivery, const Failure* failure) {
    --record_->settling;
    delivery.refused = failure != nullptr;
    if (failure != nullptr && failure->code == Errc::lock_lost) {
        record_->lease_wavered = true;
    }
    if (!delivery.present) {
        environment_->broken("a delivery was destroyed before its settlement was answered");
        return false;
    }
    --record_->in_flight;
    record_->idle_since = environment_->scheduler.now();
    delivery.answered = true;
    record_->answered = std::max(record_->answered, delivery.settle_asked);
    environment_->scheduler.trace("link", record_->id, " settled #", delivery.message->sequence,
                                  failure != nullptr ? " failed" : "");
    environment_->tell(&Oracle::settle_answered, delivery, failure);
    return true;
}

void LinkBook::drained() {
    record_->shown_empty = record_->credit != 0;
    record_->credit = 0;
    record_->answered = std::max(record_->answered, record_->draining.value_or(TimePoint{}));
    record_->draining.reset();
    record_->drained = environment_->scheduler.now();
    environment_->scheduler.trace("link", record_->id, " drained");
    environment_->tell(&Oracle::drain_answered, *record_);
}

void LinkBook::renewed(TimePoint lease_until) {
    record_->lease_wavered =
        lease_ending(*record_, environment_->scheduler.now(), environment_->margin());
    record_->renewal_asked = false;
    record_->lease_until = lease_until;
    record_->lease_doubt = Duration::zero();
}

void LinkBook::renewal_failed(const Failure& failure) noexcept {
    record_->lease_wavered = record_->lease_wavered || failure.code == Errc::lock_lost;
}

void LinkBook::losing(const Failure& reason) {
    environment_->scheduler.trace("link", record_->id, " lost ", record_->session, " ",
                                  to_string(reason.code));
    for (DeliveryRecord* delivery : record_->deliveries) {
        delivery->message->excused = true;
    }
}

void LinkBook::lost() {
    record_->lost = true;
    end_holding();
    environment_->tell(&Oracle::lost, *record_);
}

void LinkBook::end_holding() {
    record_->held = false;
    record_->ended = environment_->scheduler.now();
}

} // namespace sessionq::simulation

// SPDX-License-Identifier: MIT
#include "simulation/near_link.hpp"

#include <algorithm>

#include "simulation/far_link.hpp"

namespace sessionq::simulation {

NearLink::NearLink(Environment& environment, SimLoop& loop, LinkRecord& record, Channel& up,
                   std::shared_ptr<FarLink> far)
    : environment_{&environment},
      loop_{&loop},
      record_{&record},
      book_{environment, loop, record},
      up_{&up},
      far_{std::move(far)},
      down_{environment.scheduler, "down" + std::to_string(record.id)} {}

NearLink::~NearLink() = default;

void NearLink::add_credit(std::uint32_t count) {
    if (book_.credit_added(count, events_ != nullptr)) {
        up_->send(environment_->latency(), [far = far_, count] { far->flow(count); });
    }
}

void NearLink::drain() {
    if (book_.drain_asked()) {
        up_->send(environment_->latency(), [far = far_] { far->drain(); });
    }
}

void NearLink::settle(ports::Delivery& delivery, const ports::Settlement& settlement) {
    const auto found = unsettled_.find(delivery.port_tag);
    DeliveryRecord* record = found != unsettled_.end() ? found->second.record : nullptr;
    if (book_.settle_asked(record, settlement.outcome)) {
        up_->send(environment_->latency(), [far = far_, record] { far->settle(*record); });
    }
}

void NearLink::renew(ports::SessionLink::LockHandler handler) {
    const TimePoint asked = environment_->scheduler.now();
    book_.renewal_asked();
    ask([](FarLink& far, std::uint64_t operation) { far.renew(operation); },
        [this, asked, handler = std::move(handler)](const Failure* failure) {
            if (failure != nullptr) {
                book_.renewal_failed(*failure);
                handler(*failure);
                return;
            }
            ports::LockGrant grant;
            if (environment_->lock_length > Duration::zero()) {
                grant.length = environment_->lock_length;
                book_.renewed(asked + environment_->lock_length);
            }
            handler(grant);
        });
}

void NearLink::ask(std::function<void(FarLink&, std::uint64_t)> request, Answer answer) {
    if (!book_.usable("a request")) {
        return;
    }
    const std::uint64_t operation = ++last_operation_;
    operations_.emplace(operation, std::move(answer));
    up_->send(environment_->latency(),
              [far = far_, operation, request = std::move(request)] { request(*far, operation); });
}

NearLink::Answer NearLink::state_answer(bool writes, Answer answer) {
    record_->state_written = record_->state_written || writes;
    ++record_->state_asks;
    environment_->tell(&Oracle::state_asked, *record_);
    return [record = record_, answer = std::move(answer)](const Failure* failure) {
        --record->state_asks;
        record->state_failed = record->state_failed || failure != nullptr;
        answer(failure);
    };
}

void NearLink::close(ports::SessionLink::DoneHandler handler) {
    if (!book_.usable("close")) {
        return;
    }
    environment_->scheduler.trace("link", record_->id, " close ", record_->session);
    book_.closing();
    close_operation_ = ++last_operation_;
    operations_.emplace(close_operation_, [handler = std::move(handler)](const Failure* failure) {
        if (failure != nullptr) {
            handler(*failure);
        } else {
            handler(core::Done{});
        }
    });
    up_->send(environment_->latency(),
              [far = far_, operation = close_operation_] { far->close(operation); });
}

void NearLink::destroyed() {
    record_->state_failed = record_->state_failed || record_->state_asks != 0;
    if (book_.destroyed()) {
        up_->send(environment_->latency(), [far = far_] { far->close(0); });
    }
    events_ = nullptr;
    unsettled_.clear();
    operations_.clear();
}

void NearLink::unwanted() {
    up_->send(environment_->latency(), [far = far_] { far->close(0); });
}

void NearLink::to_loop(Duration extra, std::function<void()> arrival) {
    down_.send(environment_->latency() + extra,
               [self = shared_from_this(), arrival = std::move(arrival)] {
                   self->loop_->post([self, arrival] {
                       if (self->record_->exists) {
                           arrival();
                       }
                   });
               });
}

void NearLink::send_accepted(std::function<void()> arrival, Duration extra) {
    down_.send(
        environment_->latency() + extra,
        [self = shared_from_this(), arrival = std::move(arrival)] { self->loop_->post(arrival); });
}

void NearLink::send_transfer(MessageRecord& message, std::uint64_t tag) {
    to_loop({}, [this, &message, tag] { on_transfer(message, tag); });
}

void NearLink::send_settled(std::uint64_t tag, std::optional<Failure> failure, Duration extra) {
    to_loop(extra, [this, tag, failure = std::move(failure)] {
        on_settled(tag, failure ? &*failure : nullptr);
    });
}

void NearLink::send_drained(Duration extra) {
    to_loop(extra, [this] {
        if (record_->closed || record_->lost || events_ == nullptr) {
            return;
        }
        book_.drained();
        events_->on_drained();
    });
}

void NearLink::send_answer(std::uint64_t operation, std::optional<Failure> failure,
                           Duration extra) {
    to_loop(extra, [this, operation, failure = std::move(failure)] {
        on_answer(operation, failure ? &*failure : nullptr);
    });
}

void NearLink::send_lost(Failure reason, Duration extra) {
    to_loop(extra, [this, reason = std::move(reason)] { on_lost(reason); });
}

void NearLink::on_transfer(MessageRecord& message, std::uint64_t tag) {
    if (record_->closed || record_->lost || events_ == nullptr) {
        return; // the broker finds it unsettled when the link ends
    }
    ports::DeliveryPtr delivery = events_->new_delivery();
    delivery->bytes = environment_->message_bytes;
    delivery->port_tag = tag;
    delivery->settled_by_sender = message.state == MessageState::removed;
    delivery->holder_lost = message.holder_lost;
    Message said;
    said.session_id = message.session;
    said.message_id = std::to_string(message.sequence);
    DeliveryRecord& record = book_.arrived(
        message, *delivery, std::move(said),
        {.sequence_number = message.sequence, .delivery_count = message.delivery_count});
    record.holder_lost = message.holder_lost;
    if (!delivery->settled_by_sender) {
        unsettled_.emplace(tag, Unsettled{delivery.get(), &record});
    }
    events_->on_delivery(std::move(delivery));
}

void NearLink::on_settled(std::uint64_t tag, const Failure* failure) {
    const auto found = unsettled_.find(tag);
    if (found == unsettled_.end()) {
        return;
    }
    const Unsettled unsettled = found->second;
    unsettled_.erase(found);
    if (book_.settled(*unsettled.record, failure)) {
        events_->on_settled(*unsettled.delivery, failure);
    }
}

void NearLink::on_answer(std::uint64_t operation, const Failure* failure) {
    const auto found = operations_.find(operation);
    if (found == operations_.end()) {
        return;
    }
    if (operation == close_operation_) {
        fail_settlements(
            Failure{.code = Errc::connection_lost, .detail = "closed before the answer"});
    }
    const Answer answer = std::move(found->second);
    operations_.erase(found);
    answer(failure);
}

void NearLink::fail_settlements(const Failure& reason) {
    const auto unanswered = [](const auto& entry) {
        return entry.second.record->asked.has_value();
    };
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
    const auto self = shared_from_this(); // the consumer may destroy the link in its handlers
    if (record_->lost) {
        return;
    }
    book_.losing(reason);
    fail_settlements(reason);
    if (!record_->closed && record_->exists) {
        book_.lost();
        events_->on_lost(reason);
    }
    fail_operations(reason);
}

} // namespace sessionq::simulation

// SPDX-License-Identifier: MIT
#include "broker/entity_messages.hpp"

#include <algorithm>

#include "broker/consumer.hpp"
#include "broker/entity_consumers.hpp"

namespace sessionq::broker {
namespace {

constexpr std::chrono::milliseconds longest_time_to_live = std::chrono::hours{24 * 365 * 100};

std::shared_ptr<const DeadLetterInfo> because(std::string reason, std::string description) {
    return std::make_shared<DeadLetterInfo>(
        DeadLetterInfo{.reason = std::move(reason), .description = std::move(description)});
}

} // namespace

std::int64_t EntityMessages::enqueue(Arrival arrival) {
    const auto due = arrival.content->scheduled_enqueue_time();
    Session* session = entity_.session_of(*arrival.content);
    StoredMessage& stored = entity_.store.add(std::move(arrival.content), session);
    if (session != nullptr) {
        entity_.sessions.update_lists(*session);
    }
    stored.hops = arrival.hops;
    stored.first_sequence = arrival.first_sequence;
    entity_.store.set_dead_letter(stored, std::move(arrival.dead_letter));
    if (due && *due > entity_.context.wall_now() &&
        entity_.kind != EntityKind::subscription) { // a topic has already delayed its messages
        entity_.store.move(stored, Place::scheduled);
        stored.enqueued_time = *due;
        arm(stored, entity_.context.monotonic(*due));
    } else {
        activate(stored, arrival.time_to_live);
    }
    entity_.journal.note_added(stored);
    return stored.sequence;
}

void EntityMessages::take_dead_letter(MessageContentPtr content, std::uint32_t delivery_count,
                                      std::shared_ptr<const DeadLetterInfo> why) {
    StoredMessage& stored = entity_.store.add(std::move(content), nullptr);
    stored.delivery_count = delivery_count;
    entity_.store.set_dead_letter(stored, std::move(why));
    stored.delivered_before = true;
    stored.enqueued_time = entity_.context.wall_now();
    make_available(stored);
    entity_.journal.note_added(stored);
}

void EntityMessages::activate(StoredMessage& message,
                              std::optional<std::chrono::milliseconds> longest) {
    entity_.store.move(message, Place::active);
    message.enqueued_time = entity_.context.wall_now();
    auto time_to_live = message.content->time_to_live();
    for (const auto& limit : {entity_.options.default_time_to_live, longest}) {
        if (limit && (!time_to_live || *limit < *time_to_live)) {
            time_to_live = limit;
        }
    }
    if (time_to_live && *time_to_live > longest_time_to_live) {
        time_to_live.reset();
    }
    message.time_to_live = time_to_live;
    set_expiry(message);
    make_available(message);
}

void EntityMessages::set_expiry(StoredMessage& message) {
    const auto time_to_live = message.time_to_live.get();
    if (time_to_live && !entity_.is_dead_letter_queue) {
        message.expires = entity_.context.monotonic(message.enqueued_time + *time_to_live);
    }
}

void EntityMessages::make_available(StoredMessage& message) {
    if (entity_.forwards()) {
        forward(message);
    } else {
        message.hops = 0;
        add_to_available(message);
    }
}

void EntityMessages::add_to_available(StoredMessage& message) {
    if (message.expires != TimePoint::max()) {
        arm(message, message.expires);
    }
    entity_.push_available(message);
    Session* session = message.session;
    if (session == nullptr) {
        return;
    }
    Consumer* holder = session->holder.get();
    if (holder == nullptr) {
        entity_.sessions.refresh(*session, entity_.context.now());
    } else if (holder->interest == Interest::interested) {
        holder->interest = Interest::notified;
        entity_.context.effects().work(holder->target);
    }
}

void EntityMessages::put_back(StoredMessage& message, bool counted) {
    message.holder = nullptr;
    message.timer.reset();
    const bool counts = counted && !entity_.is_dead_letter_queue;
    if (counts) {
        ++message.delivery_count;
        entity_.journal.note_changed(message);
    }
    if (counts && message.delivery_count >= entity_.options.max_delivery_count) {
        dead_letter(message, because("MaxDeliveryCountExceeded",
                                     "not settled successfully in " +
                                         std::to_string(message.delivery_count) + " deliveries"));
    } else if (message.place == Place::deferred) {
        // stays deferred until asked for again
    } else if (message.expires <= entity_.context.now()) {
        expire(message);
    } else {
        make_available(message);
    }
}

void EntityMessages::expire(StoredMessage& message) {
    if (entity_.options.dead_letter_on_expiration && !entity_.is_dead_letter_queue) {
        dead_letter(message,
                    because("TTLExpiredException", "not received within its time to live"));
    } else {
        remove(message);
    }
}

void EntityMessages::dead_letter(StoredMessage& message,
                                 std::shared_ptr<const DeadLetterInfo> why) {
    dead_letters_->take_dead_letter(message.content, message.delivery_count, std::move(why));
    remove(message);
}

void EntityMessages::remove(StoredMessage& message) {
    entity_.journal.note_removed(message);
    entity_.remove(message);
}

void EntityMessages::arm(StoredMessage& message, TimePoint due) {
    if (!message.timer) {
        message.timer = std::make_unique<MessageTimer>(*this, message, [](void* of) {
            const auto* timer = static_cast<MessageTimer*>(of);
            timer->messages.on_timer(timer->message);
        });
    }
    entity_.context.arm(message.timer->timer, due);
}

void EntityMessages::on_timer(StoredMessage& message) {
    if (message.holder != nullptr) { // the message's own lock expired
        message.holder->owner.end_delivery(*message.holder, message.token);
        put_back(message, true);
    } else if (message.place == Place::scheduled) {
        message.timer.reset();
        entity_.journal.note_removed(message);
        entity_.store.renumber(message);
        activate(message);
        entity_.journal.note_added(message);
    } else {
        expire(message);
    }
}

void EntityMessages::forward(StoredMessage& message) {
    Arrival leaving{.content = message.content,
                    .time_to_live = message.time_to_live.get(),
                    .hops = message.hops,
                    .origin = Origin{.entity = entity_.id,
                                     .sequence = message.sequence,
                                     .is_shared = entity_.kind == EntityKind::topic},
                    .first_sequence = message.first_sequence,
                    .dead_letter = message.dead_letter};
    if (leaving.first_sequence == 0) {
        leaving.first_sequence = message.sequence; // also of a topic, as subscribers are told
    }
    if (message.dead_letter && entity_.is_dead_letter_queue) {
        DeadLetterInfo info = *message.dead_letter;
        info.source = entity_.name.substr(0, entity_.name.rfind('/'));
        leaving.dead_letter = std::make_shared<const DeadLetterInfo>(std::move(info));
    }
    if (message.dead_letter) {
        leaving.content = leaving.content->with_properties(
            {{"DeadLetterReason", message.dead_letter->reason},
             {"DeadLetterErrorDescription", message.dead_letter->description}});
    }
    entity_.context.transits().push_back(
        {.from = this, .sequence = message.sequence, .message = std::move(leaving)});
}

void EntityMessages::end_transit(const Transit& transit) {
    StoredMessage* message = entity_.store.find(transit.sequence);
    if (message == nullptr) {
        return;
    }
    if (!transit.failed_with && entity_.kind == EntityKind::topic) {
        remove(*message);
    } else if (!transit.failed_with) {
        entity_.remove(*message); // the destination has recorded the removal here
    } else if (entity_.is_dead_letter_queue) {
        add_to_available(*message);
    } else {
        dead_letter(*message, std::make_shared<DeadLetterInfo>(*transit.failed_with));
    }
}

void EntityMessages::restore(std::vector<DurableMessage> stored) {
    std::vector<StoredMessage*> scheduled;
    for (DurableMessage& one : stored) {
        Session* session = entity_.session_of(*one.content);
        StoredMessage& message = entity_.store.add(std::move(one.content), session, one.sequence);
        if (session != nullptr) {
            entity_.sessions.update_lists(*session);
        }
        entity_.store.move(message, one.place);
        message.delivery_count = one.delivery_count;
        message.enqueued_time = one.enqueued_time;
        message.time_to_live = one.time_to_live;
        entity_.store.set_dead_letter(message, std::move(one.dead_letter));
        message.first_sequence = one.first_sequence;
        if (message.place == Place::scheduled) {
            scheduled.push_back(&message);
            continue;
        }
        message.delivered_before = true; // unknown, so assume it
        set_expiry(message);
        if (message.place == Place::active) {
            make_available(message);
            if (entity_.forwards()) {
                entity_.context.transits().back().forwarded_to = std::move(one.forwarded_to);
            }
        }
    }
    // Overdue messages become available in the order in which they were due.
    std::ranges::stable_sort(scheduled, {}, &StoredMessage::enqueued_time);
    for (StoredMessage* message : scheduled) {
        arm(*message, entity_.context.monotonic(message->enqueued_time));
    }
}

} // namespace sessionq::broker

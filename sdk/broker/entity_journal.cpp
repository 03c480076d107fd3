// What an entity records in the journal, and how it is restored from there.
#include "broker/entity.hpp"

#include <algorithm>
#include <utility>

namespace sessionq::broker {

DurableMessage Entity::record_of(const StoredMessage& message) const {
    DurableMessage record{.entity = id_,
                          .sequence = message.sequence,
                          .place = message.place,
                          .delivery_count = message.delivery_count,
                          .enqueued_time = message.enqueued_time,
                          .time_to_live = message.time_to_live};
    if (message.dead_letter) {
        record.dead_letter = std::make_shared<const DeadLetterInfo>(*message.dead_letter);
    }
    return record;
}

void Entity::note_added(const StoredMessage& message) {
    if (context_.has_journal()) {
        DurableMessage record = record_of(message);
        record.content = message.content;
        context_.note(MessageAdded{std::move(record)});
    }
}

void Entity::note_changed(const StoredMessage& message) {
    if (context_.has_journal()) {
        context_.note(MessageChanged{record_of(message)});
    }
}

void Entity::note_removed(const StoredMessage& message) {
    if (context_.has_journal()) {
        context_.note(MessageRemoved{.entity = id_, .sequence = message.sequence});
    }
}

void Entity::note_origin(const Origin& origin) {
    if (!context_.has_journal()) {
        return;
    }
    if (origin.is_shared) {
        context_.note(
            MessageForwarded{.entity = origin.entity, .sequence = origin.sequence, .to = id_});
    } else {
        context_.note(MessageRemoved{.entity = origin.entity, .sequence = origin.sequence});
    }
}

void Entity::restore(DurableEntity stored) {
    std::vector<StoredMessage*> scheduled;
    for (DurableMessage& message : stored.messages) {
        StoredMessage& restored = restore(std::move(message));
        if (restored.place == Place::scheduled) {
            scheduled.push_back(&restored);
        }
    }
    store_.skip_to(stored.last_sequence);
    // Overdue messages become available in the order in which they were due.
    std::ranges::stable_sort(scheduled, {}, &StoredMessage::enqueued_time);
    for (StoredMessage* message : scheduled) {
        arm(*message, context_.monotonic(message->enqueued_time));
    }
    for (SessionStateSet& one : stored.states) {
        if (one.state) {
            sessions_.obtain(one.session_id).state =
                std::make_unique<std::string>(*std::move(one.state));
        }
    }
    if (history_) {
        for (const MessageIdTaken& taken : stored.taken_ids) {
            history_->remember(taken.message_id, taken.sequence, context_.monotonic(taken.until));
        }
    }
}

StoredMessage& Entity::restore(DurableMessage stored) {
    const auto session_id = stored.content->session_id();
    Session* session = options_.requires_session
                           ? &sessions_.obtain(session_id.value_or(std::string_view{}))
                           : nullptr;
    StoredMessage& message = store_.add(std::move(stored.content), session, stored.sequence);
    store_.move(message, stored.place);
    message.delivery_count = stored.delivery_count;
    message.enqueued_time = stored.enqueued_time;
    message.time_to_live = stored.time_to_live;
    message.delivered_before = stored.place != Place::scheduled; // unknown, so assume it
    if (stored.dead_letter) {
        message.dead_letter = std::make_unique<DeadLetterInfo>(*stored.dead_letter);
    }
    if (message.place != Place::scheduled) {
        set_expiry(message);
    }
    if (message.place == Place::active) {
        make_available(message);
        if (forwards()) {
            context_.transits().back().forwarded_to = std::move(stored.forwarded_to);
        }
    }
    return message;
}

void Entity::set_expiry(StoredMessage& message) {
    if (message.time_to_live && !is_dead_letter_queue()) {
        message.expires = context_.monotonic(message.enqueued_time + *message.time_to_live);
    }
}

} // namespace sessionq::broker

// How a message moves through an entity. Consumers are in entity_consumers.cpp and
// entity_holding.cpp, the journal in entity_journal.cpp.
#include "broker/entity.hpp"

#include <utility>

#include "core/id_length.hpp"

namespace sessionq::broker {
namespace {

constexpr std::chrono::milliseconds longest_time_to_live = std::chrono::hours{24 * 365 * 100};

} // namespace

Entity::Entity(std::string name, EntityKind kind, const QueueOptions& options,
               QueueContext& context, Entity* dead_letters, EntityId id)
    : name_{std::move(name)},
      kind_{kind},
      options_{options},
      context_{context},
      dead_letters_{dead_letters},
      id_{id},
      waiting_{context} {
    if (options_.duplicate_detection_window) {
        history_.emplace(*options_.duplicate_detection_window);
    }
}

core::Result<std::vector<std::int64_t>> Entity::send(std::vector<MessageContentPtr> messages) {
    if (auto fault = find_fault(messages)) {
        return std::move(*fault);
    }
    std::vector<std::int64_t> sequences;
    sequences.reserve(messages.size());
    for (MessageContentPtr& message : messages) {
        sequences.push_back(enqueue({.content = std::move(message)}));
    }
    return sequences;
}

std::optional<Failure> Entity::find_fault(const std::vector<MessageContentPtr>& messages) const {
    if (is_shut_down_) {
        return failure(Errc::entity_not_found, "the entity was deleted");
    }
    if (auto fault = find_send_fault()) {
        return fault;
    }
    if (auto fault = context_.find_fault(name_, Growth::adds)) {
        return fault;
    }
    std::uint64_t total = store_.bytes();
    for (const MessageContentPtr& message : messages) {
        if (auto fault = find_fault(*message)) {
            return fault;
        }
        total += message->bytes();
    }
    if (options_.max_size_bytes != 0 && total > options_.max_size_bytes) {
        return failure(Errc::quota_exceeded,
                       "max_size_bytes is " + std::to_string(options_.max_size_bytes));
    }
    return std::nullopt;
}

std::optional<Failure> Entity::find_fault(const MessageContent& message) const {
    const auto session_id = message.session_id();
    const auto time_to_live = message.time_to_live();
    if (options_.requires_session && !session_id) {
        return failure(Errc::session_required,
                       "the message has no session id and the entity requires sessions");
    }
    if (session_id && !core::is_id(*session_id)) {
        return failure(Errc::invalid_argument, "session_id is longer than 128 characters");
    }
    if (!core::is_id(message.message_id())) {
        return failure(Errc::invalid_argument, "message_id is longer than 128 characters");
    }
    if (time_to_live && time_to_live->count() <= 0) {
        return failure(Errc::invalid_argument, "time_to_live must be positive");
    }
    if (message.bytes() > options_.max_message_bytes) {
        return failure(Errc::message_too_large,
                       "max_message_bytes is " + std::to_string(options_.max_message_bytes));
    }
    return std::nullopt;
}

std::int64_t Entity::enqueue(Arrival arrival) {
    MessageContentPtr content = std::move(arrival.content);
    const std::string_view message_id = content->message_id();
    if (history_ && !message_id.empty()) {
        if (const auto taken = history_->find(message_id, context_.now())) {
            return *taken;
        }
    }
    const auto due = content->scheduled_enqueue_time();
    Session* session =
        options_.requires_session ? &sessions_.obtain(*content->session_id()) : nullptr;
    StoredMessage& stored = store_.add(std::move(content), session);
    stored.hops = arrival.hops;
    const std::int64_t sequence = stored.sequence;
    if (history_ && !message_id.empty()) {
        history_->add(message_id, sequence, context_.now());
        if (context_.has_journal()) {
            const auto window = std::chrono::duration_cast<WallTime::duration>(
                *options_.duplicate_detection_window);
            context_.note(MessageIdTaken{.entity = id_,
                                         .message_id = std::string{message_id},
                                         .sequence = sequence,
                                         .at = context_.wall_now(),
                                         .until = context_.wall_now() + window});
        }
    }
    if (due && *due > context_.wall_now() &&
        kind_ != EntityKind::subscription) { // a topic has already delayed its messages
        store_.move(stored, Place::scheduled);
        stored.enqueued_time = *due;
        arm(stored, Deadline::after(*due - context_.wall_now(), context_.now()).time());
    } else {
        activate(stored, arrival.time_to_live);
    }
    note_added(stored);
    return sequence;
}

core::Result<core::Done> Entity::cancel_scheduled(std::span<const std::int64_t> sequences) {
    if (auto fault = context_.find_fault(name_, Growth::none)) {
        return std::move(*fault);
    }
    for (const std::int64_t sequence : sequences) {
        const StoredMessage* message = store_.find(sequence);
        if (message == nullptr || message->place != Place::scheduled) {
            return failure(Errc::message_not_found,
                           "no scheduled message has the sequence number " +
                               std::to_string(sequence));
        }
    }
    for (const std::int64_t sequence : sequences) {
        if (StoredMessage* message = store_.find(sequence)) { // null: the number was listed twice
            remove(*message);
        }
    }
    return core::Done{};
}

void Entity::take_dead_letter(MessageContentPtr content, std::uint32_t delivery_count,
                              DeadLetterInfo why) {
    StoredMessage& stored = store_.add(std::move(content), nullptr);
    stored.delivery_count = delivery_count;
    stored.dead_letter = std::make_unique<DeadLetterInfo>(std::move(why));
    stored.delivered_before = true;
    stored.enqueued_time = context_.wall_now();
    make_available(stored);
    note_added(stored);
}

void Entity::activate(StoredMessage& message, std::optional<std::chrono::milliseconds> longest) {
    store_.move(message, Place::active);
    message.enqueued_time = context_.wall_now();
    message.time_to_live = message.content->time_to_live();
    for (const auto& limit : {options_.default_time_to_live, longest}) {
        if (limit && (!message.time_to_live || *limit < *message.time_to_live)) {
            message.time_to_live = limit;
        }
    }
    if (message.time_to_live && *message.time_to_live > longest_time_to_live) {
        message.time_to_live.reset();
    }
    set_expiry(message);
    make_available(message);
}

void Entity::make_available(StoredMessage& message) {
    if (forwards()) {
        forward(message);
    } else {
        message.hops = 0;
        add_to_available(message);
    }
}

void Entity::add_to_available(StoredMessage& message) {
    if (message.expires != TimePoint::max()) {
        arm(message, message.expires);
    }
    if (message.session == nullptr) {
        available_.push(message);
        return;
    }
    message.session->available.push(message);
    on_change(*message.session);
}

void Entity::deliver(StoredMessage& message, Consumer& consumer, std::vector<Delivered>& to) {
    Delivered& delivered = to.emplace_back();
    delivered.message = describe_delivery(message);
    delivered.bytes = message.bytes;
    message.delivered_before = true;
    if (consumer.mode == ReceiveMode::receive_and_delete) {
        remove(message);
        return;
    }
    delivered.token = consumer.unsettled.add(message);
    message.holder = &consumer;
    message.token = delivered.token;
    message.timer.reset();
    if (!consumer.has_session) {
        arm(message, context_.now() + options_.lock_duration);
    }
}

void Entity::put_back(StoredMessage& message, bool counted) {
    message.holder = nullptr;
    message.timer.reset();
    const bool counts = counted && !is_dead_letter_queue();
    if (counts) {
        ++message.delivery_count;
        note_changed(message);
    }
    if (counts && message.delivery_count >= options_.max_delivery_count) {
        dead_letter(message,
                    {.reason = "MaxDeliveryCountExceeded",
                     .description = "not settled successfully in " +
                                    std::to_string(message.delivery_count) + " deliveries"});
    } else if (message.place == Place::deferred) {
        // stays deferred until asked for again
    } else if (message.expires <= context_.now()) {
        expire(message);
    } else {
        make_available(message);
    }
}

void Entity::expire(StoredMessage& message) {
    if (options_.dead_letter_on_expiration && !is_dead_letter_queue()) {
        dead_letter(message, {.reason = "TTLExpiredException",
                              .description = "not received within its time to live"});
    } else {
        remove(message);
    }
}

void Entity::dead_letter(StoredMessage& message, DeadLetterInfo why) {
    dead_letters_->take_dead_letter(message.content, message.delivery_count, std::move(why));
    remove(message);
}

void Entity::remove(StoredMessage& message) {
    note_removed(message);
    drop(message);
}

void Entity::drop(StoredMessage& message) {
    Session* session = message.session;
    if (session == nullptr) {
        available_.remove(message);
        store_.remove(message);
        return;
    }
    session->available.remove(message);
    store_.remove(message);
    if (!session->holder) {
        sessions_.refresh(*session);
    }
}

void Entity::modify(StoredMessage& message, const Changes& changes) {
    if (!changes.properties.empty()) {
        store_.replace_content(message,
                               message.content->with_changes(
                                   {.properties = changes.properties, .encoded = changes.encoded}));
        if (context_.has_journal()) {
            DurableMessage record = record_of(message);
            record.content = message.content;
            context_.note(MessageChanged{std::move(record)});
        }
    }
}

void Entity::arm(StoredMessage& message, TimePoint due) {
    if (!message.timer) {
        message.timer = std::make_unique<MessageTimer>(*this, message, [](void* of) {
            const auto* timer = static_cast<MessageTimer*>(of);
            timer->entity.on_timer(timer->message);
        });
    }
    context_.arm(message.timer->timer, due);
}

void Entity::on_timer(StoredMessage& message) {
    if (message.holder != nullptr) { // the message's own lock expired
        message.holder->unsettled.remove(message.token);
        put_back(message, true);
    } else if (message.place == Place::scheduled) {
        message.timer.reset();
        note_removed(message);
        store_.renumber(message);
        activate(message);
        note_added(message);
    } else {
        expire(message);
    }
}

std::vector<ReceivedMessage> Entity::peek(std::int64_t from, std::uint32_t max,
                                          const std::optional<std::string>& session_id) {
    std::vector<ReceivedMessage> seen;
    if (!session_id || !options_.requires_session) {
        for (const StoredMessage* at = store_.at_or_after(from); at != nullptr && seen.size() < max;
             at = store_.at_or_after(at->sequence + 1)) {
            if (!session_id || at->content->session_id() == session_id) {
                seen.push_back(describe_delivery(*at));
            }
        }
        return seen;
    }
    const Session* session = sessions_.find(*session_id);
    const StoredMessage* last = session != nullptr ? session->messages.back() : nullptr;
    if (last == nullptr || last->sequence < from) {
        return seen;
    }
    // Find the session's first message at or after `from`: its very first one, or the first one of
    // this session that the whole entity has from there on.
    const StoredMessage* at = session->messages.front();
    if (at != nullptr && at->sequence < from) {
        for (at = store_.at_or_after(from); at != nullptr && at->session != session;) {
            at = store_.at_or_after(at->sequence + 1);
        }
    }
    for (; at != nullptr && seen.size() < max; at = session->messages.next(*at)) {
        seen.push_back(describe_delivery(*at));
    }
    return seen;
}

Failure Entity::failure(Errc code, std::string_view about) const {
    return {.code = code, .detail = "entity '" + name_ + "': " + std::string{about}};
}

} // namespace sessionq::broker

// SPDX-License-Identifier: MIT
#include "broker/entity.hpp"

#include "core/log.hpp"
#include "core/peer_words.hpp"

namespace sessionq::broker {

Entity::Entity(std::string name, EntityKind kind, const QueueOptions& options,
               QueueContext& context, Entity* dead_letters, EntityId id)
    : state{.name = std::move(name),
            .kind = kind,
            .options = options,
            .id = id,
            .is_dead_letter_queue = dead_letters == nullptr,
            .context = context},
      messages{state, dead_letters != nullptr ? &dead_letters->messages : nullptr},
      consumers{state, messages},
      deliveries{state, messages, consumers},
      deletions{state, messages},
      browsers{state} {
    if (options.duplicate_detection_window) {
        history_.emplace(*options.duplicate_detection_window);
    }
}

core::Result<std::vector<std::int64_t>> Entity::send(std::vector<MessageContentPtr> contents,
                                                     std::size_t copies) {
    if (state.is_shut_down) {
        return state.deleted();
    }
    if (auto fault = state.find_send_fault()) {
        return std::move(*fault);
    }
    if (auto fault = state.context.find_fault(state.name, Growth::adds)) {
        return std::move(*fault);
    }
    std::uint64_t total = 0;
    for (const MessageContentPtr& content : contents) {
        if (auto fault = state.find_fault(*content)) {
            return std::move(*fault);
        }
        total += content->bytes();
    }
    // The copies share the contents.
    if (auto fault = find_size_fault(total + contents.size() * copies * beside_a_message)) {
        if (copies > 1) {
            fault->detail += "; copies for its subscriptions count";
        }
        return std::move(*fault);
    }
    std::vector<std::int64_t> sequences;
    sequences.reserve(contents.size());
    for (MessageContentPtr& content : contents) {
        sequences.push_back(enqueue({.content = std::move(content)}));
    }
    return sequences;
}

std::optional<Failure> Entity::find_size_fault(std::uint64_t bytes) {
    count_ids(); // some may be over
    return state.find_room_fault(bytes, StoredBytes::For::new_data);
}

void Entity::count_ids() {
    if (history_) {
        state.context.stored().set(StoredBytes::Part::message_ids,
                                   history_->bytes(state.context.now()));
    }
}

std::int64_t Entity::enqueue(Arrival arrival) {
    if (!history_ || arrival.content->message_id().empty()) {
        return messages.enqueue(std::move(arrival));
    }
    const MessageContentPtr content = arrival.content; // keeps the id
    const std::string_view message_id = content->message_id();
    if (const auto taken = history_->find(message_id, state.context.now())) {
        return *taken;
    }
    const std::int64_t sequence = messages.enqueue(std::move(arrival));
    history_->add(message_id, sequence, state.context.now());
    count_ids();
    state.journal.note_id_taken(message_id, sequence, *state.options.duplicate_detection_window);
    return sequence;
}

core::Result<core::Done> Entity::cancel_scheduled(std::span<const std::int64_t> sequences) {
    if (auto fault = state.context.find_fault(state.name, Growth::none)) {
        return std::move(*fault);
    }
    for (const std::int64_t sequence : sequences) {
        const StoredMessage* message = state.store.find(sequence);
        if (message == nullptr || message->place != Place::scheduled) {
            return state.failure(Errc::message_not_found,
                                 "no scheduled message has the sequence number " +
                                     std::to_string(sequence));
        }
    }
    for (const std::int64_t sequence : sequences) {
        if (StoredMessage* message = state.store.find(sequence)) { // null: it was listed twice
            messages.remove(*message);
        }
    }
    return core::Done{};
}

std::optional<Failure> Entity::take(Arrival arrival) {
    if (state.is_shut_down) {
        return state.deleted();
    }
    const std::optional<Origin> origin = arrival.origin;
    std::optional<Failure> fault =
        arrival.is_too_large
            ? state.failure(Errc::message_too_large, "rule actions make too much of it")
            : state.find_fault(*arrival.content);
    // A topic's size was asked for when the message was sent to it. Its plain copies pass, but not
    // the copies that actions have changed.
    const bool is_plain_copy = state.kind == EntityKind::subscription && !arrival.unchanged &&
                               state.options.max_size_bytes == 0;
    if (!fault && !is_plain_copy) {
        fault = find_size_fault(arrival.content->bytes() + beside_a_message);
    }
    if (fault && state.kind != EntityKind::subscription) {
        return fault;
    }
    if (fault) {
        messages.reject(arrival.unchanged ? std::move(arrival.unchanged)
                                          : std::move(arrival.content),
                        describe_transit_failure(*fault));
    } else {
        enqueue(std::move(arrival));
    }
    if (origin) {
        state.journal.note_origin(*origin);
    }
    return std::nullopt;
}

void Entity::restore(DurableEntity stored) {
    restore_states(std::move(stored.states)); // first: a session is named as its state is stored
    messages.restore(std::move(stored.messages));
    state.store.skip_to(stored.last_sequence);
    if (history_) {
        for (const MessageIdTaken& taken : stored.taken_ids) {
            history_->remember(taken.message_id, taken.sequence,
                               state.context.monotonic(taken.until));
        }
        count_ids();
    }
}

void Entity::restore_states(std::vector<SessionStateSet> states) {
    for (SessionStateSet& one : states) {
        if (!one.state) {
            continue;
        }
        Session& session = state.sessions.obtain(one.session_id);
        if (session.state) { // once such ids were different sessions
            core::log(LogLevel::warning, "broker", "entity '", state.name,
                      "': the state of session '", core::peer_words(one.session_id),
                      "' is dropped, because session '", core::peer_words(*session.id),
                      "' is the same one and has a state");
            state.journal.note_state(one.session_id, std::nullopt);
            continue;
        }
        // When it was set is not stored. It counts as set now, so that no list leaves it out.
        consumers.change_state(session, std::move(one.state));
    }
}

void Entity::shut_down() {
    state.is_shut_down = true;
    consumers.shut_down();
    browsers.shut_down();
}

} // namespace sessionq::broker

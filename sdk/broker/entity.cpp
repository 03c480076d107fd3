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
      browsers{state},
      dead_letters_{dead_letters} {
    if (options.duplicate_detection_window) {
        history_.emplace(*options.duplicate_detection_window);
    }
}

core::Result<std::vector<std::int64_t>> Entity::send(std::vector<MessageContentPtr> contents) {
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
    if (auto fault = find_size_fault(total)) {
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
    const std::uint64_t max = state.options.max_size_bytes;
    if (max == 0) {
        return std::nullopt;
    }
    const std::uint64_t own = state.store.bytes();
    const std::uint64_t dead = dead_letters_ != nullptr ? dead_letters_->state.store.bytes() : 0;
    const SizeAccount* const all = state.context.size();
    const std::uint64_t subscribed = all != nullptr ? all->bytes() - own - dead : 0;
    const std::uint64_t ids = history_ ? history_->bytes(state.context.now()) : 0;
    if (bytes + own + dead + subscribed + ids <= max) {
        return std::nullopt;
    }
    std::string why = "max_size_bytes is " + std::to_string(max);
    const auto blame = [&why, max](std::uint64_t part, const char* what) {
        if (part > max / 2) {
            why += ", and most of it are " + std::string{what};
        }
    };
    blame(dead, "dead-lettered messages");
    blame(subscribed, "messages of its subscriptions");
    blame(ids, "message ids that duplicate detection remembers");
    return state.failure(Errc::quota_exceeded, std::move(why));
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
    auto fault = state.find_fault(*arrival.content);
    if (!fault) {
        fault = find_size_fault(arrival.content->bytes());
    }
    if (fault && state.kind != EntityKind::subscription) {
        return fault;
    }
    if (fault) {
        messages.reject(std::move(arrival.content), describe_transit_failure(*fault));
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
        state.sessions.set_state(session, std::make_unique<std::string>(*std::move(one.state)),
                                 state.context.wall_now());
    }
}

void Entity::shut_down() {
    state.is_shut_down = true;
    consumers.shut_down();
    browsers.shut_down();
}

} // namespace sessionq::broker

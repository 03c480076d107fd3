// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "broker/entity_journal.hpp"
#include "broker/message_store.hpp"
#include "broker/ordered_messages.hpp"
#include "broker/queue.hpp"
#include "broker/session_table.hpp"

namespace sessionq::broker {

/// The messages that one turn of a search looks at: about a third of a millisecond.
inline constexpr std::size_t messages_a_search = 4096;

/// Where a turn of a search has ended.
struct Searched {
    std::int64_t to{0};      ///< go on from this number
    bool reached_end{false}; ///< there are no more messages
};

/// The state that the parts of an entity share: its definition, context, messages and sessions. It
/// answers questions about them. The parts decide how they change.
struct EntityState {
    const std::string name;
    const EntityKind kind;
    const QueueOptions options;
    const EntityId id; ///< names the entity in the journal
    /// Its messages are not counted and do not expire.
    const bool is_dead_letter_queue;
    QueueContext& context;
    EntityJournal journal{id, context};

    SessionTable sessions{};
    OrderedMessages available{options}; ///< without sessions
    MessageStore store{context.stored(), is_dead_letter_queue ? StoredBytes::Part::dead_letters
                                                              : StoredBytes::Part::messages};
    bool is_shut_down{false};

    /// Whether its messages are forwarded to other entities.
    [[nodiscard]] bool forwards() const noexcept {
        return kind == EntityKind::topic || !options.forward_to.empty();
    }

    /// Why nothing can be received here, if so.
    [[nodiscard]] std::optional<Failure> find_receive_fault() const;
    /// Why senders cannot send here, if so.
    [[nodiscard]] std::optional<Failure> find_send_fault() const;
    /// Why this message is rejected, if so.
    [[nodiscard]] std::optional<Failure> find_fault(const MessageContent& message) const;

    /// Why there is no room for so many more bytes, if so.
    [[nodiscard]] std::optional<Failure> find_room_fault(std::uint64_t bytes,
                                                         StoredBytes::For what) const;

    /// A failure whose text names the entity.
    [[nodiscard]] Failure failure(Errc code, std::string_view about) const;
    [[nodiscard]] Failure deleted() const;

    /// When a lock ends that is granted or renewed now.
    [[nodiscard]] TimePoint lock_end() const noexcept {
        return context.now() + options.lock_duration;
    }

    /// The session that a message belongs to, made if needed. Null without sessions.
    [[nodiscard]] Session* session_of(const MessageContent& message);

    /// Makes a message available to consumers of its session, or of the entity.
    void push_available(StoredMessage& message);
    /// Takes the message that a consumer of the session receives next. Null: there is none. Without
    /// a session: a consumer of the entity.
    [[nodiscard]] StoredMessage* pop_available(Session* session) noexcept {
        return session != nullptr ? session->available.pop_front() : available.pop_front();
    }
    /// Begins to load the message that `pop_available` will take next.
    void prefetch_available(const Session* session) const noexcept {
        prefetch_front(session != nullptr ? session->available : available.by_arrival());
    }

    /// Removes a message, and its session if nothing else keeps that.
    void remove(StoredMessage& message);

    /// Calls `visit` for messages from sequence number `from` on that are in the session, or in
    /// any, until it returns false. Looks at up to `messages_a_search`. `visit` may remove the
    /// message.
    template <typename Visit>
    Searched search(std::int64_t from, const std::optional<std::string>& session_id, Visit visit);

    /// Whether a message names that session, on an entity without sessions.
    [[nodiscard]] static bool is_in(const StoredMessage& message, std::string_view session_id);

    /// As `Queue::peek_some`.
    [[nodiscard]] Peeked peek(std::int64_t from, std::uint32_t max,
                              const std::optional<std::string>& session_id);
};

template <typename Visit>
Searched EntityState::search(std::int64_t from, const std::optional<std::string>& session_id,
                             Visit visit) {
    const Searched all{.to = std::max(from, store.last_sequence() + 1), .reached_end = true};
    StoredMessage* at = nullptr;
    Session* session = nullptr;
    if (session_id && options.requires_session) {
        session = sessions.find(*session_id);
        at = session != nullptr ? session->messages.back() : nullptr;
        if (at == nullptr || at->sequence < from) {
            return all;
        }
        at = session->messages.front();
    }
    if (at == nullptr || at->sequence < from) {
        at = store.at_or_after(from);
    }
    bool goes_on = true;
    for (std::size_t seen = 0; at != nullptr && goes_on && seen < messages_a_search; ++seen) {
        const std::int64_t sequence = at->sequence;
        const bool is_wanted =
            session != nullptr ? at->session == session : !session_id || is_in(*at, *session_id);
        StoredMessage* const next_of_session =
            session != nullptr && is_wanted ? session->messages.next(*at) : nullptr;
        if (is_wanted) {
            goes_on = visit(*at); // may remove the last message of the session, and with it that
        }
        at = session != nullptr && is_wanted ? next_of_session : store.at_or_after(sequence + 1);
    }
    return at != nullptr ? Searched{.to = at->sequence} : all;
}

} // namespace sessionq::broker

// SPDX-License-Identifier: MIT
#pragma once

#include "broker/queue_context.hpp"
#include "broker/stored_message.hpp"

namespace sessionq::broker {

/// Records the changes of one entity, if its broker has a journal.
class EntityJournal {
public:
    EntityJournal(EntityId id, QueueContext& context) noexcept : id_{id}, context_{context} {}

    void note_added(const StoredMessage& message);
    /// `content` is null if it has not changed.
    void note_changed(const StoredMessage& message, MessageContentPtr content = nullptr);
    void note_removed(const StoredMessage& message);
    /// A message has arrived from `origin`.
    void note_origin(const Origin& origin);
    void note_id_taken(std::string_view message_id, std::int64_t sequence, Duration window);
    void note_state(const std::string& session_id, const std::optional<std::string>& state);

private:
    [[nodiscard]] DurableMessage record_of(const StoredMessage& message,
                                           MessageContentPtr content) const;

    const EntityId id_;
    QueueContext& context_;
};

} // namespace sessionq::broker

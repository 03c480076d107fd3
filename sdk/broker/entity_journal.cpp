// SPDX-License-Identifier: MIT
#include "broker/entity_journal.hpp"

namespace sessionq::broker {

DurableMessage EntityJournal::record_of(const StoredMessage& message,
                                        MessageContentPtr content) const {
    return {.entity = id_,
            .sequence = message.sequence,
            .content = std::move(content),
            .place = message.place,
            .delivery_count = message.delivery_count,
            .enqueued_time = message.enqueued_time,
            .time_to_live = message.time_to_live.get(),
            .dead_letter = message.dead_letter,
            .first_sequence = message.first_sequence};
}

void EntityJournal::note_added(const StoredMessage& message) {
    context_.note([&] { return MessageAdded{record_of(message, message.content)}; });
}

void EntityJournal::note_changed(const StoredMessage& message, MessageContentPtr content) {
    context_.note([&] { return MessageChanged{record_of(message, std::move(content))}; });
}

void EntityJournal::note_removed(const StoredMessage& message) {
    context_.note([&] { return MessageRemoved{.entity = id_, .sequence = message.sequence}; });
}

void EntityJournal::note_origin(const Origin& origin) {
    context_.note([&]() -> Change {
        if (origin.is_shared) {
            return MessageForwarded{
                .entity = origin.entity, .sequence = origin.sequence, .to = id_};
        }
        return MessageRemoved{.entity = origin.entity, .sequence = origin.sequence};
    });
}

void EntityJournal::note_id_taken(std::string_view message_id, std::int64_t sequence,
                                  Duration window) {
    context_.note([&] {
        const WallTime now = context_.wall_now();
        return MessageIdTaken{.entity = id_,
                              .message_id = std::string{message_id},
                              .sequence = sequence,
                              .at = now,
                              .until =
                                  now + std::chrono::duration_cast<WallTime::duration>(window)};
    });
}

void EntityJournal::note_state(const std::string& session_id,
                               const std::optional<std::string>& state) {
    context_.note(
        [&] { return SessionStateSet{.entity = id_, .session_id = session_id, .state = state}; });
}

} // namespace sessionq::broker

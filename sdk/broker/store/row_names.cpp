// SPDX-License-Identifier: MIT
#include "broker/store/row_names.hpp"

#include "broker/store/damage_report.hpp"

namespace sessionq::broker {

void RowNames::add(const DurableQueue& queue) {
    entities_[queue.queue.id] = in_quotes(queue.name);
    entities_[queue.dead_letters.id] = in_quotes(queue.name + "/$DeadLetterQueue");
}

std::string RowNames::of_entity(std::int64_t id) const {
    const auto found = entities_.find(id);
    return found != entities_.end() ? found->second : "entity " + std::to_string(id);
}

std::string RowNames::of(const QueueRow& row) const {
    return "queues: " + in_quotes(row.name) + " with id " + std::to_string(row.id);
}

std::string RowNames::of(const EntityRow& row) const {
    return "entities: the last sequence number of " + of_entity(row.id);
}

std::string RowNames::of(const MessageRow& row) const {
    return "messages: message " + std::to_string(row.sequence) + " of " + of_entity(row.entity);
}

std::string RowNames::of_lost_content(const MessageRow& row) const {
    return of(row) + " has lost its content " + std::to_string(row.content.shared);
}

std::string RowNames::of(const SessionStateRow& row) const {
    return "session_states: session " + in_quotes(row.session_id) + " of " + of_entity(row.entity);
}

std::string RowNames::of(const TakenIdRow& row) const {
    return "taken_ids: message id " + in_quotes(row.message_id) + " of " + of_entity(row.entity);
}

std::string RowNames::of(const ContentRow& row) const {
    return "contents: content " + std::to_string(row.id);
}

} // namespace sessionq::broker

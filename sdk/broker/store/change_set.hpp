// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "broker/journal.hpp"

namespace sessionq::broker {

/// Merges many changes, so that each row of the store is written once. A message that was added and
/// removed in between leaves only its number to write. Does no I/O.
class ChangeSet {
public:
    /// The write that the row of a message needs.
    enum class Action : std::uint8_t { nothing, insert, update, update_with_content, erase };
    struct MessageRow {
        Action action{Action::nothing};
        DurableMessage message{}; ///< its `forwarded_to` are to be added to those in the store
    };
    using QueueChange =
        std::variant<QueueCreated, QueueOptionsChanged, RulesDeclared, RulesChanged, QueueRemoved>;
    using SessionKey = std::pair<EntityId, std::string>;

    void add(Change change);

    /// The changes of queues in order. Write them first.
    [[nodiscard]] const std::vector<QueueChange>& queues() const noexcept { return queues_; }
    /// In the order in which the messages were first changed.
    [[nodiscard]] const std::vector<MessageRow>& messages() const noexcept { return messages_; }
    [[nodiscard]] const std::map<SessionKey, std::optional<std::string>>& states() const noexcept {
        return states_;
    }
    [[nodiscard]] const std::vector<MessageIdTaken>& taken_ids() const noexcept {
        return taken_ids_;
    }
    /// The highest sequence number assigned, by entity.
    [[nodiscard]] const std::map<EntityId, std::int64_t>& last_sequences() const noexcept {
        return last_sequences_;
    }
    /// Whether the entity was removed: write nothing of it.
    [[nodiscard]] bool is_removed(EntityId entity) const { return removed_.contains(entity); }

    [[nodiscard]] bool empty() const noexcept;
    void clear();

private:
    struct Key {
        EntityId entity;
        std::int64_t sequence;
        bool operator==(const Key&) const noexcept = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            return std::hash<std::uint64_t>{}(
                static_cast<std::uint64_t>(key.sequence) * 0x9e3779b97f4a7c15U + key.entity);
        }
    };

    MessageRow& row_of(EntityId entity, std::int64_t sequence);
    void apply(MessageAdded added);
    void apply(MessageChanged changed);
    void apply(MessageRemoved removed);
    void apply(MessageForwarded passed);
    void apply(SessionStateSet set) {
        states_.insert_or_assign({set.entity, std::move(set.session_id)}, std::move(set.state));
    }
    void apply(MessageIdTaken taken) { taken_ids_.push_back(std::move(taken)); }
    void apply(QueueCreated created) { queues_.emplace_back(std::move(created)); }
    void apply(QueueOptionsChanged changed) { queues_.emplace_back(std::move(changed)); }
    void apply(RulesDeclared declared) { queues_.emplace_back(std::move(declared)); }
    void apply(RulesChanged changed) { queues_.emplace_back(std::move(changed)); }
    void apply(QueueRemoved removed);

    std::vector<QueueChange> queues_;
    std::vector<MessageRow> messages_;
    std::unordered_map<Key, std::size_t, Hash> rows_; // positions in messages_
    std::map<SessionKey, std::optional<std::string>> states_;
    std::vector<MessageIdTaken> taken_ids_;
    std::map<EntityId, std::int64_t> last_sequences_;
    std::set<EntityId> removed_;
};

} // namespace sessionq::broker

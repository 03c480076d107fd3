// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "broker/instant.hpp"
#include "broker/journal.hpp"
#include "broker/wakeup_board.hpp"
#include "core/ascii_case.hpp"
#include "core/result.hpp"

namespace sessionq::broker {

class QueuePair;
struct EntitySpec;
class SizeAccount;
using QueuePairPtr = std::shared_ptr<QueuePair>;

/// Separates the topic and the subscription in a subscription's full name.
inline constexpr std::string_view subscriptions_segment = "/Subscriptions/";

/// The entities of a broker, by name without regard to case, and where they forward messages.
/// Thread-safe.
class Directory : public std::enable_shared_from_this<Directory> {
public:
    /// Starts with the entities in `stored`. Each resumes work when it is created again, with the
    /// new options. The first use of one that was not created again makes all of them resume, with
    /// the stored options.
    Directory(std::shared_ptr<WakeupBoard> board, std::shared_ptr<Journal> journal,
              std::vector<DurableQueue> stored, Instant at);

    /// Creates an entity. Fails with
    /// - duplicate_entity: the name is in use;
    /// - entity_not_found: a subscription's topic does not exist;
    /// - invalid_option: forwarding would form a cycle, or a stored queue with sessions would
    ///   become one without, or the reverse;
    /// - quota_exceeded or server_busy: the journal is full or failing, and the entity is not
    ///   stored.
    core::Result<core::Done> make(EntitySpec spec, Instant at);

    /// Removes an entity, and a topic's subscriptions with it, also from the journal.
    [[nodiscard]] std::vector<QueuePairPtr> remove(std::string_view name);

    /// Removes all entities, but keeps their records in the journal.
    [[nodiscard]] std::vector<QueuePairPtr> clear();

    /// Returns null if there is no such entity.
    [[nodiscard]] QueuePairPtr find(std::string_view name);
    /// All entities except stored ones that are not in use yet.
    [[nodiscard]] std::vector<QueuePairPtr> all() const;
    /// Sorted.
    [[nodiscard]] std::vector<std::string> names(EntityKind kind) const;

    /// All entities that must exist from the start now exist: forwards the messages that were held
    /// back.
    void begin(Instant at);
    [[nodiscard]] bool has_begun() const noexcept {
        return has_begun_.load(std::memory_order_seq_cst);
    }

    [[nodiscard]] std::vector<QueuePairPtr> subscriptions_of(const QueuePair& topic) const;

    [[nodiscard]] Journal* journal() const noexcept { return journal_.get(); }

private:
    template <typename Held>
    using ByName =
        std::unordered_map<std::string, Held, core::HashIgnoringCase, core::EqualIgnoringCase>;

    struct Entry {
        QueuePairPtr entity{};
        std::string topic{}; // empty unless the entity is a subscription
        std::vector<QueuePairPtr> subscriptions{};
    };

    [[nodiscard]] std::optional<Failure> find_fault(const EntitySpec& spec) const;
    /// Null: messages that the entity forwards do not return to it.
    [[nodiscard]] const char* member_that_closes_cycle(const EntitySpec& spec) const;
    [[nodiscard]] bool closes_cycle(const EntitySpec& spec, const std::string& first) const;
    /// The account that counts the bytes of the entity besides itself. Null: none.
    [[nodiscard]] std::shared_ptr<SizeAccount> size_of(const EntitySpec& spec) const;
    void put(EntitySpec spec, Instant at);
    QueuePairPtr restore(ByName<DurableQueue>::iterator found, EntitySpec spec);
    [[nodiscard]] std::vector<QueuePairPtr> restore_all();
    void enter(const QueuePairPtr& made, const std::string& topic);

    const std::shared_ptr<WakeupBoard> board_;
    const std::shared_ptr<Journal> journal_;
    const Instant restored_at_;
    std::atomic<bool> has_begun_;
    mutable std::shared_mutex mutex_; // guards unopened_ and entries_
    ByName<DurableQueue> unopened_;   // stored entities that are not in use yet
    ByName<Entry> entries_;
};

} // namespace sessionq::broker

// SPDX-License-Identifier: MIT
#pragma once

#include "broker/browser_line.hpp"
#include "broker/duplicate_history.hpp"
#include "broker/entity_deletions.hpp"
#include "broker/entity_deliveries.hpp"

namespace sessionq::broker {

/// The engine of one queue or dead-letter sub-queue. Decides which messages enter. Its parts decide
/// how messages, sessions and consumers change then.
///
/// They read no clock and call no user code: time comes in through the context, and notifications
/// go out through it. `Queue` wraps each call in `context.begin`, the lock and `serve`, and
/// documents the functions.
class Entity {
public:
    /// `dead_letters` is null for a dead-letter sub-queue. `id` names the entity in the context's
    /// journal.
    Entity(std::string name, EntityKind kind, const QueueOptions& options, QueueContext& context,
           Entity* dead_letters, EntityId id = 0);

    /// Each message becomes up to `copies` messages, here and in subscriptions.
    core::Result<std::vector<std::int64_t>> send(std::vector<MessageContentPtr> contents,
                                                 std::size_t copies);
    core::Result<core::Done> cancel_scheduled(std::span<const std::int64_t> sequences);

    /// Takes a message that another entity forwards. Its removal there is recorded together with
    /// its arrival here. A subscription dead-letters a message that it cannot accept; other
    /// entities fail as `send` does.
    std::optional<Failure> take(Arrival arrival);

    /// Restores the stored content. Must be the first call.
    void restore(DurableEntity stored);

    /// The entity is being deleted: ends its consumers and browsers, and accepts nothing from now
    /// on.
    void shut_down();

    EntityState state;
    EntityMessages messages;
    EntityConsumers consumers;
    EntityDeliveries deliveries;
    EntityDeletions deletions;
    BrowserLine browsers;

private:
    /// Why no message of so many bytes may enter, if none may.
    [[nodiscard]] std::optional<Failure> find_size_fault(std::uint64_t bytes);
    void count_ids();
    std::int64_t enqueue(Arrival arrival);
    void restore_states(std::vector<SessionStateSet> states);

    std::optional<DuplicateHistory> history_; // unset: no duplicate detection
};

} // namespace sessionq::broker

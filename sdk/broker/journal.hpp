// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sessionq/error.hpp>
#include <sessionq/message.hpp>
#include <sessionq/message_content.hpp>
#include <sessionq/rule.hpp>

#include "broker/queue_options.hpp"

namespace sessionq::broker {

/// Names an entity in a journal. Never reused. Zero: none.
using EntityId = std::uint32_t;

/// A stored message. Its holder is not stored: locks do not survive a restart.
struct DurableMessage {
    EntityId entity{0};
    std::int64_t sequence{0};
    MessageContentPtr content{}; ///< null in `MessageChanged`: unchanged
    MessageState place{MessageState::active};
    std::uint32_t delivery_count{0};
    WallTime enqueued_time{}; ///< of a scheduled message: when it is due
    std::optional<std::chrono::milliseconds> time_to_live{};
    std::shared_ptr<const DeadLetterInfo> dead_letter{};
    /// In the first entity, if it was forwarded from there; else zero.
    std::int64_t first_sequence{0};
    /// The subscriptions that have received it from here already. Only in a stored topic's
    /// messages.
    std::vector<EntityId> forwarded_to{};
};

// The changes that an operation makes to the stored state.
struct QueueCreated { ///< or a topic, or a subscription
    EntityId queue{0};
    EntityId dead_letters{0};
    std::string name{};
    EntityKind kind{EntityKind::queue};
    QueueOptions options{};
    std::vector<Rule> rules{}; ///< of a subscription
};
struct QueueOptionsChanged {
    EntityId queue{0};
    QueueOptions options{};
};
/// The owner of a subscription states its rules. This replaces all changes made since.
struct RulesDeclared {
    EntityId queue{0};
    std::vector<Rule> rules{};
};
struct RulesChanged { ///< all rules that are left
    EntityId queue{0};
    std::vector<Rule> rules{};
};
struct QueueRemoved { ///< with the messages of the queue and of its dead-letter sub-queue
    EntityId queue{0};
    EntityId dead_letters{0};
};
struct MessageAdded {
    DurableMessage message{};
};
struct MessageChanged {
    DurableMessage message{};
};
struct MessageRemoved {
    EntityId entity{0};
    std::int64_t sequence{0};
};
/// A subscription has received a message from its topic, or needs it no longer. Other subscriptions
/// may still wait for it.
struct MessageForwarded {
    EntityId entity{0};
    std::int64_t sequence{0};
    EntityId to{0};
};
struct SessionStateSet {
    EntityId entity{0};
    std::string session_id{};
    std::optional<std::string> state{}; ///< unset: cleared
};
struct MessageIdTaken { ///< for duplicate detection
    EntityId entity{0};
    std::string message_id{};
    std::int64_t sequence{0};
    WallTime at{};
    WallTime until{};
};

using Change = std::variant<QueueCreated, QueueOptionsChanged, RulesDeclared, RulesChanged,
                            QueueRemoved, MessageAdded, MessageChanged, MessageRemoved,
                            MessageForwarded, SessionStateSet, MessageIdTaken>;

/// Stores the changes that a broker must still have after a restart. A broker without a journal is
/// in memory only.
///
/// Changes are stored in the order of the `append` calls, each call completely or not at all.
/// Whenever the process ends, the stored state is that after some call and all calls before it.
///
/// Thread-safe.
class Journal {
public:
    /// Counts the calls of `append`.
    using Mark = std::uint64_t;

    /// Reports that everything up to `mark` is stored. With a reason, some of it may not be stored,
    /// so nothing of it may be confirmed.
    using Durable = std::function<void(Mark mark, const Failure* why)>;

    virtual ~Journal() = default;

    [[nodiscard]] virtual EntityId make_entity_id() = 0;

    /// Queues the changes of one operation. Never waits for the disk. Called under the entity's
    /// lock, so that changes arrive in the order in which they happened.
    virtual void append(std::vector<Change> changes) = 0;

    /// The mark of the last `append`.
    [[nodiscard]] virtual Mark last() const noexcept = 0;

    /// Calls `done` once, when everything appended so far is stored or has failed. It runs on a
    /// thread of the journal, under no lock, never inside this call, and must be quick.
    virtual void when_durable(Durable done) = 0;

    /// Whether changes cannot be stored now. Operations that must be stored are rejected meanwhile.
    /// The journal retries until it succeeds.
    [[nodiscard]] virtual bool is_failing() const noexcept = 0;

    /// Whether so many changes wait to be stored that others would wait long behind more. Work that
    /// nobody has been promised for now, such as forwarding, goes on later.
    [[nodiscard]] virtual bool is_behind() const noexcept = 0;

    /// Whether the disk is full. Operations that add to the stored state are rejected meanwhile
    /// (new messages, states, rules, entities, message properties). Operations that remove or move
    /// messages continue. The journal checks for room until there is some.
    [[nodiscard]] virtual bool is_full() const noexcept = 0;
};

/// The stored state of an entity.
struct DurableEntity {
    EntityId id{0};
    std::int64_t last_sequence{0};          ///< the last one assigned, even if its message is gone
    std::vector<DurableMessage> messages{}; ///< by sequence number
    std::vector<SessionStateSet> states{};
    std::vector<MessageIdTaken> taken_ids{}; ///< in the order in which they will be forgotten
};

struct DurableQueue { ///< or a topic, or a subscription
    std::string name{};
    EntityKind kind{EntityKind::queue};
    QueueOptions options{};
    std::vector<Rule> declared_rules{}; ///< of a subscription, as stated by its owner
    std::vector<Rule> rules{};          ///< as they are now
    DurableEntity queue{};
    DurableEntity dead_letters{};
};

} // namespace sessionq::broker

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

/// Names an entity in a journal, for ever: no other entity ever gets it. Zero: none.
using EntityId = std::uint32_t;

/// A message as it is kept. Who has it in hand is not: a broker that starts anew holds no locks.
struct KeptMessage {
    EntityId entity{0};
    std::int64_t sequence{0};
    MessageContentPtr content{}; ///< null in `MessageChanged`: as it was
    MessageState place{MessageState::active};
    std::uint32_t delivery_count{0};
    WallTime enqueued_time{}; ///< of a scheduled one: when it is due
    std::optional<std::chrono::milliseconds> time_to_live{};
    std::shared_ptr<const DeadLetterInfo> dead_letter{};
    std::vector<EntityId>
        passed_to{}; ///< these have got it from here already; only in what was kept
};

// What an operation changes in what is kept.
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
struct RulesDeclared { ///< whoever made the subscription says what they are; any change since is
                       ///< void
    EntityId queue{0};
    std::vector<Rule> rules{};
};
struct RulesChanged { ///< all that are left
    EntityId queue{0};
    std::vector<Rule> rules{};
};
struct QueueRemoved { ///< with all that was in it and in its dead-letter sub-queue
    EntityId queue{0};
    EntityId dead_letters{0};
};
struct MessageAdded {
    KeptMessage message{};
};
struct MessageChanged {
    KeptMessage message{};
};
struct MessageRemoved {
    EntityId entity{0};
    std::int64_t sequence{0};
};
struct MessagePassedOn { ///< a subscription has got it from its topic, or needs it no more; others
                         ///< may not have got it yet
    EntityId entity{0};
    std::int64_t sequence{0};
    EntityId to{0};
};
struct SessionStateSet {
    EntityId entity{0};
    std::string session_id{};
    std::optional<std::string> state{}; ///< unset: cleared
};
struct MessageIdTaken { ///< for the detection of duplicates
    EntityId entity{0};
    std::string message_id{};
    std::int64_t sequence{0};
    WallTime at{};
    WallTime until{};
};

using Change = std::variant<QueueCreated, QueueOptionsChanged, RulesDeclared, RulesChanged,
                            QueueRemoved, MessageAdded, MessageChanged, MessageRemoved,
                            MessagePassedOn, SessionStateSet, MessageIdTaken>;

/// Keeps what a broker must still have when it starts anew. A broker without one keeps everything
/// in memory only.
///
/// Changes are kept in the order of `append`, each call's all or none: whenever the process ends,
/// what is kept is what some call and all before it left behind.
///
/// Thread-safe.
class Journal {
public:
    /// Counts calls of `append`; rises.
    using Mark = std::uint64_t;

    /// Everything up to `mark` is kept; or, with a reason, some of it may not be: nothing of it is
    /// to be confirmed.
    using Durable = std::function<void(Mark mark, const Failure* why)>;

    virtual ~Journal() = default;

    [[nodiscard]] virtual EntityId make_entity_id() = 0;

    /// Takes note of what one operation changed. Never waits for a disk. Called under the entity's
    /// lock, so that changes come in the order they happened.
    virtual void append(std::vector<Change> changes) = 0;

    /// The mark of the last `append`.
    [[nodiscard]] virtual Mark last() const noexcept = 0;

    /// `done` runs once, briefly, when everything appended so far is kept or could not be: on a
    /// thread of the journal's, under no lock, never in this call.
    virtual void when_durable(Durable done) = 0;

    /// Changes cannot be kept at present, and whatever would need to be is refused. It goes on
    /// trying, and this ends when it succeeds.
    [[nodiscard]] virtual bool is_failing() const noexcept = 0;

    /// There is no room for more at present: what would add to what is kept is refused (new
    /// messages, states, rules, entities, properties of messages), what takes from it or moves what
    /// is there goes on. It looks for room, and this ends when there is some.
    [[nodiscard]] virtual bool is_full() const noexcept = 0;
};

/// What a journal kept of an entity.
struct KeptEntity {
    EntityId id{0};
    std::int64_t last_sequence{0}; ///< given out last, whether or not its message is still there
    std::vector<KeptMessage> messages{}; ///< by sequence number
    std::vector<SessionStateSet> states{};
    std::vector<MessageIdTaken> taken_ids{}; ///< the one to forget first is first
};

struct KeptQueue { ///< or topic, or subscription
    std::string name{};
    EntityKind kind{EntityKind::queue};
    QueueOptions options{};
    std::vector<Rule> declared_rules{}; ///< of a subscription, as it was made
    std::vector<Rule> rules{};          ///< as they are now
    KeptEntity queue{};
    KeptEntity dead_letters{};
};

} // namespace sessionq::broker

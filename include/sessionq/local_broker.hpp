// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/message_order.hpp>
#include <sessionq/on_damage.hpp>
#include <sessionq/result.hpp>
#include <sessionq/rule.hpp>
#include <sessionq/time.hpp>

namespace sessionq::detail::client {
class BrokerHost;
struct Access;
} // namespace sessionq::detail::client

namespace sessionq::inline v1 {

/// Properties of a queue of a `LocalBroker`, fixed at creation. An aggregate for designated
/// initialisers. A bad value throws `Error{Errc::invalid_option}` naming the member.
///
/// Example:
///
///     LocalBroker broker;
///     broker.create_queue("jobs", {.requires_session = false, .order = MessageOrder::priority});
struct QueueOptions {
    /// True: every message names a session, and consumers receive by session. False: consumers
    /// receive single messages. Default true.
    bool requires_session{true};

    /// How long a lock lasts without renewal: of a session, or of a message in a queue without
    /// sessions. Range: over zero, up to 5 minutes. Default 60 s.
    Duration lock_duration{std::chrono::seconds{60}};

    /// Number of counted deliveries after which a message is dead-lettered. Range: at least 1.
    /// Default 10.
    std::uint32_t max_delivery_count{10};

    /// Upper bound of the messages' time to live, and the time to live of messages that set none.
    /// Range: over zero. Unset: unlimited. Default unset.
    std::optional<std::chrono::milliseconds> default_time_to_live{};

    /// True: expired messages go to the dead-letter queue. False: the broker removes them. Default
    /// false.
    bool dead_letter_on_expiration{false};

    /// Upper bound of the bytes of all messages in the queue and its dead-letter queue, of the
    /// sessions' states, and of the message ids that it remembers, as the broker estimates them.
    /// Beyond it, sends, states, and settlements that make a message larger fail with
    /// quota_exceeded. Settlements may exceed it by a sixteenth. Zero: unlimited. Default 0.
    std::uint64_t max_size_bytes{0};

    /// Upper bound of the bytes of one message, or of one session's state. Range: over zero.
    /// Default 1 MiB.
    std::size_t max_message_bytes{std::size_t{1} << 20U};

    /// How long the queue remembers message ids. It accepts a message that repeats one, and drops
    /// it. Range: over zero, up to 7 days. Unset: no duplicate detection. Default unset.
    std::optional<Duration> duplicate_detection_window{};

    /// The queue or topic that all messages are forwarded to on arrival. It must exist and must not
    /// lead back here. `requires_session` must be false. A message that cannot be forwarded, or
    /// that was forwarded four times before, is dead-lettered here. Empty: none. Default empty.
    std::string forward_to{};

    /// The queue or topic that dead-lettered messages are forwarded to. `requires_session` may be
    /// either. A message that cannot be forwarded stays in the dead-letter queue. Empty: none.
    /// Default empty.
    std::string forward_dead_letters_to{};

    /// The order in which messages are delivered. It does not change browsing, which goes by
    /// sequence number. With sessions: only arrival. Default arrival.
    MessageOrder order{MessageOrder::arrival};

    /// The application property that `MessageOrder::property` orders by, by its exact name. Lower
    /// values come first: numbers of all types by size, then texts byte by byte, then times, then
    /// all other messages: those without the property, or with a value of another type. Messages
    /// with equal values are delivered by arrival. Changing the property while abandoning a message
    /// changes its place. Required for that order; empty with the others. Default empty.
    std::string order_property{};
};

/// Properties of a topic of a `LocalBroker`, fixed at creation.
///
/// Example:
///
///     LocalBroker broker;
///     broker.create_topic("news", {.duplicate_detection_window = std::chrono::minutes{10}});
///     broker.create_subscription("news", "sports", {.requires_session = false});
struct TopicOptions {
    /// Upper bound of the messages' time to live in every subscription, and the time to live of
    /// messages that set none. Range: over zero. Unset: unlimited. Default unset.
    std::optional<std::chrono::milliseconds> default_time_to_live{};

    /// Upper bound of the bytes of one message, or of one session's state in a subscription. Range:
    /// over zero. Default 1 MiB.
    std::size_t max_message_bytes{std::size_t{1} << 20U};

    /// How long the topic remembers message ids. It accepts a message that repeats one, and drops
    /// it. Range: over zero, up to 7 days. Unset: no duplicate detection. Default unset.
    std::optional<Duration> duplicate_detection_window{};
};

/// Properties of a subscription of a `LocalBroker`, fixed at creation. An aggregate for designated
/// initialisers. A bad value throws `Error{Errc::invalid_option}` naming the member.
struct SubscriptionOptions {
    /// True: every message names a session, and consumers receive by session. False: consumers
    /// receive single messages. Default true.
    bool requires_session{true};
    /// How long a lock lasts without renewal: of a session, or of a message in a subscription
    /// without sessions. Range: over zero, up to 5 minutes. Default 60 s.
    Duration lock_duration{std::chrono::seconds{60}};
    /// Number of counted deliveries after which a message is dead-lettered. Range: at least 1.
    /// Default 10.
    std::uint32_t max_delivery_count{10};
    /// Upper bound of the messages' time to live, and the time to live of messages that set none.
    /// Range: over zero. Unset: unlimited. Default unset.
    std::optional<std::chrono::milliseconds> default_time_to_live{};
    /// True: expired messages go to the dead-letter queue. False: the broker removes them. Default
    /// false.
    bool dead_letter_on_expiration{false};
    /// The queue or topic that all messages are forwarded to on arrival. It must exist and must not
    /// lead back here. `requires_session` must be false. A message that cannot be forwarded, or
    /// that was forwarded four times before, is dead-lettered here. Empty: none. Default empty.
    std::string forward_to{};
    /// The queue or topic that dead-lettered messages are forwarded to. It must exist. A message
    /// that cannot be forwarded stays in the dead-letter queue. Empty: none. Default empty.
    std::string forward_dead_letters_to{};
    /// The order in which messages are delivered. It does not change browsing, which goes by
    /// sequence number. With sessions: only arrival. Default arrival.
    MessageOrder order{MessageOrder::arrival};
    /// The application property that `MessageOrder::property` orders by, by its exact name.
    /// `QueueOptions::order_property` tells how values compare. Required for that order; empty with
    /// the others. Default empty.
    std::string order_property{};

    /// Rules that select messages of the topic. Empty: one rule, "$Default", that selects all.
    /// Default empty.
    std::vector<Rule> rules{};
};

/// Contents of a queue or subscription at an instant.
struct QueueCounts {
    std::size_t active{0};          ///< Available to consumers, or locked by one.
    std::size_t deferred{0};        ///< Deferred messages.
    std::size_t scheduled{0};       ///< Scheduled messages that are not yet available.
    std::size_t dead_lettered{0};   ///< Messages in the dead-letter queue.
    std::size_t sessions{0};        ///< Sessions with messages, with state, or with a holder.
    std::size_t waiting_accepts{0}; ///< Accepts that wait for a session.
    std::uint64_t bytes{0}; ///< Estimated bytes of the messages, without the dead-letter queue.
};

/// Where a `LocalBroker` keeps its data. An aggregate for designated initialisers. A bad value
/// throws `Error{Errc::invalid_option}` naming the member.
struct LocalBrokerOptions {
    /// Directory for entities and rules, messages with their delivery counts (also deferred and
    /// scheduled ones), session states and remembered message ids. The broker creates it if it does
    /// not exist. Only one broker of one process may use it at a time. Its files are for their
    /// owner alone, and so is a directory that the broker creates. Empty: memory only. Default
    /// empty.
    std::filesystem::path data_directory{};

    /// How the broker reacts at the start if the data is damaged. Every row has a checksum, every
    /// table a count and a sum, and commits are counted in a file of their own. Not noticed: damage
    /// by someone who computes checksums too, and a directory replaced as a whole by an older copy.
    /// After a power failure the count may be behind by some commits; then the loss of as many
    /// commits at the end is not noticed. Ignored without a directory. Default refuse.
    OnDamage on_damage{OnDamage::refuse};
};

/// A broker inside this process. It has session queues with locks and their expiry, session state,
/// deferral, dead-lettering, scheduling, time to live and duplicate detection. It has topics, and
/// subscriptions with rules. `Client::in_process` connects to it. One thread of its own handles
/// events that become due, and sleeps otherwise.
///
/// Example:
///
///     LocalBroker local;
///     local.create_queue("orders", {.lock_duration = std::chrono::seconds{30}});
///     const auto in_process = Client::in_process(local);
///     Sender{in_process, "orders"}.send(Message::of("placed").in_session("ada"));
///     std::cout << local.counts("orders").active << '\n'; // 1
///
/// Names: a queue `name` has the dead-letter queue `name + "/$DeadLetterQueue"`. Receive from a
/// subscription as `topic + "/Subscriptions/" + name`. It has a dead-letter queue too. Send to its
/// topic. Names ignore case.
///
/// Lifetimes: entities live until this object and every client of it are gone.
///
/// With a data directory:
/// - Confirmed operations (a message sent, cancelled or settled, a state set) survive a crash of
///   the process. Those answers wait for the disk.
/// - Locks do not survive. Messages that were locked are available again, and that delivery is not
///   counted.
/// - A message received with `receive_and_delete` is delivered after the disk has recorded its
///   removal. It is never delivered again.
/// - Creating a stored entity again keeps its contents and gives it the new options. Other stored
///   entities keep their old options. They start when one of them is first used, at the latest with
///   the first client.
/// - When the disk is full, operations that need more space fail with quota_exceeded: sends,
///   session states, rules, new entities, properties changed by a settlement. Messages can still be
///   received, settled, cancelled, forwarded and deleted, and states cleared.
///
/// No function waits for another client. Errors are thrown as `Error`.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving and destroying.
class LocalBroker {
public:
    /// Makes a broker in memory.
    /// Errors: resource_exhausted (no thread could be started).
    LocalBroker();

    /// Opens or creates the data directory. On failure its contents do not change, except that
    /// access of others to the files is withdrawn.
    /// Errors: invalid_option (names the member), resource_exhausted (no thread could be started,
    /// or the directory cannot be created, read or written), invalid_state (the directory is in use
    /// by another process, or by another broker of this process or a client of it),
    /// invalid_argument (the directory's data is not sessionq's, or belongs to a newer version),
    /// protocol_error (the data is damaged, see `LocalBrokerOptions::on_damage`).
    explicit LocalBroker(const LocalBrokerOptions& options);
    LocalBroker(LocalBroker&&) noexcept;
    LocalBroker& operator=(LocalBroker&&) noexcept;
    ~LocalBroker();

    /// Creates a queue.
    /// Errors: invalid_argument (a name must have 1 to 260 bytes, no '$', no control characters and
    /// no "/Subscriptions/"), invalid_option (names the member; also: a stored queue of that name
    /// has another `requires_session`, or is another kind of entity), duplicate_entity,
    /// entity_not_found (of `forward_to` or `forward_dead_letters_to`), quota_exceeded (the disk is
    /// full), server_busy (the disk rejects writes).
    void create_queue(const std::string& name, const QueueOptions& options = {});

    /// Removes a queue and its contents. Operations on it, held or waiting, fail with
    /// entity_not_found.
    /// Errors: entity_not_found, server_busy (the disk rejects writes).
    void delete_queue(const std::string& name);

    /// Whether there is such a queue. Also answers for the dead-letter queue of any entity.
    [[nodiscard]] bool queue_exists(const std::string& name) const;

    /// The names of all queues, in no particular order, without dead-letter queues.
    [[nodiscard]] std::vector<std::string> queue_names() const;

    /// Creates a topic.
    /// Errors: invalid_argument (a name must have 1 to 260 bytes, no '$', no control characters and
    /// no "/Subscriptions/"), invalid_option (names the member; also: a stored entity of that name
    /// is of another kind), duplicate_entity, quota_exceeded (the disk is full), server_busy (the
    /// disk rejects writes).
    void create_topic(const std::string& name, const TopicOptions& options = {});

    /// Removes a topic, its subscriptions and their contents. Operations on them, held or waiting,
    /// fail with entity_not_found.
    /// Errors: entity_not_found, server_busy (the disk rejects writes).
    void delete_topic(const std::string& name);

    /// The names of all topics, in no particular order.
    [[nodiscard]] std::vector<std::string> topic_names() const;

    /// Creates a subscription.
    /// Errors: invalid_argument (the name must have 1 to 50 bytes, no '/' and no '$'),
    /// invalid_option (names the member; also: a bad rule in `rules`, or a stored subscription of
    /// that name has another `requires_session`), duplicate_entity, entity_not_found (of the topic,
    /// `forward_to` or `forward_dead_letters_to`), quota_exceeded (the disk is full), server_busy
    /// (the disk rejects writes).
    void create_subscription(const std::string& topic, const std::string& name,
                             const SubscriptionOptions& options = {});

    /// Removes a subscription and its contents. Operations on it, held or waiting, fail with
    /// entity_not_found.
    /// Errors: entity_not_found, server_busy (the disk rejects writes).
    void delete_subscription(const std::string& topic, const std::string& name);

    /// The names of a topic's subscriptions. Errors: entity_not_found.
    [[nodiscard]] std::vector<std::string> subscription_names(const std::string& topic) const;

    /// Adds a rule. A subscription has up to 2,000. A change applies from the next message on.
    /// Errors: invalid_argument (names the fault of the rule), duplicate_entity (a rule of that
    /// name), quota_exceeded (too many rules, or the disk is full), entity_not_found (of the
    /// subscription), server_busy (the disk rejects writes).
    void add_rule(const std::string& topic, const std::string& subscription, Rule rule);
    /// Removes a rule. A change applies from the next message on.
    /// Errors: entity_not_found (of the subscription or the rule), server_busy (the disk rejects
    /// writes).
    void remove_rule(const std::string& topic, const std::string& subscription,
                     const std::string& rule);

    /// The rules of a subscription. Errors: entity_not_found.
    [[nodiscard]] std::vector<Rule> rules(const std::string& topic,
                                          const std::string& subscription) const;

    /// The contents of a queue, a dead-letter queue, or a subscription by its full name. Errors:
    /// entity_not_found.
    [[nodiscard]] QueueCounts counts(const std::string& name) const;

    // The same for programs that take errors as values. `Result` says what holds for all.

    /// Makes a broker, in memory or with the data directory of `options`. Does what the constructor
    /// does, and returns the failure instead of throwing it.
    static Result<LocalBroker> try_make(const LocalBrokerOptions& options = {}) noexcept;

    /// Creates a queue. Does what `create_queue` does, and returns the failure instead of throwing
    /// it.
    Result<void> try_create_queue(const std::string& name,
                                  const QueueOptions& options = {}) noexcept;

    /// Removes a queue and its contents. Does what `delete_queue` does, and returns the failure
    /// instead of throwing it.
    Result<void> try_delete_queue(const std::string& name) noexcept;

    /// Creates a topic. Does what `create_topic` does, and returns the failure instead of throwing
    /// it.
    Result<void> try_create_topic(const std::string& name,
                                  const TopicOptions& options = {}) noexcept;

    /// Removes a topic and its subscriptions. Does what `delete_topic` does, and returns the
    /// failure instead of throwing it.
    Result<void> try_delete_topic(const std::string& name) noexcept;

    /// Creates a subscription. Does what `create_subscription` does, and returns the failure
    /// instead of throwing it.
    Result<void> try_create_subscription(const std::string& topic, const std::string& name,
                                         const SubscriptionOptions& options = {}) noexcept;

    /// Removes a subscription. Does what `delete_subscription` does, and returns the failure
    /// instead of throwing it.
    Result<void> try_delete_subscription(const std::string& topic,
                                         const std::string& name) noexcept;

    /// Returns the names of a topic's subscriptions. Does what `subscription_names` does, and
    /// returns the failure instead of throwing it.
    Result<std::vector<std::string>> try_subscription_names(
        const std::string& topic) const noexcept;

    /// Adds a rule. Does what `add_rule` does, and returns the failure instead of throwing it.
    Result<void> try_add_rule(const std::string& topic, const std::string& subscription,
                              Rule rule) noexcept;
    /// Removes a rule. Does what `remove_rule` does, and returns the failure instead of throwing
    /// it.
    Result<void> try_remove_rule(const std::string& topic, const std::string& subscription,
                                 const std::string& rule) noexcept;

    /// Returns the rules of a subscription. Does what `rules` does, and returns the failure instead
    /// of throwing it.
    Result<std::vector<Rule>> try_rules(const std::string& topic,
                                        const std::string& subscription) const noexcept;

    /// Returns the contents of an entity in numbers. Does what `counts` does, and returns the
    /// failure instead of throwing it.
    Result<QueueCounts> try_counts(const std::string& name) const noexcept;

private:
    friend struct detail::client::Access;

    std::shared_ptr<detail::client::BrokerHost> host_;
};

} // namespace sessionq::inline v1

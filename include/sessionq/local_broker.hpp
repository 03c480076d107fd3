#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/rule.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

namespace client {
class BrokerHost;
}

/// What a queue of a `LocalBroker` is like; fixed when it is created. An aggregate for designated
/// initialisers; a bad value throws `Error{Errc::invalid_option}` naming the member.
struct QueueOptions {
    /// True: every message names a session, and messages are received by session. False: by
    /// message. Default true.
    bool requires_session{true};

    /// How long a session, or without sessions a message, stays locked unless it is renewed. Range:
    /// over zero, up to 5 minutes. Default 60 s.
    Duration lock_duration{std::chrono::seconds{60}};

    /// How many counted deliveries a message gets before it is dead-lettered. Range: at least 1.
    /// Default 10.
    std::uint32_t max_delivery_count{10};

    /// Upper bound of the messages' own time to live, and its value for those without. Range: over
    /// zero. Unset: unlimited. Default unset.
    std::optional<std::chrono::milliseconds> default_time_to_live{};

    /// True: expired messages go to the dead-letter sub-queue. False: they vanish. Default false.
    bool dead_letter_on_expiration{false};

    /// What all messages of the queue together may take, as estimated by the broker. Zero:
    /// unlimited. Default 0.
    std::uint64_t max_size_bytes{0};

    /// What one message, or the state of one session, may take. Range: over zero. Default 1 MiB.
    std::size_t max_message_bytes{std::size_t{1} << 20U};

    /// How long message ids are remembered; a message that repeats one is accepted and dropped.
    /// Range: over zero, up to 7 days. Unset: not at all. Default unset.
    std::optional<Duration> duplicate_detection_window{};

    /// The queue or topic to which all messages are passed on as they come, instead of being
    /// received here. It must exist and must not lead back here, and `requires_session` must be
    /// false. What cannot be passed on, and what was passed on four times before, is dead-lettered
    /// here. Empty: none. Default empty.
    std::string forward_to{};

    /// The same for messages that are dead-lettered, with or without `requires_session`. What
    /// cannot be passed on stays. Empty: none. Default empty.
    std::string forward_dead_letters_to{};
};

/// What a topic of a `LocalBroker` is like; as for a queue.
struct TopicOptions {
    /// Upper bound of the messages' own time to live in every subscription, and its value for those
    /// without. Range: over zero. Unset: unlimited. Default unset.
    std::optional<std::chrono::milliseconds> default_time_to_live{};

    /// What one message, or the state of one session of a subscription, may take. Range: over zero.
    /// Default 1 MiB.
    std::size_t max_message_bytes{std::size_t{1} << 20U};

    /// How long message ids are remembered; a message that repeats one is accepted and dropped.
    /// Range: over zero, up to 7 days. Unset: not at all. Default unset.
    std::optional<Duration> duplicate_detection_window{};
};

/// What a subscription of a topic is like; a queue's members of the same names say what these mean.
struct SubscriptionOptions {
    bool requires_session{true}; ///< Default true.
    Duration lock_duration{
        std::chrono::seconds{60}};        ///< Range: over zero, up to 5 minutes. Default 60 s.
    std::uint32_t max_delivery_count{10}; ///< Range: at least 1. Default 10.
    std::optional<std::chrono::milliseconds>
        default_time_to_live{};            ///< Range: over zero. Unset: unlimited. Default unset.
    bool dead_letter_on_expiration{false}; ///< Default false.
    std::string forward_to{};              ///< Empty: none. Default empty.
    std::string forward_dead_letters_to{}; ///< Empty: none. Default empty.
    std::vector<Rule> rules{}; ///< What it takes of the topic's messages. Empty: one rule,
                               ///< "$Default", that takes all.
};

/// What a queue or a subscription holds at an instant.
struct QueueCounts {
    std::size_t active{0};          ///< Available to consumers, or with one.
    std::size_t deferred{0};        ///< Set aside.
    std::size_t scheduled{0};       ///< Not yet available.
    std::size_t dead_lettered{0};   ///< In the dead-letter sub-queue.
    std::size_t sessions{0};        ///< With messages, with state, or held.
    std::size_t waiting_accepts{0}; ///< Accepts that wait for a session.
    std::uint64_t bytes{
        0}; ///< Of the messages, without the dead letters; as estimated by the broker.
};

/// Where a `LocalBroker` keeps what it has. An aggregate for designated initialisers.
struct LocalBrokerOptions {
    /// The directory that keeps entities and rules, messages with their delivery counts (deferred
    /// and scheduled ones too), session states and remembered message ids. Made if it is not there.
    /// It belongs to one broker of one process at a time. Empty: all is in memory only. Default
    /// empty.
    std::filesystem::path data_directory{};
};

/// A broker inside this process, with session queues, in memory unless it is told a directory:
/// locks and their expiry, state, deferral, dead-lettering, scheduling, time to live, duplicate
/// detection; topics, and subscriptions that take what their rules let in. `Client::in_process`
/// reaches it. One thread of its own does what falls due, and sleeps otherwise.
///
/// Every queue `name` has a dead-letter sub-queue `name + "/$DeadLetterQueue"`. A subscription is
/// received from as `topic + "/Subscriptions/" + name`, and has one too; its topic is what is sent
/// to. Names are told apart without regard to case. All live until this object and every client of
/// it are gone.
///
/// With a data directory, what a client was told is done (a message sent, cancelled or settled, a
/// state set) outlives the process, however that ends: those answers wait for the disk. Locks do
/// not outlive it: what was in hand is available again, that delivery not counted. A message that
/// is deleted with its delivery is handed out once the disk has it that it is gone: it does not
/// come again. An entity that was kept is taken over, with all that is in it, by whoever creates it
/// anew, with the new options; the others take up their work with the options they had once one of
/// them is asked for, at the latest with the first client. When the disk is full, what needs more
/// of it fails with quota_exceeded (sends, session states, rules, new entities, properties changed
/// by a settlement), and what is there goes on its way: it is received, settled, cancelled, passed
/// on, cleared, deleted.
///
/// No call waits for anybody. Errors: the ones named, as `Error`.
///
/// Thread safety:
/// Distinct objects: safe.
/// Shared objects: safe, except for moving and destroying.
class LocalBroker {
public:
    /// Errors: resource_exhausted (no thread could be started).
    LocalBroker();
    /// Errors: resource_exhausted (also: the directory cannot be made, read or written),
    /// invalid_state (it is in use: by another process, or by a broker of this one or a client of
    /// that), invalid_argument (what is in it is none of sessionq's, or a newer sessionq's),
    /// protocol_error (what is kept cannot be understood, or is damaged). Nothing of it is changed
    /// then.
    explicit LocalBroker(const LocalBrokerOptions& options);
    LocalBroker(LocalBroker&&) noexcept;
    LocalBroker& operator=(LocalBroker&&) noexcept;
    ~LocalBroker();

    /// Errors: invalid_argument (a name has 1 to 260 bytes, no '$', no control characters and no
    /// "/Subscriptions/"), invalid_option (by member; also: it was kept with another
    /// `requires_session`, or as another kind), duplicate_entity, entity_not_found (of a
    /// `forward_to` or `forward_dead_letters_to`), quota_exceeded (the disk is full), server_busy
    /// (the disk refuses).
    void create_queue(const std::string& name, const QueueOptions& options = {});

    /// Removes the queue with all that is in it; who holds or waits for something of it fails with
    /// entity_not_found. Errors: entity_not_found, server_busy (the disk refuses).
    void delete_queue(const std::string& name);

    /// Of queues, and of dead-letter sub-queues of any kind.
    [[nodiscard]] bool queue_exists(const std::string& name) const;

    /// In no particular order, without the dead-letter sub-queues.
    [[nodiscard]] std::vector<std::string> queue_names() const;

    /// Errors: as of `create_queue`, without entity_not_found.
    void create_topic(const std::string& name, const TopicOptions& options = {});

    /// With its subscriptions, as `delete_queue`. Errors: entity_not_found.
    void delete_topic(const std::string& name);

    [[nodiscard]] std::vector<std::string> topic_names() const;

    /// Errors: invalid_argument (the name has 1 to 50 bytes, no '/' and no '$'), invalid_option (by
    /// member, a bad rule among `rules` too), duplicate_entity, entity_not_found (of the topic, or
    /// of a `forward_to` or `forward_dead_letters_to`), quota_exceeded and server_busy as
    /// `create_queue`.
    void create_subscription(const std::string& topic, const std::string& name,
                             const SubscriptionOptions& options = {});

    /// As `delete_queue`.
    void delete_subscription(const std::string& topic, const std::string& name);

    /// Errors: entity_not_found.
    [[nodiscard]] std::vector<std::string> subscription_names(const std::string& topic) const;

    /// Rules, up to 2,000 of a subscription; a change counts from the next message on. Errors:
    /// invalid_argument (names what is wrong with the rule), duplicate_entity (a rule of that
    /// name), quota_exceeded (also: the disk is full), entity_not_found (the subscription, or the
    /// rule to remove), server_busy (the disk refuses).
    void add_rule(const std::string& topic, const std::string& subscription, Rule rule);
    void remove_rule(const std::string& topic, const std::string& subscription,
                     const std::string& rule);
    [[nodiscard]] std::vector<Rule> rules(const std::string& topic,
                                          const std::string& subscription) const;

    /// Also of a dead-letter sub-queue, and of a subscription by its full name. Errors:
    /// entity_not_found.
    [[nodiscard]] QueueCounts counts(const std::string& name) const;

    /// For sessionq's own parts.
    [[nodiscard]] const std::shared_ptr<client::BrokerHost>& host() const noexcept { return host_; }

private:
    std::shared_ptr<client::BrokerHost> host_;
};

} // namespace sessionq

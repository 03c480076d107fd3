#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sessionq/time.hpp>

namespace sessionq {

namespace client {
class BrokerHost;
}

/// What a queue of a `LocalBroker` is like; fixed when it is created. An aggregate for designated initialisers; a bad value throws
/// `Error{Errc::invalid_option}` naming the member.
struct QueueOptions {
    /// True: every message names a session, and messages are received by session. False: by message. Default true.
    bool requires_session{true};

    /// How long a session, or without sessions a message, stays locked unless it is renewed. Range: over zero, up to 5 minutes. Default 60 s.
    Duration lock_duration{std::chrono::seconds{60}};

    /// How many counted deliveries a message gets before it is dead-lettered. Range: at least 1. Default 10.
    std::uint32_t max_delivery_count{10};

    /// Upper bound of the messages' own time to live, and its value for those without. Range: over zero. Unset: unlimited. Default unset.
    std::optional<std::chrono::milliseconds> default_time_to_live{};

    /// True: expired messages go to the dead-letter sub-queue. False: they vanish. Default false.
    bool dead_letter_on_expiration{false};

    /// What all messages of the queue together may take, as estimated by the broker. Zero: unlimited. Default 0.
    std::uint64_t max_size_bytes{0};

    /// What one message, or the state of one session, may take. Range: over zero. Default 1 MiB.
    std::size_t max_message_bytes{std::size_t{1} << 20U};

    /// How long message ids are remembered; a message that repeats one is accepted and dropped. Range: over zero, up to 7 days. Unset: not at all.
    /// Default unset.
    std::optional<Duration> duplicate_detection_window{};
};

/// What a queue holds at an instant.
struct QueueCounts {
    std::size_t active{0};        ///< Available to consumers, or with one.
    std::size_t deferred{0};      ///< Set aside.
    std::size_t scheduled{0};     ///< Not yet available.
    std::size_t dead_lettered{0}; ///< In the dead-letter sub-queue.
    std::size_t sessions{0};      ///< With messages, with state, or held.
    std::size_t waiting_accepts{0};
    std::uint64_t bytes{0}; ///< Of the messages, without the dead letters; as estimated by the broker.
};

/// A broker inside this process, with session queues in memory: locks and their expiry, state, deferral, dead-lettering, scheduling, time to
/// live, duplicate detection. `Client::in_process` reaches it. One thread of its own does what falls due, and sleeps otherwise.
///
/// Every queue `name` has a dead-letter sub-queue `name + "/$DeadLetterQueue"`. The queues live until this object and every client of it are gone.
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
    LocalBroker(LocalBroker&&) noexcept;
    LocalBroker& operator=(LocalBroker&&) noexcept;
    ~LocalBroker();

    /// Errors: invalid_argument (a name has 1 to 260 characters and no '$'), invalid_option, duplicate_entity.
    void create_queue(const std::string& name, const QueueOptions& options = {});

    /// Removes the queue with all that is in it; who holds or waits for something of it fails with entity_not_found. Errors: entity_not_found.
    void delete_queue(const std::string& name);

    [[nodiscard]] bool queue_exists(const std::string& name) const;

    /// In no particular order, without the dead-letter sub-queues.
    [[nodiscard]] std::vector<std::string> queue_names() const;

    /// Also of a dead-letter sub-queue. Errors: entity_not_found.
    [[nodiscard]] QueueCounts counts(const std::string& name) const;

    /// For sessionq's own parts.
    [[nodiscard]] const std::shared_ptr<client::BrokerHost>& host() const noexcept { return host_; }

private:
    std::shared_ptr<client::BrokerHost> host_;
};

} // namespace sessionq

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/error.hpp>
#include <sessionq/time.hpp>

namespace sessionq::broker {

/// What a queue is like. Fixed when it is created.
struct QueueOptions {
    /// Messages carry a session id and are received by session only. Otherwise they are received
    /// one by one.
    bool requires_session{false};

    /// How long a session (or, without sessions, a message) stays locked unless renewed. Above
    /// zero, at most 5 minutes.
    Duration lock_duration{std::chrono::seconds{60}};

    /// How many counted deliveries a message gets before it is dead-lettered. At least 1.
    std::uint32_t max_delivery_count{10};

    /// Upper bound of each message's own time to live, and its value where it names none. Unset:
    /// unlimited. Above zero.
    std::optional<std::chrono::milliseconds> default_time_to_live{};

    /// Expired messages go to the dead-letter sub-queue instead of vanishing.
    bool dead_letter_on_expiration{false};

    /// What all messages together may take, by their own estimate. Zero: unlimited.
    std::uint64_t max_size_bytes{0};

    /// What one message (or the state of a session) may take. Above zero.
    std::size_t max_message_bytes{std::size_t{1} << 20U};

    /// How long message ids are remembered; a message that repeats one is accepted and dropped.
    /// Unset: not at all. Above zero, at most 7 days.
    std::optional<Duration> duplicate_detection_window{};

    /// The queue or topic to which all messages are passed on as they come, rather than be received
    /// here. Empty: none. Not with requires_session.
    std::string forward_to{};

    /// The same for what comes into the dead-letter sub-queue.
    std::string forward_dead_letters_to{};

    friend bool operator==(const QueueOptions&, const QueueOptions&) = default;
};

/// What a topic is like; the members as of a queue.
struct TopicOptions {
    std::optional<std::chrono::milliseconds> default_time_to_live{};
    std::size_t max_message_bytes{std::size_t{1} << 20U};
    std::optional<Duration> duplicate_detection_window{};
};

/// What messages can do in an entity. A subscription takes them from its topic only; a topic hands
/// them to its subscriptions only.
enum class EntityKind : std::uint8_t { queue, topic, subscription };

/// The first member that is out of range, as an `invalid_option` naming it.
[[nodiscard]] std::optional<Failure> find_fault(const QueueOptions& options);

} // namespace sessionq::broker

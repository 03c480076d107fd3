// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <sessionq/error.hpp>
#include <sessionq/message_order.hpp>
#include <sessionq/time.hpp>

namespace sessionq::broker {

/// The properties of a queue, fixed when it is created.
struct QueueOptions {
    /// Messages carry a session id and are received by session. Otherwise they are received one by
    /// one.
    bool requires_session{false};

    /// How long a session stays locked unless its lock is renewed. Without sessions: how long a
    /// message does. Above zero, at most 5 minutes.
    Duration lock_duration{std::chrono::seconds{60}};

    /// How many counted deliveries a message gets before it is dead-lettered. At least 1.
    std::uint32_t max_delivery_count{10};

    /// The maximum time to live of a message, and the default for messages without one. Above zero.
    /// Unset: unlimited.
    std::optional<std::chrono::milliseconds> default_time_to_live{};

    /// Expired messages are dead-lettered instead of deleted.
    bool dead_letter_on_expiration{false};

    /// The maximum total size of all messages, dead-lettered ones too, of the sessions' states, and
    /// of the message ids that duplicate detection remembers, all by estimate (`StoredBytes`).
    /// Zero: unlimited.
    std::uint64_t max_size_bytes{0};

    /// The maximum size of one message, or of a session's state. Above zero.
    std::size_t max_message_bytes{std::size_t{1} << 20U};

    /// How long message ids are remembered. A message with a remembered id is accepted and dropped.
    /// Above zero, at most 7 days. Unset: no duplicate detection.
    std::optional<Duration> duplicate_detection_window{};

    /// The queue or topic to which all messages are forwarded; nothing can be received here then.
    /// Empty: no forwarding. Not with requires_session.
    std::string forward_to{};

    /// The same for messages that arrive in the dead-letter sub-queue.
    std::string forward_dead_letters_to{};

    /// The order in which messages are delivered. With requires_session: arrival only. The
    /// dead-letter sub-queue is always in the order of arrival.
    MessageOrder order{MessageOrder::arrival};

    /// The application property to order by; see the public `QueueOptions`. Empty unless that is
    /// the order.
    std::string order_property{};

    friend bool operator==(const QueueOptions&, const QueueOptions&) = default;
};

/// The properties of a topic. The members mean the same as in `QueueOptions`.
struct TopicOptions {
    std::optional<std::chrono::milliseconds> default_time_to_live{};
    /// Ids count too, and all bytes in the subscriptions and their dead-letter sub-queues, each
    /// copy. The last send may exceed it by the contents of its further copies.
    std::uint64_t max_size_bytes{0};
    std::size_t max_message_bytes{std::size_t{1} << 20U};
    std::optional<Duration> duplicate_detection_window{};

    friend bool operator==(const TopicOptions&, const TopicOptions&) = default;
};

/// The kind of an entity. A subscription gets messages from its topic only. A topic passes messages
/// to its subscriptions only.
enum class EntityKind : std::uint8_t { queue, topic, subscription };

/// The most bytes of several messages that are sent together. Azure Service Bus takes at most 1 MB
/// of them, also where one message may be larger (azure-sdk-for-net#25381).
[[nodiscard]] constexpr std::uint64_t max_batch_bytes(const QueueOptions& options) noexcept {
    return std::min<std::uint64_t>(options.max_message_bytes, std::uint64_t{1} << 20U);
}

/// Returns an `invalid_option` that names the first member out of range, if there is one.
[[nodiscard]] std::optional<Failure> find_fault(const QueueOptions& options);

} // namespace sessionq::broker

// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sessionq/amqp_value.hpp>
#include <sessionq/deadline.hpp>
#include <sessionq/lock_token.hpp>
#include <sessionq/property_value.hpp>
#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// The form of a message's body in AMQP. `Message::body` is sent as one data section,
/// `Message::value` as a value, `Message::sequence` as one sequence.
///
/// Example:
///
///     if (auto message = receiver.receive_one(std::chrono::seconds{1})) {
///         const bool is_value = message->message().body_kind() == BodyKind::value;
///         std::cout << (is_value ? "a value" : message->text()) << '\n';
///     }
enum class BodyKind : std::uint8_t {
    none,
    data,         ///< Bytes.
    several_data, ///< Bytes in several sections. `ReceivedMessage::body` joins them.
    sequence,     ///< Lists. `ReceivedMessage::sequence` reads them and joins them.
                  ///< `ReceivedMessage::body` shows them encoded.
    value,        ///< One value. `ReceivedMessage::value` reads it. `ReceivedMessage::body` shows a
                  ///< text or bytes as they are, null as nothing, and any other value encoded.
};

/// For example "several_data".
[[nodiscard]] std::string_view to_string(BodyKind kind) noexcept;

/// Writes `to_string(kind)`.
std::ostream& operator<<(std::ostream& out, BodyKind kind);

/// Application properties by name, ordered.
using Properties = std::map<std::string, PropertyValue, std::less<>>;

/// A message as an application makes it. An aggregate for designated initialisers. An empty text
/// means unset, except for `session_id`. Azure Service Bus documents the limits of the ids.
///
/// All texts but the body must be UTF-8, also the names and texts of `properties`. Sending fails
/// with invalid_argument otherwise, which names the member.
///
/// Thread safety: distinct objects are safe, a shared object is safe to read.
struct Message {
    /// Opaque bytes. Text is UTF-8 by convention. Empty if `value` or `sequence` is set.
    std::string body{};

    /// The body as one value of AMQP, in place of `body`. Clients of JMS send and expect it: a
    /// string is their TextMessage, a map whose keys are strings is their MapMessage. Such a map
    /// carries the annotation `x-opt-jms-msg-type`, by which they know it. Texts must be UTF-8.
    /// Lists and maps nest up to 32 deep. Unset: the body is not a value.
    ///
    /// In a received message it is unset if sessionq cannot decode the value. Its bytes are in
    /// `body` then.
    std::optional<AmqpValue> value{};

    /// The body as a list of values in AMQP's sequence section, in place of `body`. It is the
    /// StreamMessage of JMS, and carries the annotation `x-opt-jms-msg-type`. The limits are those
    /// of `value`. Unset: the body is not a sequence.
    ///
    /// In a received message it is unset if sessionq cannot decode the sequence. Its bytes are in
    /// `body` then.
    std::optional<AmqpList> sequence{};

    /// UTF-8. Range: up to 128 characters. Empty is a valid id. Unset: for entities without
    /// sessions.
    ///
    /// On Azure Service Bus, and so on `LocalBroker` and `sessionqd`, ids that differ in case only
    /// are one session (azure-sdk-for-java pull 48759, durabletask pull 1334). Each message keeps
    /// the id as it was sent. Beyond ASCII, letters with a simple upper case in Unicode 14 count
    /// too; whether Azure does the same is not known. Message groups are told apart by case.
    std::optional<std::string> session_id{};

    /// UTF-8. Range: up to 128 characters. Empty: `Sender` makes a UUID.
    std::string message_id{};

    std::string subject{}; ///< Also called label.
    std::string correlation_id{};
    std::string reply_to{};
    std::string reply_to_session_id{}; ///< UTF-8. Range: up to 128 characters.
    std::string to{};
    std::string content_type{};

    /// Messages with the same key go to the same partition of a partitioned entity. UTF-8. Range:
    /// up to 128 characters. With a session id it must be equal to it. Brokers without partitions
    /// only carry it. Empty: the session id is the key, if there is one.
    std::string partition_key{};

    /// Azure Service Bus, and so `sessionqd`, refuses a message with a binary value
    /// (message_too_large; azure-sdk-for-python#30140), with a value of more than 32 KB
    /// (connection_lost, as if it were an error of the broker; azure-sdk-for-net#15325), or with
    /// more than 64 KB of properties (message_too_large; rebus-org/Rebus.AzureServiceBus#35).
    /// Bytes can travel as Base64 text.
    Properties properties{};

    /// Range: over zero. Unset: the entity's default.
    std::optional<std::chrono::milliseconds> time_to_live{};

    /// AMQP's header field. `LocalBroker` and `sessionqd` deliver a message with a higher one first
    /// in queues of `MessageOrder::priority`, and only carry it in others. Range: 0 to 255. Zero:
    /// the lowest. Default 4.
    std::uint8_t priority{4};

    /// When the message becomes available. Unset or past: at once. `WallTime::max()`: the end of
    /// year 9999.
    std::optional<WallTime> scheduled_enqueue_time{};

    /// By when the message should be handled. It travels as the time left, and the consumer's
    /// handler runs under it. `ReceivedMessage::deadline` tells it at the consumer. A message that
    /// is sent within a request has the request's deadline if that is sooner (`Sender`). Default:
    /// never.
    Deadline deadline{};

    /// Returns a message with this body. `Message::of("hello").in_session("ada")` has a session
    /// too.
    [[nodiscard]] static Message of(std::string_view text) {
        Message made;
        made.body = text;
        return made;
    }

    /// Returns a message whose body is this value. `Message::of_value("hello")` is a TextMessage of
    /// JMS.
    [[nodiscard]] static Message of_value(AmqpValue value) {
        Message made;
        made.value.emplace(std::move(value));
        return made;
    }

    /// Returns a message whose body is a sequence of these values.
    [[nodiscard]] static Message of_sequence(AmqpList items) {
        Message made;
        made.sequence.emplace(std::move(items));
        return made;
    }

    /// Sets `session_id`. Returns this message.
    Message& in_session(std::string_view id) & {
        session_id.emplace(id);
        return *this;
    }
    /// Sets `session_id` of a message that has no name yet, and returns that message: it can be
    /// sent or returned as it is.
    [[nodiscard]] Message&& in_session(std::string_view id) && {
        session_id.emplace(id);
        return std::move(*this);
    }

    /// Whether all members are equal. Properties compare as `PropertyValue` does: an int and a long
    /// of the same size are equal.
    friend bool operator==(const Message&, const Message&) = default;
};

/// Why a message is in a dead-letter queue.
struct DeadLetterInfo {
    std::string reason{};
    std::string description{};

    /// The queue or subscription where it was dead-lettered. Set once it has been forwarded from
    /// the dead-letter queue there.
    std::string source{};
};

/// The state of a message in its entity.
///
/// Example:
///
///     for (const ReceivedMessage& message : Browser{client, "orders"}) {
///         if (message.facts().state == MessageState::scheduled) {
///             std::cout << message.sequence_number() << '\n';
///         }
///     }
enum class MessageState : std::uint8_t {
    active,    ///< Available to consumers, or locked by one.
    deferred,  ///< Set aside until a receiver asks for its sequence number.
    scheduled, ///< Not yet available.
};

/// For example "scheduled".
[[nodiscard]] std::string_view to_string(MessageState state) noexcept;

/// Writes `to_string(state)`.
std::ostream& operator<<(std::ostream& out, MessageState state);

/// The broker's facts about one delivery of a message.
///
/// Example:
///
///     Browser browser{client, "orders", {.sub_queue = SubQueue::dead_letter}};
///     for (const ReceivedMessage& letter : browser) {
///         const DeliveryFacts& facts = letter.facts();
///         if (const std::shared_ptr<const DeadLetterInfo> why = facts.dead_letter) {
///             std::cout << facts.delivery_count << " deliveries: " << why->reason << '\n';
///         }
///     }
struct DeliveryFacts {
    /// The broker assigns it. It rises within an entity.
    std::int64_t sequence_number{0};

    /// Number of earlier deliveries that the broker counted. Zero: this is the first. (AMQP's
    /// delivery-count)
    std::uint32_t delivery_count{0};

    WallTime enqueued_time{}; ///< By the broker's clock.

    /// By the broker's clock. Unset: never. `is_beyond`: later than `WallTime` can tell.
    std::optional<WallTime> expires_at{};

    /// Set in a dead-letter queue, and on messages forwarded from one. Else null.
    std::shared_ptr<const DeadLetterInfo> dead_letter{};
    MessageState state{MessageState::active};
    bool redelivered{false}; ///< A consumer may have received it before.

    /// By when the message should be handled, on this process's clock. Default: never.
    Deadline deadline{};

    /// Its sequence number in the first entity, if it was forwarded from there. Zero: it was not,
    /// or the broker does not tell.
    std::int64_t enqueued_sequence_number{0};

    /// Of its lock. Unset: it is not locked, or the broker does not name locks. Azure Service Bus
    /// and `sessionqd` do.
    std::optional<LockToken> lock_token{};
};

} // namespace sessionq::inline v1

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sessionq/deadline.hpp>
#include <sessionq/time.hpp>

namespace sessionq {

/// The value of an application property; `std::monostate` is AMQP's null. A property of an AMQP
/// type that is none of these is received as the nearest.
using PropertyValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
                                   std::string, WallTime, std::vector<std::byte>>;

/// Application properties by name, ordered.
using Properties = std::map<std::string, PropertyValue, std::less<>>;

/// A message as an application makes it. An aggregate: use designated initialisers. An empty text
/// is an unset one, but for `session_id`. The limits of ids are those documented for Azure Service
/// Bus.
///
/// Thread safety: distinct objects are safe; a shared object is safe to read.
struct Message {
    std::string body{};                      ///< Opaque bytes; text by convention UTF-8.
    std::optional<std::string> session_id{}; ///< Up to 128 characters. Unset: for entities without
                                             ///< sessions. Empty is a valid id.
    std::string
        message_id{};      ///< Up to 128 characters; empty: sessionq makes a UUID when it is sent.
    std::string subject{}; ///< Also called label.
    std::string correlation_id{};
    std::string reply_to{};
    std::string reply_to_session_id{}; ///< Up to 128 characters.
    std::string to{};
    std::string content_type{};
    Properties properties{};
    std::optional<std::chrono::milliseconds>
        time_to_live{}; ///< Unset: the entity's default. Must be positive.
    std::optional<WallTime> scheduled_enqueue_time{}; ///< Unset or past: available at once.
    Deadline deadline{}; ///< R22: travels with the message, as what is left of it; the consumer's
                         ///< handler runs under it.

    /// A message with a body for a session: the common case.
    [[nodiscard]] static Message text(std::string_view session_id, std::string_view body) {
        Message made;
        made.session_id.emplace(session_id);
        made.body = body;
        return made;
    }
};

/// Why a message is in a dead-letter sub-queue.
struct DeadLetterInfo {
    std::string reason{};
    std::string description{};
};

/// Which life a message leads in its entity.
enum class MessageState : std::uint8_t {
    active,    ///< Available to consumers, or with one.
    deferred,  ///< Set aside until it is asked for by its sequence number.
    scheduled, ///< Not yet available.
};

/// What the broker says of one delivery of a message.
struct DeliveryFacts {
    std::int64_t sequence_number{0}; ///< Assigned by the broker; rises within an entity.
    std::uint32_t delivery_count{0}; ///< How often it was delivered before and came back counted; 0
                                     ///< at first. (AMQP's delivery-count)
    WallTime enqueued_time{};        ///< By the broker's clock.
    std::optional<WallTime> expires_at{}; ///< By the broker's clock. Unset: it does not expire.
    std::optional<DeadLetterInfo> dead_letter{}; ///< Set in a dead-letter sub-queue.
    MessageState state{MessageState::active};
    bool redelivered{false}; ///< May have been handed to a consumer before.
};

} // namespace sessionq

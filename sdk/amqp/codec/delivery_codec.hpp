// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sessionq/received_message.hpp>

#include "amqp/codec/encoded_content.hpp"
#include "core/result.hpp"
#include "core/uuid.hpp"

namespace sessionq::amqp {

/// Facts that a broker adds to a message that it delivers or shows.
struct DeliveryNotes {
    const DeliveryFacts& facts;
    std::optional<WallTime> locked_until{};
    std::optional<core::Uuid> lock_token{}; ///< of a locked message
    bool holder_lost{false}; ///< an earlier holder of the session had it and was lost
};

/// The application properties that say why a message is a dead letter.
inline constexpr std::string_view dead_letter_reason = "DeadLetterReason";
inline constexpr std::string_view dead_letter_description = "DeadLetterErrorDescription";
[[nodiscard]] bool is_dead_letter_name(std::string_view property) noexcept;

/// Whether only the broker sets this annotation, so that it belongs to one delivery.
[[nodiscard]] bool is_set_by_brokers(std::string_view annotation) noexcept;

/// Encodes a message as a broker delivers it. There is always a header, and annotations have the
/// types that clients expect. Of a message from the wire, properties, application properties and
/// body are kept byte for byte, and so are the sender's annotations.
[[nodiscard]] std::string encode_delivery(const MessageContent& content, const DeliveryNotes& notes,
                                          const ClockReading& at);

/// Encodes in two parts, so that the unchanged part is not copied. `head` is overwritten with the
/// first part. The result is the second part and lives as long as `content`.
[[nodiscard]] std::string_view encode_delivery(const MessageContent& content,
                                               const DeliveryNotes& notes, const ClockReading& at,
                                               std::string& head);

/// A delivery as a client received it.
struct ReceivedDelivery {
    std::shared_ptr<const EncodedContent> content{};
    DeliveryFacts facts{};
    std::optional<WallTime> locked_until{};
    std::optional<core::Uuid> lock_token{};
    bool holder_lost{false};
};

/// Decodes a delivery that came at `at`. Its wall clock is the broker's: a time that has passed
/// there. The bytes are copied. Fails with protocol_error.
[[nodiscard]] core::Result<ReceivedDelivery> decode_delivery(std::string_view encoded,
                                                             const ClockReading& at);

} // namespace sessionq::amqp

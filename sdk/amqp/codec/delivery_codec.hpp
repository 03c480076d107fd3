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

/// What a broker adds to a message that it delivers or shows.
struct DeliveryNotes {
    const DeliveryFacts& facts;
    std::optional<WallTime> locked_until{};
    std::optional<core::Uuid>
        lock_token{}; ///< where the delivery tag cannot say it: deferred messages
    std::string_view dead_letter_source{};
};

/// A message as a broker delivers it: always with a header, annotations typed as clients insist on;
/// of what came over a wire, properties, application properties and body byte for byte, and the
/// sender's own annotations.
[[nodiscard]] std::string encode_delivery(const MessageContent& content, const DeliveryNotes& notes,
                                          const ClockReading& at);

/// The same in two pieces, so that what passes byte for byte need not be copied: `head` gets what
/// comes first, in place of what it held; what follows it is answered with, and lives as long as
/// `content`.
[[nodiscard]] std::string_view encode_delivery(const MessageContent& content,
                                               const DeliveryNotes& notes, const ClockReading& at,
                                               std::string& head);

/// A delivery as a client received it.
struct ReceivedDelivery {
    std::shared_ptr<const EncodedContent> content{};
    DeliveryFacts facts{};
    std::optional<WallTime> locked_until{};
    std::optional<core::Uuid> lock_token{};
};

/// Fails with protocol_error.
[[nodiscard]] core::Result<ReceivedDelivery> decode_delivery(EncodedContent::Blank filled,
                                                             const ClockReading& at);
/// Of a copy.
[[nodiscard]] core::Result<ReceivedDelivery> decode_delivery(std::string_view encoded,
                                                             const ClockReading& at);

} // namespace sessionq::amqp

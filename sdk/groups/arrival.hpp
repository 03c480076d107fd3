// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/engine/link.hpp"

namespace sessionq::groups {

struct ReceiverContext;

/// A decoded message, and the broker's facts about the message's group. `take_arrival` makes an
/// arrival from each delivery of a receiver link.
struct Arrival {
    amqp::ReceivedDelivery received{};
    std::string group{}; ///< Empty: the group of all messages without a group id.
    std::optional<std::int64_t> group_sequence{}; ///< If the sender set one.
    /// The broker marks the message as the first since it dealt the group to this link.
    bool dealt_anew{false};
};

/// Reads a message that came over a receiver link. If the message cannot be decoded, rejects it and
/// returns nothing. Marks the message as redelivered if it came earlier, and the connection was
/// lost while the message's settlement was unanswered.
[[nodiscard]] std::optional<Arrival> take_arrival(ReceiverContext& context,
                                                  amqp::DeliveryHandle delivery,
                                                  std::string_view encoded);

} // namespace sessionq::groups

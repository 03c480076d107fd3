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

/// A message as it arrived over a receiver link.
struct Arrival {
    amqp::ReceivedDelivery received{};
    std::string group{}; ///< Messages without a group id are a group of their own.
    std::optional<std::int64_t> group_sequence{}; ///< If the sender set one.
    /// The first of its group since the broker dealt the group to this link.
    bool dealt_anew{false};
};

/// Reads a message that came over a receiver link. Marks it as redelivered if the connection was
/// lost before its settlement was answered. Rejects a message that cannot be decoded, and returns
/// nothing.
[[nodiscard]] std::optional<Arrival> take_arrival(ReceiverContext& context,
                                                  amqp::DeliveryHandle delivery,
                                                  std::string_view encoded);

} // namespace sessionq::groups

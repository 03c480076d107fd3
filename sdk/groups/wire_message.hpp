// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sessionq/message.hpp>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::groups {

/// The most bytes that `encode_for_broker` adds to a message: a header, if the message has none.
inline constexpr std::uint32_t most_beside_message = 20;

/// Encodes a message for a broker with message groups. The message is durable, because these
/// brokers keep only durable messages across a restart. `delivery_time` names the annotation that
/// schedules a message, in milliseconds since the Unix epoch.
[[nodiscard]] std::string encode_for_broker(const Message& message, std::string_view delivery_time,
                                            const amqp::ClockReading& at);

} // namespace sessionq::groups

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <sessionq/message.hpp>

#include "amqp/codec/encoded_content.hpp"

namespace sessionq::groups {

/// The most that this form adds to a message: a header, if it has none.
inline constexpr std::uint32_t most_beside_message = 20;

/// A message as these brokers take it: durable, because they keep no others across a restart. The
/// annotation of this name schedules it, in milliseconds since the Unix epoch.
[[nodiscard]] std::string encode_for_broker(const Message& message, std::string_view delivery_time,
                                            const amqp::ClockReading& at);

} // namespace sessionq::groups

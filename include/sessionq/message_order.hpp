// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace sessionq::inline v1 {

/// The order in which a queue or subscription without sessions delivers its messages. A message
/// that returns to the queue has its place in that order again.
enum class MessageOrder : std::uint8_t {
    arrival,  ///< In the order of the sequence numbers.
    priority, ///< The highest `Message::priority` first, and by arrival among equals.
    property, ///< By the value of an application property, see `QueueOptions::order_property`.
};

/// For example "arrival".
[[nodiscard]] std::string_view to_string(MessageOrder order) noexcept;

/// Writes `to_string(order)`.
std::ostream& operator<<(std::ostream& out, MessageOrder order);

} // namespace sessionq::inline v1

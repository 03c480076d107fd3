// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <sessionq/received_message.hpp>

#include "broker/delivery_table.hpp"

namespace sessionq::broker {

/// A message as delivered to a consumer.
struct Delivered {
    DeliveryTable::Token token{0}; ///< settles the message; unused in receive-and-delete mode
    ReceivedMessage message{};
    std::uint32_t bytes{0}; ///< its share of a byte budget
    /// An earlier holder had it and ended without a word: its connection or its lock was lost. Kept
    /// in memory only.
    bool holder_lost{false};
};

} // namespace sessionq::broker

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <sessionq/error.hpp>
#include <sessionq/message.hpp>

#include "broker/delivery_table.hpp"

namespace sessionq::broker {

/// How a received message is settled.
enum class Outcome : std::uint8_t {
    complete,    ///< removed
    abandon,     ///< available again in its position, delivery counted
    release,     ///< available again in its position, delivery not counted
    defer,       ///< set aside until asked for by sequence number
    dead_letter, ///< moved to the dead-letter sub-queue
};

/// The most bytes of the reason and the description of a dead letter, together. Clients get them as
/// properties of the message, beside the properties that it may have by itself.
inline constexpr std::size_t most_reason_bytes = std::size_t{256} << 10U;

/// Changes to the message that come with a settlement.
struct Changes {
    /// Why it is dead-lettered. Shared by all messages of one settlement. Null: no reason.
    std::shared_ptr<const DeadLetterInfo> dead_letter{};
    Properties properties{}; ///< merged into the message's own by abandon, defer and dead_letter
    /// Some of `properties` in their wire form, for contents that arrived over the wire.
    std::map<std::string, std::string, std::less<>> encoded{};
};

/// One settlement of a batch, and its result.
struct SettleOrder {
    DeliveryTable::Token token{0};
    Outcome outcome{Outcome::complete};
    const Changes* changes{nullptr};   ///< null: none
    std::optional<Errc> failed_with{}; ///< the result; unset: settled
};

} // namespace sessionq::broker

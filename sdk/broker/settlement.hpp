#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <sessionq/error.hpp>
#include <sessionq/message.hpp>

#include "broker/delivery_table.hpp"

namespace sessionq::broker {

/// What becomes of a message in hand.
enum class Outcome : std::uint8_t {
    complete,    ///< gone
    abandon,     ///< available again in its position, counted
    release,     ///< the same, not counted
    defer,       ///< set aside
    dead_letter, ///< to the dead-letter sub-queue
};

/// What else a settlement changes.
struct Changes {
    DeadLetterInfo dead_letter{};
    Properties properties{}; ///< merged into the message's own by abandon, defer and dead_letter
    std::map<std::string, std::string, std::less<>>
        encoded{}; ///< some of them as they came over the wire, for content that did
};

/// One settlement of a batch, and how it went.
struct SettleOrder {
    DeliveryTable::Token token{0};
    Outcome outcome{Outcome::complete};
    const Changes* changes{nullptr};   ///< null: none
    std::optional<Errc> failed_with{}; ///< the answer; unset: done
};

} // namespace sessionq::broker

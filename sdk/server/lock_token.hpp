#pragma once

#include <cstdint>

#include "broker/delivery_table.hpp"
#include "core/uuid.hpp"

namespace sessionq::server {

/// The broker's token of a message in hand as clients see it: a UUID.
struct LockToken {
    std::uint64_t holder{0}; ///< whose hand, by a number made at random
    broker::DeliveryTable::Token token{0};

    [[nodiscard]] static LockToken of(const core::Uuid& uuid) noexcept {
        return {.holder = uuid.high(), .token = uuid.low()};
    }
    [[nodiscard]] core::Uuid uuid() const noexcept { return core::Uuid::of(holder, token); }

    friend bool operator==(const LockToken&, const LockToken&) = default;
};

/// A new number for a hand.
[[nodiscard]] inline std::uint64_t make_holder_number() { return core::Uuid::make().high(); }

} // namespace sessionq::server

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "broker/delivery_table.hpp"
#include "core/uuid.hpp"

namespace sessionq::server {

/// The lock token of a message as clients see it: a UUID of holder and broker token.
struct LockToken {
    std::uint64_t holder{0}; ///< a random number that names the holder
    broker::DeliveryTable::Token token{0};

    [[nodiscard]] static LockToken of(const core::Uuid& uuid) noexcept {
        return {.holder = uuid.high(), .token = uuid.low()};
    }
    [[nodiscard]] core::Uuid uuid() const noexcept { return core::Uuid::of(holder, token); }

    friend bool operator==(const LockToken&, const LockToken&) = default;
};

/// Returns the number for a new holder.
[[nodiscard]] inline std::uint64_t make_holder_number() { return core::Uuid::make().high(); }

} // namespace sessionq::server

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <sessionq/time.hpp>

#include "core/uuid.hpp"

namespace sessionq::amqp {

/// A lock token as a delivery tag: the UUID with its first three fields in little-endian order,
/// like a .NET GUID. Message annotations and management requests use the usual order. Observed with
/// Azure Service Bus.
using TokenTag = std::array<char, 16>;

[[nodiscard]] TokenTag tag_of(const core::Uuid& token) noexcept;
/// Returns nothing if the tag is not 16 bytes long.
[[nodiscard]] std::optional<core::Uuid> token_of(std::string_view tag) noexcept;

/// Converts to 100-nanosecond ticks since the year 1. Azure Service Bus reports the end of a
/// session lock so.
[[nodiscard]] std::int64_t ticks_of(WallTime time) noexcept;
[[nodiscard]] WallTime time_of(std::int64_t ticks) noexcept;

/// The link property in which `sessionqd` tells its time, in ticks, when it grants a session.
inline constexpr std::string_view broker_time = "sessionq:time";

} // namespace sessionq::amqp

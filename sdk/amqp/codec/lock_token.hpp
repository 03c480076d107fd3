#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <sessionq/time.hpp>

#include "core/uuid.hpp"

namespace sessionq::amqp {

/// A lock token as a delivery tag: the same UUID with its first three fields in little-endian
/// order, as .NET lays a GUID out. In message annotations and management requests it is in the
/// usual order (observed of Azure Service Bus).
using TokenTag = std::array<char, 16>;

[[nodiscard]] TokenTag tag_of(const core::Uuid& token) noexcept;
/// Nothing if the tag is not 16 bytes long.
[[nodiscard]] std::optional<core::Uuid> token_of(std::string_view tag) noexcept;

/// 100-nanosecond steps since the year 1, in which Azure Service Bus says how long a session is
/// locked.
[[nodiscard]] std::int64_t ticks_of(WallTime time) noexcept;
[[nodiscard]] WallTime time_of(std::int64_t ticks) noexcept;

} // namespace sessionq::amqp

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace sessionq::inline v1 {

/// How a broker reacts at the start if its stored data is damaged.
enum class OnDamage : std::uint8_t {
    /// It does not start. The error names the first damages. The files do not change.
    refuse,
    /// It keeps the damaged files under the name `sessionq.db.damaged-<n>`, serves all entities and
    /// messages that are sound, and logs each damage and how much is missing. A message that was
    /// removed before can come back.
    set_aside,
};

/// For example "set_aside".
[[nodiscard]] std::string_view to_string(OnDamage reaction) noexcept;

/// Writes `to_string(reaction)`.
std::ostream& operator<<(std::ostream& out, OnDamage reaction);

} // namespace sessionq::inline v1

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq {

/// How a broker reacts at the start if its stored data is damaged.
enum class OnDamage : std::uint8_t {
    /// It does not start. The error names the first damages. The files do not change.
    refuse,
    /// It keeps the damaged files under the name `sessionq.db.damaged-<n>`, serves all entities and
    /// messages that are sound, and logs each damage and how much is missing. A message that was
    /// removed before can come back.
    set_aside,
};

} // namespace sessionq

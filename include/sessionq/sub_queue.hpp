// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq {

/// Which queue of an entity is meant: the entity itself, or a sub-queue that the broker keeps for
/// it. The text form works too: "orders/$DeadLetterQueue", "orders/$Transfer/$DeadLetterQueue". A
/// sub-queue has no sessions, even if its entity has.
enum class SubQueue : std::uint8_t {
    none,                 ///< the entity itself
    dead_letter,          ///< messages that consumers or the broker have set aside
    transfer_dead_letter, ///< messages that the broker could not forward to another entity
};

} // namespace sessionq

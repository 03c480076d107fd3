// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace sessionq::inline v1 {

/// Which queue of an entity is meant: the entity itself, or a sub-queue that the broker keeps for
/// it. The text form works too: "orders/$DeadLetterQueue", "orders/$Transfer/$DeadLetterQueue". A
/// sub-queue has no sessions, even if its entity has.
enum class SubQueue : std::uint8_t {
    none,                 ///< the entity itself
    dead_letter,          ///< messages that consumers or the broker have set aside
    transfer_dead_letter, ///< messages that the broker could not forward to another entity
};

/// For example "transfer_dead_letter".
[[nodiscard]] std::string_view to_string(SubQueue queue) noexcept;

/// Writes `to_string(queue)`.
std::ostream& operator<<(std::ostream& out, SubQueue queue);

} // namespace sessionq::inline v1

// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace sessionq::detail::processor {

/// The state of a slot and the thing that the slot waits for, in the words of `SlotDescription`. If
/// `waits_for` is empty, the slot waits for nothing. R16 forbids this for an active slot.
struct SlotStatus {
    std::string_view state{};
    std::string_view waits_for{};
};

} // namespace sessionq::detail::processor

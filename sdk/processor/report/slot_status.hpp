// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace sessionq::processor {

/// The state of a slot and the thing that it waits for, in the words of `SlotDescription`. An empty
/// `waits_for` means that it waits for nothing. R16 forbids that to an active slot.
struct SlotStatus {
    std::string_view state{};
    std::string_view waits_for{};
};

} // namespace sessionq::processor

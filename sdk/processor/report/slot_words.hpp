// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace sessionq::processor {

/// What a slot does and what it waits for, as `SlotDescription` shows it. Empty: it waits for
/// nothing, which R16 forbids an active slot.
struct SlotWords {
    std::string_view state{};
    std::string_view waits_for{};
};

} // namespace sessionq::processor

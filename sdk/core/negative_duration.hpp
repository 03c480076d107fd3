// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace sessionq::core {

/// What an error says of a negative duration. It may be a long one that overflowed when it became a
/// `Duration`.
inline constexpr std::string_view not_negative =
    "must not be negative (Duration::max() is without end; a longer duration overflows)";

} // namespace sessionq::core

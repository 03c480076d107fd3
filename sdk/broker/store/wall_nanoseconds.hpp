// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

#include <sessionq/time.hpp>

namespace sessionq::broker {

// Converts instants to and from the numbers that a store holds.
[[nodiscard]] inline std::int64_t nanoseconds_of(WallTime time) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}
[[nodiscard]] inline WallTime wall_of(std::int64_t nanoseconds) noexcept {
    return WallTime{
        std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds{nanoseconds})};
}

} // namespace sessionq::broker

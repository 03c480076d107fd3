// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::core {

/// The source of time for drivers. Code below a driver takes `now` as an argument instead.
class Clock {
public:
    virtual ~Clock() = default;

    [[nodiscard]] virtual TimePoint now() const noexcept = 0;
    /// The time of the operating system's last clock tick, a few milliseconds old at most. Several
    /// times cheaper than `now`, for callers on a hot path.
    [[nodiscard]] virtual TimePoint coarse_now() const noexcept { return now(); }
    [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
};

/// The machine's clocks. No other code reads them. Thread-safe.
[[nodiscard]] const Clock& system_clock() noexcept;

} // namespace sessionq::core

#pragma once

#include <sessionq/time.hpp>

namespace sessionq::core {

/// Where a driver reads time. Everything below a driver takes `now` as an argument instead.
class Clock {
public:
    virtual ~Clock() = default;

    [[nodiscard]] virtual TimePoint now() const noexcept = 0;
    /// `now` as of the last tick of the operating system's clock, at most some milliseconds ago:
    /// several times cheaper, for whoever asks a million times a second.
    [[nodiscard]] virtual TimePoint coarse_now() const noexcept { return now(); }
    [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
};

/// The machine's clocks. The only place in the tree that reads them. Thread-safe.
[[nodiscard]] const Clock& system_clock() noexcept;

} // namespace sessionq::core

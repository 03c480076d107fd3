#pragma once

#include <sessionq/time.hpp>

namespace sessionq::core {

/// Where a driver reads time. Everything below a driver takes `now` as an argument instead.
class Clock {
public:
    virtual ~Clock() = default;

    [[nodiscard]] virtual TimePoint now() const noexcept = 0;
    [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;
};

/// The machine's clocks. The only place in the tree that reads them. Thread-safe.
[[nodiscard]] const Clock& system_clock() noexcept;

} // namespace sessionq::core

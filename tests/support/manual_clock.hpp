// SPDX-License-Identifier: MIT
#pragma once

#include "core/clock.hpp"

namespace sessionq::test {

/// A clock that the test advances. It starts at an instant other than zero.
class ManualClock final : public core::Clock {
public:
    [[nodiscard]] TimePoint now() const noexcept override { return now_; }
    [[nodiscard]] WallTime wall_now() const noexcept override {
        return WallTime{std::chrono::duration_cast<WallTime::duration>(now_.time_since_epoch())} +
               wall_offset_;
    }

    void advance(Duration length) noexcept { now_ += length; }
    void set(TimePoint now) noexcept { now_ = now; }
    void step_wall_clock(WallTime::duration step) noexcept { wall_offset_ += step; }

private:
    TimePoint now_{std::chrono::hours{1}};
    WallTime::duration wall_offset_{std::chrono::hours{24 * 365 * 50}};
};

} // namespace sessionq::test

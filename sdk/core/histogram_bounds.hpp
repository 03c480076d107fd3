// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>

#include <sessionq/time.hpp>

namespace sessionq::core {

/// The buckets of rendered histograms, in seconds. From 5 ms to 10 s those that OpenTelemetry's
/// conventions recommend.
inline constexpr std::array<double, 26> histogram_bounds{
    1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1,
    0.25, 0.5,  0.75, 1,      2.5,  5,     7.5,    10,    30,   60,    300,  1800,  3600};

[[nodiscard]] inline Duration length_of(double seconds) {
    return Duration{std::llround(seconds * static_cast<double>(Duration::period::den) /
                                 static_cast<double>(Duration::period::num))};
}

} // namespace sessionq::core

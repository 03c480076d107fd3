// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include <sessionq/time.hpp>

namespace sessionq::inline v1 {

/// Growing delays: `min` first, then doubled with each failure in a row, up to `max`. Half of each
/// delay is random, so that clients that failed together do not retry together.
///
/// An aggregate. The options that contain it reject a bad value with `invalid_option`.
struct BackoffOptions {
    /// The first delay. Range: over zero. Default 100 ms.
    Duration min{std::chrono::milliseconds{100}};

    /// The longest delay. Range: at least `min`. Default 30 s.
    Duration max{std::chrono::seconds{30}};
};

} // namespace sessionq::inline v1

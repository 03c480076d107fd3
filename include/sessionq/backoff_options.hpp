#pragma once

#include <chrono>

#include <sessionq/time.hpp>

namespace sessionq {

/// Delays that grow: `min`, then doubled for each failure in a row up to `max`. Half of each delay
/// is random, so that many who failed together do not come back together. An aggregate; a bad value
/// is refused as `invalid_option` by whatever options it is part of.
struct BackoffOptions {
    Duration min{std::chrono::milliseconds{100}}; ///< Range: over zero. Default 100 ms.
    Duration max{std::chrono::seconds{30}};       ///< Range: at least `min`. Default 30 s.
};

} // namespace sessionq

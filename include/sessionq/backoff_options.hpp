#pragma once

#include <chrono>

#include <sessionq/time.hpp>

namespace sessionq {

/// Delays that grow: `min`, then doubled for each failure in a row up to `max`; half of each is random, so that many do not knock at once.
struct BackoffOptions {
    Duration min{std::chrono::milliseconds{100}}; ///< Range: over zero.
    Duration max{std::chrono::seconds{30}};       ///< Range: at least `min`.
};

} // namespace sessionq

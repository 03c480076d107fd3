// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/time.hpp>

namespace sessionq::cli {

/// Returns the pause after a look that took `took`. Looks begin an interval apart. A slow look is
/// followed by a pause of the same length, so that a broker has time for its other clients.
[[nodiscard]] inline Duration pause_after(Duration took, Duration interval) {
    return took > interval / 2 ? took : interval - took;
}

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include <sessionq/time.hpp>

namespace sessionq::cli {

/// How long to wait after a look that took `took`. Looks begin an interval apart. One that takes
/// long is followed by as long a pause, so that looking is never all that a broker does.
[[nodiscard]] inline Duration pause_after(Duration took, Duration interval) {
    return took > interval / 2 ? took : interval - took;
}

} // namespace sessionq::cli

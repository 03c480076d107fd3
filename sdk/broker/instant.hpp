// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// The time of a call on both time lines. `now` decides; `wall` is written into messages. The
/// engine reads no clock. Threads may bring slightly different readings: an earlier reading does
/// not undo anything.
struct Instant {
    TimePoint now{};
    WallTime wall{};
};

} // namespace sessionq::broker

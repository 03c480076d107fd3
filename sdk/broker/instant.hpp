#pragma once

#include <sessionq/time.hpp>

namespace sessionq::broker {

/// The time of a call, on both time lines: `now` decides, `wall` is what messages are stamped with.
/// The engine reads no clock. Threads may bring slightly different readings; what an earlier
/// reading finds already done stays done.
struct Instant {
    TimePoint now{};
    WallTime wall{};
};

} // namespace sessionq::broker

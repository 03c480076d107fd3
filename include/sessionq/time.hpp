#pragma once

#include <chrono>

namespace sessionq {

/// The monotonic time line on which every deadline, lease and timer of sessionq lies. Steps of the
/// wall clock change nothing.
using TimePoint = std::chrono::steady_clock::time_point;

/// A length of monotonic time.
using Duration = std::chrono::steady_clock::duration;

/// Calendar time, for what brokers stamp on messages. Never used to decide when something happens
/// in this process.
using WallTime = std::chrono::system_clock::time_point;

} // namespace sessionq

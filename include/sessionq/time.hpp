// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace sessionq {

/// An instant on the monotonic clock. Every deadline, lock and timer of sessionq uses it, so steps
/// of the wall clock have no effect.
using TimePoint = std::chrono::steady_clock::time_point;

/// A length of monotonic time.
using Duration = std::chrono::steady_clock::duration;

/// Calendar time, for timestamps of messages. It never decides when something happens in this
/// process.
using WallTime = std::chrono::system_clock::time_point;

} // namespace sessionq

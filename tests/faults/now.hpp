// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/time.hpp>

#include "core/clock.hpp"

namespace sessionq::faults {

inline TimePoint now() { return core::system_clock().now(); }

} // namespace sessionq::faults

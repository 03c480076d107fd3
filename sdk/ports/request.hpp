// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq::ports {

/// Names a request under way. Never reused within its link or endpoint; zero names none.
using RequestId = std::uint64_t;

} // namespace sessionq::ports

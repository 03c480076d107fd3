// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace sessionq::ports {

/// Names a request that is under way, for `give_up` of its link or endpoint. The link or endpoint
/// never uses the id again. Zero names no request.
using RequestId = std::uint64_t;

} // namespace sessionq::ports

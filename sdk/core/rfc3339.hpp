// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <sessionq/time.hpp>

namespace sessionq::core {

/// An instant in UTC to the microsecond, as RFC 3339 writes it: "2026-03-01T09:00:00.000000Z".
[[nodiscard]] std::string rfc3339(WallTime time);

} // namespace sessionq::core

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "tools/sessionq/live/live_report.hpp"

namespace sessionq::cli {

/// All pages as text, one below the other, for a file or a terminal without a screen.
[[nodiscard]] std::string text_of(const LiveReport& report);

} // namespace sessionq::cli

// SPDX-License-Identifier: MIT
#pragma once

#include "tools/sessionq/json_text.hpp"
#include "tools/sessionq/live/entity_look.hpp"
#include "tools/sessionq/live/live_report.hpp"

namespace sessionq::cli {

[[nodiscard]] LiveReport report_of(const EntityLook& look);

/// Unknown values are null. Ages are seconds.
[[nodiscard]] Json json_of(const EntityLook& look);

} // namespace sessionq::cli

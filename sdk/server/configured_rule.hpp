// SPDX-License-Identifier: MIT
#pragma once

#include <sessionq/rule.hpp>

#include "server/json_node.hpp"

namespace sessionq::server {

/// Reads a subscription's rule in the format of Microsoft's Service Bus emulator: `Name` and
/// `Properties` with `FilterType`, the filter of that type, and optionally an `Action`. A rule
/// without `Properties` matches every message. Throws like `JsonNode`, also for a filter or action
/// that does not compile. Internal to this part.
[[nodiscard]] Rule read_configured_rule(const JsonNode& node);

} // namespace sessionq::server

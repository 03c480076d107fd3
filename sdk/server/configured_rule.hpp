#pragma once

#include <sessionq/rule.hpp>

#include "server/json_node.hpp"

namespace sessionq::server {

/// A subscription's rule as the configuration of Microsoft's Service Bus emulator writes it:
/// `Name`, and `Properties` with `FilterType`, the filter of that type and maybe an `Action`;
/// without `Properties` it takes every message. Throws as `JsonNode` does, also for a filter or an
/// action that cannot be compiled. For sources of this part.
[[nodiscard]] Rule read_configured_rule(const JsonNode& node);

} // namespace sessionq::server

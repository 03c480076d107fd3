// SPDX-License-Identifier: MIT
#pragma once

#include "server/managed_entity.hpp"

namespace sessionq::server::rule_operations {

// The `$management` operations on a subscription's rules. Each answers at once. `management.cpp`
// maps wire names to them.

[[nodiscard]] Answer enumerate_rules(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer add_rule(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer remove_rule(const ManagedEntity& entity, const Request& request);

} // namespace sessionq::server::rule_operations

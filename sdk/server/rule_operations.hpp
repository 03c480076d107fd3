#pragma once

#include "server/managed_entity.hpp"

namespace sessionq::server::rule_operations {

// What can be asked of a subscription about its rules. Each answers at once; wire names are in `management.cpp`.

[[nodiscard]] Answer enumerate_rules(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer add_rule(const ManagedEntity& entity, const Request& request);
[[nodiscard]] Answer remove_rule(const ManagedEntity& entity, const Request& request);

} // namespace sessionq::server::rule_operations

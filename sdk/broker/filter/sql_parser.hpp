// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "broker/filter/sql_token.hpp"
#include "broker/filter/sql_tree.hpp"
#include "core/result.hpp"

namespace sessionq::broker::filter {

/// Parses a condition. Fails with invalid_argument, naming the fault and its place, or the bound
/// that the condition exceeds (`limits.hpp`).
[[nodiscard]] core::Result<NodePtr> parse_condition(std::string_view text);

/// One statement of an action. Without an expression it removes the property.
struct Statement {
    PropertyName property{};
    NodePtr expression{};
};

/// Parses the statements of an action, at least one. Fails as `parse_condition` does.
[[nodiscard]] core::Result<std::vector<Statement>> parse_action(std::string_view text);

} // namespace sessionq::broker::filter

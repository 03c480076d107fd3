#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "broker/filter/sql_token.hpp"
#include "broker/filter/sql_tree.hpp"
#include "core/result.hpp"

namespace sessionq::broker::filter {

/// The longest condition or action, in bytes.
inline constexpr std::size_t longest_expression = 1024;

/// A condition. Fails with invalid_argument, saying what is wrong and where.
[[nodiscard]] core::Result<NodePtr> parse_condition(std::string_view text);

/// One statement of an action. Without an expression: removes the property.
struct Statement {
    PropertyName property{};
    NodePtr expression{};
};

/// The statements of an action, at least one. Fails in the same way.
[[nodiscard]] core::Result<std::vector<Statement>> parse_action(std::string_view text);

} // namespace sessionq::broker::filter

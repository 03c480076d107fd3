// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// The bounds on a rule and on the work that one rule can cause. The work on a message in all rules
/// of a topic is not bounded; it is done in turns (`broker/route.hpp`).
namespace sessionq::broker::filter {

/// The length of a condition or an action, in bytes; a documented limit of Azure Service Bus. It
/// also bounds nodes and the items of IN, because each takes a character.
inline constexpr std::size_t longest_expression = 1024;

/// The statements of an action; a documented limit of Azure Service Bus.
inline constexpr std::size_t most_statements = 32;

/// The nesting of parentheses, signs, functions and NOTs, which bounds the use of the stack.
inline constexpr int deepest_nesting = 100;

/// The length of a LIKE pattern, in bytes. Patterns in an expression are shorter anyway; one that a
/// message's property holds may be longer, and LIKE is unknown then.
inline constexpr std::size_t longest_pattern = longest_expression;

/// The length of a text that `+` joins, in bytes; a longer one is unknown. Azure Service Bus takes
/// properties up to this length. Without it, `SET a = a + a` doubles a property with each
/// statement.
inline constexpr std::size_t longest_joined_text = std::size_t{32} << 10U;

/// The application properties that a correlation filter compares, and the length of each of its
/// names and texts, in bytes. The filter is then no larger and no slower than a SQL filter with as
/// many comparisons.
inline constexpr std::size_t most_correlation_properties = 100;
inline constexpr std::size_t longest_correlation_text = longest_expression;

/// The rules of a subscription; a documented limit of Azure Service Bus.
inline constexpr std::size_t most_rules = 2000;

} // namespace sessionq::broker::filter

// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <optional>

#include <sessionq/message.hpp>

namespace sessionq::broker::filter {

/// The value of an expression. std::monostate is SQL's unknown.
using Value = PropertyValue;

[[nodiscard]] inline bool is_unknown(const Value& value) noexcept { return value.index() == 0; }

/// Compares two values: numbers by size whatever their types, texts and bytes bytewise, times in
/// order. Nothing if they cannot be compared. Unordered if they only are known to differ: truth
/// values, and numbers that are NaN.
[[nodiscard]] std::optional<std::partial_ordering> compare(const Value& left,
                                                           const Value& right) noexcept;

/// Calculates `+ - * / %`. Integers give integers, and `+` joins texts. Unknown if the operation
/// has no meaning, or if the result is out of range or longer than `longest_joined_text`.
[[nodiscard]] Value calculate(char operation, const Value& left, const Value& right);

} // namespace sessionq::broker::filter

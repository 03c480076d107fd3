// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <optional>
#include <string>

#include <sessionq/message.hpp>

namespace sessionq::broker::filter {

/// The value of an expression. std::monostate is SQL's unknown.
using Value = PropertyValue;

[[nodiscard]] inline bool is_unknown(const Value& value) noexcept { return value.index() == 0; }

/// The text of a value that conditions may treat as a text: a string, a character, a UUID or a URI.
/// SQL has no constants of the other types.
[[nodiscard]] std::optional<std::string> text_of(const Value& value);

/// The text that a value of any type has when one of the message's own properties is set to it.
/// Nothing if it is unknown, or has no text.
[[nodiscard]] std::optional<std::string> shown_text(const Value& value);

/// Compares two values: numbers of any types by size, texts (`text_of`) and bytes bytewise, UUIDs
/// also in another case, instants and lengths of time in order. A decimal and a double are compared
/// as doubles, because constants with a point are doubles. Nothing if they cannot be compared.
/// Unordered if they only are known to differ: truth values, and numbers that are NaN.
[[nodiscard]] std::optional<std::partial_ordering> compare(const Value& left, const Value& right);

/// Calculates `+ - * / %`. Integers give integers, decimals and integers give decimals if these can
/// hold the result, and `+` joins texts. Unknown if the operation has no meaning, or if the result
/// is out of range or longer than `longest_joined_text`.
[[nodiscard]] Value calculate(char operation, const Value& left, const Value& right);

} // namespace sessionq::broker::filter

#pragma once

#include <compare>
#include <optional>

#include <sessionq/message.hpp>

namespace sessionq::broker::filter {

/// What an expression comes to. No value (std::monostate): unknown, as SQL has it.
using Value = PropertyValue;

[[nodiscard]] inline bool is_unknown(const Value& value) noexcept { return value.index() == 0; }

/// How two values compare: numbers by their size whatever their types, text and bytes byte by byte,
/// times by their order. Nothing where they cannot be compared; unordered where they are only known
/// not to be equal: truth values, numbers that are none.
[[nodiscard]] std::optional<std::partial_ordering> compare(const Value& left,
                                                           const Value& right) noexcept;

/// `+ - * / %`: of whole numbers, whole; of texts, `+` joins. Unknown where it has no meaning or
/// leaves the range.
[[nodiscard]] Value calculate(char operation, const Value& left, const Value& right);

} // namespace sessionq::broker::filter

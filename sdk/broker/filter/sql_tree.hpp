// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "broker/filter/properties.hpp"
#include "broker/filter/value.hpp"
#include "broker/filter/work.hpp"

namespace sessionq::broker::filter {

enum class Operation : std::uint8_t {
    constant,
    property,
    property_by_name, ///< the application property named by the operand
    new_id,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    plus,
    minus,
    // These and all that follow are predicates: true, false or unknown.
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    is_in, ///< the first operand is among the others
    like,  ///< text, pattern and optional escape character
    is_null,
    exists,
    logical_and,
    logical_or,
    logical_not,
};

/// A node of an expression tree. Immutable once parsed.
struct Node {
    Operation operation{Operation::constant};
    Value value{};           ///< of a constant
    PropertyName property{}; ///< of a property, IS NULL and EXISTS
    std::vector<std::unique_ptr<const Node>> operands{};

    [[nodiscard]] bool is_predicate() const noexcept { return operation >= Operation::equal; }
};
using NodePtr = std::unique_ptr<const Node>;

/// The value of an expression for a message. Depends on the message only, except `new_id`, which
/// differs each time. Adds the steps that it takes to `work`.
[[nodiscard]] Value evaluate(const Node& node, const Message& message, Work& work);

} // namespace sessionq::broker::filter

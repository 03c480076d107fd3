#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "broker/filter/properties.hpp"
#include "broker/filter/value.hpp"

namespace sessionq::broker::filter {

enum class Operation : std::uint8_t {
    constant,
    property,
    property_by_name, ///< of the application properties, the one the operand names
    new_id,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    plus,
    minus,
    // From here on the answer is true, false or unknown.
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    is_in, ///< the first operand among the others
    like,  ///< text, pattern and maybe the escape character
    is_null,
    exists,
    logical_and,
    logical_or,
    logical_not,
};

/// An expression as a tree. Immutable once it is parsed.
struct Node {
    Operation operation{Operation::constant};
    Value value{};           ///< of a constant
    PropertyName property{}; ///< of a property, and of what is asked of one
    std::vector<std::unique_ptr<const Node>> operands{};

    [[nodiscard]] bool is_predicate() const noexcept { return operation >= Operation::equal; }
};
using NodePtr = std::unique_ptr<const Node>;

/// What an expression comes to for a message. Reads nothing but the message; `new_id` alone comes
/// to something else each time.
[[nodiscard]] Value evaluate(const Node& node, const Message& message);

} // namespace sessionq::broker::filter

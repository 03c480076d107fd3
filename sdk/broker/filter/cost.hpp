// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "broker/filter/sql_tree.hpp"

namespace sessionq::broker::filter {

/// The bytes of a text, or of any other value that has no fixed size; zero for others.
[[nodiscard]] std::size_t length_of(const PropertyValue& value) noexcept;

/// The sizes of a message that decide how long a filter takes.
struct Extent {
    std::size_t properties{0};
    std::size_t longest_text{0}; ///< or byte sequence, in bytes

    [[nodiscard]] static Extent of(const Message& message) noexcept;
};

/// An upper limit of the work of expressions, so that a turn need not begin work that it cannot
/// end.
class Cost {
public:
    /// Adds that of an expression.
    void add(const Node& node) noexcept;
    /// Adds that of `nodes` reads of a property.
    void add_nodes(std::size_t nodes) noexcept { nodes_ += nodes; }

    [[nodiscard]] std::uint64_t most_steps(const Extent& extent) const noexcept;

private:
    std::uint64_t nodes_{0};
    std::uint64_t like_steps_a_byte_{0}; // of the text
    std::uint64_t like_steps_{0};        // for any text
    bool joins_texts_{false};
};

} // namespace sessionq::broker::filter

// SPDX-License-Identifier: MIT
#include "broker/filter/cost.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <variant>

#include "broker/filter/like.hpp"
#include "broker/filter/limits.hpp"

namespace sessionq::broker::filter {

std::size_t length_of(const PropertyValue& value) noexcept {
    return std::visit(
        [](const auto& held) -> std::size_t {
            using Held = std::remove_cvref_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::string> ||
                          std::is_same_v<Held, std::vector<std::byte>>) {
                return held.size();
            } else if constexpr (std::is_same_v<Held, Uri>) {
                return held.text.size();
            } else if constexpr (std::is_same_v<Held, EncodedValue>) {
                return held.bytes.size();
            } else if constexpr (std::is_same_v<Held, Uuid>) {
                return 36; // as a text
            } else {
                return 0;
            }
        },
        value);
}

Extent Extent::of(const Message& message) noexcept {
    Extent extent{.properties = message.properties.size()};
    const std::string* const texts[] = {
        &message.message_id,  &message.subject, &message.correlation_id,
        &message.reply_to,    &message.to,      &message.reply_to_session_id,
        &message.content_type};
    for (const std::string* text : texts) {
        extent.longest_text = std::max(extent.longest_text, text->size());
    }
    for (const auto& [name, value] : message.properties) {
        extent.longest_text = std::max(extent.longest_text, length_of(value));
    }
    return extent;
}

void Cost::add(const Node& node) noexcept {
    ++nodes_;
    joins_texts_ = joins_texts_ || node.operation == Operation::add;
    if (node.operation == Operation::like) {
        const Node& pattern = *node.operands[1];
        const std::size_t length =
            pattern.operation == Operation::constant ? length_of(pattern.value) : longest_pattern;
        like_steps_ += most_like_steps(0, length);
        like_steps_a_byte_ += most_like_steps(1, length) - most_like_steps(0, length);
    }
    for (const NodePtr& operand : node.operands) {
        add(*operand);
    }
}

std::uint64_t Cost::most_steps(const Extent& extent) const noexcept {
    const std::size_t longest =
        joins_texts_ ? std::max(extent.longest_text, longest_joined_text) : extent.longest_text;
    Work node{0};
    node.add(Work::steps_a_node);
    node.add_lookup(extent.properties);
    node.add_text(2 * longest); // copied and compared
    return nodes_ * node.done() + like_steps_ + like_steps_a_byte_ * longest;
}

} // namespace sessionq::broker::filter
